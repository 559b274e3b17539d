"""The tutorials of docs/ do what they say: every command and script is run, offline.

What they print is compared with the pages. They share one graph, since each goes on from the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from database import connect, wipe
from fabula.server import Address
from tutorials import Reader, make_environment, matches, read_blocks

pytestmark = [pytest.mark.long, pytest.mark.slow]

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = ("first-book", "scholar", "analyst", "engineer", "cluster")
NOT_RUN = {
    "first-book": ["installs from a package index"],
    "analyst": ["opens the reader's own browser", "is a command of Neo4j Browser"],
    "engineer": ["installs from a package index", "is what a program of the assistant's reads"],
    "cluster": ["installs from a package index"],
}
"""What no test runs, and why."""


@pytest.fixture(scope="module")
def reader(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with connect(address) as store:
        wipe(store)
    folder = tmp_path_factory.mktemp("reader")
    neo4j = {
        "NEO4J_URI": address.uri,
        "NEO4J_USERNAME": address.username,
        "NEO4J_PASSWORD": address.password,
    }
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        reader = Reader(folder, make_environment(folder, neo4j), driver, "demo")
        yield reader
        reader.stop()


@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_does_what_it_says(page: str, reader: Reader) -> None:
    reader.follow(TUTORIALS / f"{page}.md")


def test_every_tutorial_is_run_except_for_stated_blocks() -> None:
    assert {path.stem for path in TUTORIALS.glob("*.md")} == {"index", *PAGES}
    for page in PAGES:
        blocks = read_blocks(TUTORIALS / f"{page}.md")
        notes = [
            block.note.removeprefix("not run: ") for block in blocks if "not run" in block.note
        ]
        assert notes == NOT_RUN.get(page, []), page
        # A fence that the pattern of blocks does not find would not be run.
        assert 2 * len(blocks) == (TUTORIALS / f"{page}.md").read_text("utf-8").count("\n```")


def test_an_output_is_compared_but_for_its_dots() -> None:
    assert matches("added ... 3 chunks; ... s\n...", "added   The  Book: 3 chunks; 1.5 s\nmore\n")
    assert not matches("added ... 4 chunks; ... s", "added The Book: 3 chunks; 1.5 s")
    assert not matches("one", "one\ntwo")
