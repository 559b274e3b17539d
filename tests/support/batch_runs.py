"""Ingests by batches: what a graph holds, and runs that are repeated until nothing waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from database import wipe
from fabula import Fabula
from fabula.build.outcome import Outcome
from fabula.graph import Owner
from fabula.graph.installed import graphs
from fabula.models.batch_options import BatchOptions
from fabula.store import Store
from fabula.store.part_reader import read_part

AT_ONCE = BatchOptions(wait=True, poll_seconds=0.01)
"""Waits for its batches, and looks at them all the time."""
GRAPHS = ("aspects", "entities", "communities")


def graph_of(store: Store, collection: str = "default") -> list[tuple[Any, ...]]:
    """All nodes and edges of a collection's documents, without what was asked of models."""
    found: list[tuple[Any, ...]] = []
    for entry in store.documents(collection):
        for name in ("text", *graphs()):
            if name != "text" and name not in entry.graphs:
                continue
            part = read_part(store, Owner(collection, name, entry.id), embeddings=True)
            for node in part.nodes:
                properties = {k: v for k, v in node.properties.items() if "_at" not in k}
                row = b"" if node.embedding is None else node.embedding.round(4).tobytes()
                found.append((name, node.id, node.label, repr(sorted(properties.items())), row))
            found += [
                (name, edge.type, edge.start, edge.end, repr(sorted(edge.properties.items())))
                for edge in part.edges
            ]
    return sorted(found, key=repr)


def ingest(*paths: Path, batch: BatchOptions | None = None, **settings: Any) -> list[Outcome]:
    """Ingest in a process of its own kind: nothing is known of earlier ones but the files."""
    with Fabula(**settings) as fabula:
        return fabula.ingest(*paths, batch=batch)


def repeat(run: Callable[[], Sequence[Outcome]], most: int = 60) -> tuple[Sequence[Outcome], int]:
    """Run until nothing waits; how often that was."""
    for number in range(1, most + 1):
        outcomes = run()
        if all(outcome.status != "waiting" for outcome in outcomes):
            return outcomes, number
    raise AssertionError("the run waits for ever")


def live_graph(store: Store, folder: Path, *paths: Path, **settings: Any) -> list[tuple[Any, ...]]:
    """The graph of a run that calls the endpoint directly; the store is empty again afterwards."""
    ingest(*paths, cache_folder=folder / "live", **settings)
    graph = graph_of(store)
    wipe(store)
    return graph
