"""A book grows chapter by chapter: what was there stays, and only what is new is made."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from commands import run
from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.load import load
from fabula.load.source import DocumentSource
from fabula.operations.notes import add_note, list_notes
from fabula.store import Store
from fabula.text.document import Document


def write_chapter(folder: Path, number: int) -> Path:
    path = folder / f"chapter-{number}.txt"
    lines = (
        f"On day {number}{day:02} Anna and Boris saw a ship in the ice off Harwich."
        for day in range(30)
    )
    path.write_text(f"CHAPTER {number}\n\n{' '.join(lines)}\n")
    return path


def read_ids(store: Store, label: str) -> set[str]:
    return {row["id"] for row in cypher(store, f"MATCH (n:{label}) RETURN n.id AS id")}


def read_texts(store: Store) -> set[str]:
    return {row["text"].strip() for row in cypher(store, "MATCH (n:Chunk) RETURN n.text AS text")}


@pytest.mark.journey
def test_a_book_that_grew_is_the_book_that_came_at_once(
    online: None, endpoint: Endpoint, store: Store, tmp_path: Path
) -> None:
    first, *others = [write_chapter(tmp_path, number) for number in range(1, 5)]
    with Fabula(chunk_tokens=60) as fabula:
        fabula.ingest(first, graphs=["aspects", "entities"])
        chunks = read_texts(store)
        note = add_note(fabula, "chapter-1", at="20-40", body="A ship.")
        since = len(endpoint.bodies)
        outcomes = fabula.append("chapter-1", *others)
        assert [each.status for each in outcomes] == ["replaced"] * 3
        embedded = {text for body in endpoint.bodies[since:] for text in body.get("input", ())}
        assert chunks < read_texts(store)
        assert embedded
        assert not embedded & chunks
        assert list_notes(fabula).rows == (note,)
        # The first file alone, and a chapter once more, are of what is there already.
        calls = len(endpoint.bodies)
        assert [each.status for each in fabula.ingest(first)] == ["unchanged"]
        assert [each.status for each in fabula.append("chapter-1", others[0])] == ["unchanged"]
        assert len(endpoint.bodies) == calls
        assert fabula.check().violations == ()
        grown = {label: read_ids(store, label) for label in ("Chunk", "Entity")}
        text = "\n\n".join(path.read_text().strip() for path in (first, *others))
        first.write_text(text)
        fabula.ingest(first)
        assert {label: read_ids(store, label) for label in ("Chunk", "Entity")} == grown


def test_a_text_that_was_read_while_another_came_in_comes_after_it(
    online: None, store: Store, tmp_path: Path
) -> None:
    first, second, third = [write_chapter(tmp_path, number) for number in range(1, 4)]
    third = third.rename(third.with_suffix(".md"))
    read = partial(load, third, "default", 10**6)
    third.write_text(f"---\nmood: cold\n---\n{third.read_text()}")
    with Fabula() as fabula:
        fabula.ingest(first, graphs=[])

        def read_late() -> Document:
            fabula.append("chapter-1", second)
            return read()

        [late] = fabula.append_sources("chapter-1", [DocumentSource("third", read_late)])
        assert late.error is None
        [entry] = fabula.documents()
        assert entry.appended == (str(second), str(third))
        assert entry.metadata == {"mood": "cold"}


def test_the_command_stops_at_a_chapter_that_cannot_be_read(
    online: None, store: Store, tmp_path: Path
) -> None:
    first, second, third = [write_chapter(tmp_path, number) for number in range(1, 4)]
    run("ingest", first)
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    output = run("append", "chapter-1", second, empty, third, code=1)
    assert "chapter-3.txt was not appended" in output.output
    [row] = cypher(store, "MATCH (d:Document) RETURN d.appended AS appended")
    assert row["appended"] == [str(second)]


def test_a_first_file_that_has_changed_is_refused_and_one_that_has_grown_is_not(
    online: None, store: Store, tmp_path: Path
) -> None:
    first, second = [write_chapter(tmp_path, number) for number in range(1, 3)]
    with Fabula() as fabula:
        fabula.ingest(first, graphs=[])
        fabula.append("chapter-1", second)
        text = first.read_text()
        first.write_text(f"Once more.\n\n{text}")
        [refused] = fabula.ingest(first, graphs=[])
        assert refused.status == "failed"
        assert "has changed, and its document was continued" in str(refused.error)
        first.write_text(f"{text}\n{second.read_text()}\nThe end.")
        [grown] = fabula.ingest(first, graphs=[])
        assert grown.status == "replaced"
        [entry] = fabula.documents()
        assert entry.appended == ()
