"""What tests of workers share: books, waiting, and the whole graph of a collection."""

from __future__ import annotations

import time
from collections.abc import Callable

from distributed import Client

from fabula import Fabula
from fabula.build.outcome import Outcome
from fabula.graph import Owner, Part
from fabula.store.part_reader import read_part

PATIENCE = 240.0
"""Seconds for what takes a few: a machine may have other work to do."""


def book(place: str, chapters: int = 2) -> str:
    return "\n\n".join(
        f"CHAPTER {number}\n\n"
        + " ".join(
            f"{name} of {place} walked to the {goal} on day {day} of chapter {number}, and told "
            "nobody why."
            for day, (name, goal) in enumerate(
                (("Anna", "harbour"), ("Boris", "mill"), ("Clara", "church")) * 3
            )
        )
        for number in range(1, chapters + 1)
    )


def until(happened: Callable[[], bool], otherwise: str) -> None:
    late = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < late, otherwise
        time.sleep(0.02)


def busy_worker(client: Client) -> str:
    """The address of a worker that makes graphs, as soon as there is one."""
    found: list[str] = []

    def is_found() -> bool:
        found.extend(
            address
            for address, keys in client.processing().items()
            if any("fabula-make" in str(key) for key in keys)
        )
        return bool(found)

    until(is_found, "no worker makes anything")
    return found[0]


def contents(part: Part) -> tuple[object, ...]:
    """All of a part but what it cost and when it was made."""
    record = part.record
    vectors = [None if node.embedding is None else node.embedding.tobytes() for node in part.nodes]
    return (part.owner, part.nodes, part.edges, vectors, record.made_from, record.facts)


def graph_of(fabula: Fabula) -> dict[Owner, tuple[object, ...]]:
    """All parts of all documents, by their owners."""
    owners = [
        Owner(fabula.name, name, entry.id) for entry in fabula.documents() for name in entry.graphs
    ]
    return {
        owner: contents(read_part(fabula.open_store(), owner, embeddings=True)) for owner in owners
    }


def statuses(outcomes: list[Outcome]) -> list[str]:
    return [outcome.status for outcome in outcomes]
