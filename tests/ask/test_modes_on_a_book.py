"""Every mode on a real book, the shipped one, without a model: questions with known answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import fabula
from database import connect, wipe
from fabula import Fabula
from fabula.ask.context import fill_with_passages
from fabula.ask.mode_runs import prepare_modes
from fabula.ask.modes import modes
from fabula.ask.query import Query
from fabula.ask.retrieve import retrieve
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.trace import Trace as Steps
from fabula.models.counted import Meter
from fabula.server import Address

BOOK = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"
BUDGET = 2500
DEPTH = 60
"""Hits asked for: more than the budget holds."""
KNOWN = {
    "Who are the children Ignorance and Want?": ("This boy is Ignorance",),
    "How much does Bob Cratchit earn a week?": ("but fifteen", "fifteen shillings"),
    "Who was Scrooge's dead partner?": (
        "Marley was dead",
        "were partners for",
        "Marley has been dead",
    ),
}
"""What the book says to it, word for word."""
GRAPHS = ("aspects", "entities", "episodes")
MISSED = {
    ("episodes", "How much does Bob Cratchit earn a week?"),
    ("episodes", "Who are the children Ignorance and Want?"),
    ("episodes", "Who was Scrooge's dead partner?"),
    ("top-down", "Who are the children Ignorance and Want?"),
}
"""What was condensed away, in details and extracts, and a branch that top-down leaves."""


@pytest.fixture(scope="module")
def shelf(address: Address) -> Iterator[Settings]:
    """How a graph with the book alone is reached."""
    settings = Settings.read(
        model=OFFLINE,
        embedding_model=STATIC,
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        top_k=DEPTH,
        cache=False,
    )
    with connect(address) as store:
        wipe(store)
        with Fabula(settings) as fabula:
            [outcome] = fabula.ingest(BOOK, graphs=GRAPHS)
        assert outcome.error is None
        yield settings


@pytest.mark.journey
@pytest.mark.parametrize(
    "mode", [name for name, mode in modes().items() if mode.graph in ("", *GRAPHS)]
)
def test_a_mode_finds_what_the_book_says(mode: str, shelf: Settings) -> None:
    with Fabula(shelf.model_copy(update={"mode": mode})) as fabula:
        found = {
            question: " ".join(
                " ".join(passage.text.split())
                for passage in fill_with_passages(fabula.retrieve(question), BUDGET)
            )
            for question in KNOWN
        }
    missed = {
        (mode, question)
        for question, said in KNOWN.items()
        if not any(one in found[question] for one in said)
    }
    assert missed == {one for one in MISSED if one[0] == mode}


def test_a_mode_may_find_a_passage_twice(shelf: Settings) -> None:
    """A mode of another package may return a hit twice, as two of its ways lead to it."""
    question, path = "Who was Scrooge's dead partner?", Steps()
    with Fabula(shelf) as fabula:
        query = Query.of(question, shelf, mode="naive", k=DEPTH)
        filters = Filters(fabula.name, kinds=("detail", "chunk"))
        [way] = prepare_modes(query, filters, fabula.open_store(), fabula.models, Meter(), path)

        def find(question: str, filters: Filters, tools: Tools) -> list[Hit]:
            return [hit for hit in way.mode.retrieve(question, filters, tools) for _ in range(2)]

        twice = replace(way, mode=Mode(find, "the nearest passages, each of them twice"))
        found = retrieve(replace(query, k=5), filters, [twice])
    details = [hit.id for hit in (*found.hits, *found.further) if hit.kind == "detail"]
    assert len(details) > len(set(details)), "the mode found details, and each of them twice"
    assert found.chunks.keys() == set(details)
