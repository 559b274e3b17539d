"""Which collection is looked at where none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import for_each
from commands import run
from stories import harbour_story

pytestmark = pytest.mark.usefixtures("graph_url")

LOOKING = (
    ("list",),
    ("show", "Demo"),
    ("query", "Who slept?"),
    ("check",),
    ("cypher", "outline"),
    ("plot", "Demo", "--out", "page.html"),
    ("export", "--out", "all.jsonl"),
    ("read", "Demo"),
    ("cite",),
    ("chat",),
)


def ingest(folder: Path, collection: str) -> None:
    book = folder / f"{collection}.txt"
    book.write_text(f"Title: {collection.title()}\n\n{harbour_story('slept', chapters=1)}")
    run("ingest", book, "--collection", collection)


@pytest.fixture
def demo(graph_url: str, tmp_path: Path) -> None:
    ingest(tmp_path, "demo")


@for_each("words", LOOKING)
def test_the_only_collection_is_meant(demo: None, words: tuple[str, ...]) -> None:
    output = run(*words).stderr
    assert "Using collection demo: default is empty, and no collection was named.\n" in output


def test_of_several_the_last_written_is_meant(tmp_path: Path) -> None:
    for collection in ("second", "first"):
        ingest(tmp_path, collection)
    assert "Using collection first:" in run("query", "Who slept?").stderr
    (tmp_path / "second.txt").write_text(f"Title: Second\n\n{harbour_story('woke', chapters=1)}")
    run("ingest", tmp_path / "second.txt", "--collection", "second")
    shown = run("list")
    assert "Using collection second:" in shown.stderr
    assert "Second" in shown.stdout


def test_a_collection_that_is_named_or_holds_documents_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(tmp_path, "demo")
    assert "There are no documents here" in run("list", "--collection", "other").stdout
    monkeypatch.setenv("FABULA_COLLECTION", "default")
    assert "There are no documents here" in run("list").stdout
    monkeypatch.delenv("FABULA_COLLECTION")
    ingest(tmp_path, "default")
    shown = run("list")
    assert "Default" in shown.stdout
    assert "Using collection" not in shown.stderr


def test_all_of_a_collection_goes_only_where_it_is_named(tmp_path: Path) -> None:
    ingest(tmp_path, "demo")
    assert "collection 'default': 0 documents" in run("remove-collection", "--yes").stdout
    assert "There is no graph 'aspects' here" in run("drop", "aspects", "--yes", code=1).stderr
    assert "Nothing has been ingested" in run("build", "aspects", code=1).stderr
    for words in (("drop", "aspects", "Demo", "--yes"), ("build", "aspects", "Demo")):
        assert "Demo" in run(*words).stdout
    assert "removed    Demo" in run("remove", "Demo", "--yes").stdout


@for_each("words", [("list",), ("check",), ("export", "--out", "all.jsonl")])
def test_of_all_collections_none_is_meant(demo: None, words: tuple[str, ...]) -> None:
    assert "Using collection" not in run(*words, "--all").stderr


def test_where_nothing_is_there_nothing_is_meant() -> None:
    shown = run("list")
    assert shown.stdout == "There are no documents here: `fabula ingest BOOK` adds some.\n"
    assert shown.stderr == ""
