"""What people name as sources: zips, standard input, and what lies beside books."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest

from commands import run
from fabula import Fabula
from fabula.errors import LoadError
from fabula.load.sources import find_sources
from fabula.text.document import Document

STORY = "Title: The Lamp\n\nThe keeper lit the lamp at six. He told nobody why."


class Piped(io.TextIOWrapper):
    """Standard input, as a program is given it by a pipe."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes, name: str = "") -> Document:
    monkeypatch.setattr(sys, "stdin", Piped(data))
    [source] = find_sources(["-"], "default", 1, name=name).read
    return source.read()


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """A folder with a story, a zip of two, and things that are no books."""
    folder = tmp_path / "books"
    (folder / "more").mkdir(parents=True)
    (folder / "lamp.txt").write_text(STORY)
    (folder / "old.mobi").write_bytes(b"")
    (folder / "more" / "cover.jpg").write_bytes(b"")
    (folder / ".hidden.jpg").write_bytes(b"")
    with zipfile.ZipFile(folder / "two.zip", "w") as archive:
        archive.writestr("a.md", "# The Sea\n\nIt was calm that night.")
        archive.writestr("b/storm.html", "<h1>The Storm</h1><p>It broke the lens.")
        archive.writestr("b/cover.jpg", "")
    return folder


@pytest.mark.journey
def test_standard_input_is_a_document_of_whatever_format_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    story = piped(monkeypatch, STORY.encode())
    assert (story.title, story.source) == ("The Lamp", "standard input")
    assert piped(monkeypatch, b"<p>A word.").text == "A word."
    assert piped(monkeypatch, b"A word.").title == "Standard Input"


def test_standard_input_may_be_given_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    named = piped(monkeypatch, b"One *word*.", "tales/first-tale.md")
    assert (named.source, named.title, named.text) == (
        "tales/first-tale.md",
        "First Tale",
        "One word.",
    )


def test_standard_input_has_the_limit_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LoadError, match=r"^standard input has 1\.0 MB.*FABULA_MAX_FILE_MB"):
        piped(monkeypatch, b"a " * 500_001)
    with pytest.raises(LoadError, match="standard input has no words"):
        piped(monkeypatch, b"")


def test_files_that_no_reader_knows_are_named_apart(books: Path) -> None:
    found = find_sources([books, books / "lamp.txt"], "default", 1)
    assert [document.name for document in found.read] == [
        f"{books}/lamp.txt",
        f"{books}/two.zip/a.md",
        f"{books}/two.zip/b/storm.html",
    ]
    assert list(found.skipped) == [
        f"{books}/old.mobi",
        f"{books}/more/cover.jpg",
        f"{books}/two.zip/b/cover.jpg",
    ]


def test_a_kindle_book_is_told_what_to_do_with_it(books: Path) -> None:
    [source] = find_sources([books / "old.mobi"], "default", 1).read
    with pytest.raises(LoadError, match=r"old\.mobi is a Kindle book.*save it as EPUB"):
        source.read()


def test_ingest_names_and_counts_what_it_does_not_read(graph_url: str, books: Path) -> None:
    made = run("ingest", books).stdout
    assert "3 added, 3 skipped; no model calls." in made
    [line] = [line for line in made.splitlines() if line.startswith("skipped")]
    assert line.startswith(
        "skipped    3 files of kinds that Fabula doesn't read (2 .jpg, 1 .mobi): "
    )
    assert f"{books}/two.zip/b/cover.jpg" in line
    expected = run("ingest", books, "--dry-run").stdout
    assert "skipped    3 files" in expected
    with Fabula() as fabula:
        outcomes = fabula.ingest(books)
        statuses = [outcome.status for outcome in outcomes]
        assert statuses == ["unchanged"] * 3 + ["skipped"] * 3
        assert fabula.document("storm.html").source == f"{books.resolve()}/two.zip/b/storm.html"


def test_a_folder_is_one_book_and_what_left_it_is_named(graph_url: str, tmp_path: Path) -> None:
    for name in ("1 Lamp.md", "2 Sea.md", "3 Storm.md"):
        (tmp_path / name).write_text(f"{STORY} This is {name}.")
    (tmp_path / "LICENSE").with_suffix(".md").write_text("Free to use.")
    output = run("ingest", tmp_path, "--as-one", "-c", "one")
    assert "1 added, 1 skipped" in output.stdout
    assert "LICENSE.md is about the files beside it, and no book" in output.stdout
    several = run("ingest", tmp_path)
    assert "3 added" in several.stdout and "--as-one` makes one document" in several.stderr
    (tmp_path / "2 Sea.md").unlink()
    lines = run("ingest", tmp_path).stdout.splitlines()
    [gone] = [line for line in lines if "2 Sea.md" in line]
    assert "has gone, and its document is still here: `fabula remove " in gone


def test_many_files_are_counted_and_the_first_named(graph_url: str, tmp_path: Path) -> None:
    (tmp_path / "lamp.txt").write_text(STORY)
    for number in range(30):
        (tmp_path / f"{number:02}.jpg").write_bytes(b"")
    [line] = [line for line in run("ingest", tmp_path).stdout.splitlines() if "skipped  " in line]
    assert line.endswith("/08.jpg, " + f"{tmp_path}/09.jpg and 20 more")


def test_a_second_text_from_standard_input_takes_the_place_of_the_first(graph_url: str) -> None:
    assert "1 added" in run("ingest", "-", answer=STORY.encode()).stdout
    assert "1 unchanged" in run("ingest", "-", answer=STORY.encode()).stdout
    edited = STORY.replace("six", "seven").encode()
    assert "1 replaced" in run("ingest", "-", answer=edited).stdout
    assert "1 added" in run("ingest", "-", "--name", "lamp.txt", answer=STORY.encode()).stdout
    assert run("remove", "standard input", "lamp.txt", "--yes").stdout.count("removed") == 2


def test_addresses_are_fetched_unless_that_is_turned_off(graph_url: str) -> None:
    output = run("ingest", "https://localhost:9/tale.txt", "--no-fetch", code=1).stdout
    assert "https://localhost:9/tale.txt is not fetched: addresses are turned off" in output
    assert "can't be fetched" in run("ingest", "https://localhost:9/tale.txt", code=1).stdout
