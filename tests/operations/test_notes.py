"""Notes: what they are on, who finds them, and what becomes of them when they are changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cases import for_each
from database import connect, name_server, wipe
from fabula import Fabula
from fabula.cli import main
from fabula.errors import BadValue, NotFound
from fabula.export.annotation_formats import find_format
from fabula.graph.annotations import AnnotationLayer, make_layer
from fabula.library.annotating import keep_layer
from fabula.operations.annotations import list_annotation_layers, list_annotations
from fabula.operations.notes import add_note, edit_note, list_notes, remove_note
from fabula.server import Address
from fabula.store.annotations import edit_layer
from offline import offline_settings
from stories import HALES as STORY


@pytest.fixture
def fabula(address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fabula]:
    name_server(monkeypatch, address)
    home = tmp_path / "home"
    settings = offline_settings(address, home, graphs=("entities",), chunk_tokens=200)
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        fabula.ingest_text(STORY, source="hale.txt", title="The Hales", language="en")
        yield fabula


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_notes_are_kept_searched_and_removed(fabula: Fabula) -> None:
    note = add_note(fabula, "Hales", "the boats\n broke", "Whose boats?", tag="sea", by="Ann")
    assert (note.kind, note.quote, note.creator) == ("note", "the boats broke", "Ann")
    assert (note.start, note.found) == (STORY.index("the boats"), "position")
    assert note.start is not None
    mark = add_note(fabula, "Hales", at=f"{note.start}-{note.start + 9}")
    assert (mark.kind, mark.quote) == ("highlight", "the boats")
    assert list_notes(fabula, "Hales").rows == (mark, note)
    assert list_notes(fabula, words="WHOSE").rows == (note,)
    assert list_notes(fabula, words="trains").total == 0
    later = list_notes(fabula, first=1, limit=1)
    assert (later.total, later.rows) == (2, (note,))
    # Notes of what comes later are not shown to who has not read so far.
    assert list_notes(fabula.as_read("Hales", "CHAPTER I"), "Hales").total == 0
    assert remove_note(fabula, "Hales", note.id[:6]) == note
    remove_note(fabula, "Hales", mark.id)
    assert list_annotation_layers(fabula, "Hales").total == 0


def test_a_note_is_edited_and_keeps_its_words_its_id_and_its_maker(fabula: Fabula) -> None:
    note = add_note(fabula, "Hales", "the boats broke", "Whose boats?", tag="sea", by="Ann")
    assert run("notes", "edit", "Hales", note.id[:6], "--body", "").exit_code == 0
    [mark] = list_notes(fabula, "Hales").rows
    assert (mark.kind, mark.body, mark.label) == ("highlight", "", "sea")
    edited = edit_note(fabula, "Hales", note.id, " Mine. ", "")
    assert (edited.kind, edited.body, edited.label) == ("note", "Mine.", "")
    kept = (edited.id, edited.quote, edited.creator, edited.created)
    assert kept == (note.id, note.quote, "Ann", note.created)
    assert edited in list_notes(fabula, "Hales").rows
    with pytest.raises(NotFound, match="no note has the id"):
        edit_note(fabula, "Hales", f"{note.id}0", "Mine.")
    with pytest.raises(BadValue, match="at most 20000 characters"):
        edit_note(fabula, "Hales", note.id, "x" * 20_001)
    nothing = run("notes", "edit", "Hales", note.id)
    assert (nothing.exit_code, "Give the new text" in nothing.output) == (1, True)
    assert remove_note(fabula, "Hales", note.id) == edited


def test_a_note_is_shown_and_changed_where_its_words_have_moved_to(fabula: Fabula) -> None:
    note = add_note(fabula, "Hales", "the boats broke", "Whose?")
    gone = add_note(fabula, "Hales", "Nobody slept", "Who?")
    edited = "A preface.\n\n" + STORY.replace("Nobody slept, and", "They woke:")
    fabula.ingest_text(edited, source="hale.txt", title="The Hales", language="en")
    changed = edit_note(fabula, "Hales", note.id, tag="sea")
    assert (changed.start, changed.found) == (edited.index("the boats"), "quote")
    lost = edit_note(fabula, "Hales", gone.id, tag="sleep")
    assert (lost.start, lost.end, lost.found, lost.label) == (None, None, "orphaned", "sleep")
    shown = run("notes", "list")
    assert (shown.exit_code, "orphaned" in shown.stdout) == (0, True)
    assert [row.id for row in list_annotations(fabula, "Hales", orphaned=True).rows] == [gone.id]
    # A new note gives those that stand in the text their present place.
    add_note(fabula, "Hales", "The storm came")
    [found] = [row.found for row in list_notes(fabula, "Hales").rows if row.id == note.id]
    assert found == "position"


def test_a_reader_with_a_place_is_told_nothing_of_later_text(fabula: Fabula) -> None:
    """A note on the first chapter may name who comes in the second one, and so may a label."""
    early = add_note(fabula, "Hales", "The mill is shut", "Elias Stone shut it.")
    add_note(fabula, "Hales", "I am late", "He is.", tag="time")
    person = {
        "type": "Annotation",
        "body": {"type": "TextualBody", "purpose": "tagging", "value": "Elias Stone"},
        "target": {"selector": {"type": "TextQuoteSelector", "exact": "The mill"}},
    }
    format, file = find_format("webannotation"), {"who.jsonld": json.dumps(person).encode()}
    entry = fabula.document("Hales")
    keep_layer(fabula.open_store(), entry, "who", file, source="who.jsonld", format=format)
    read = fabula.as_read("Hales", "CHAPTER I")
    shown = list_annotations(read, "Hales")
    assert [(row.label, row.body) for row in shown.rows] == [("time", "He is.")]
    counts = {row.layer: row.annotations for row in list_annotation_layers(read).rows}
    assert counts == {"notes": 1, "who": 0}
    [of_collection] = list_notes(fabula.as_read("", "CHAPTER I")).rows
    assert of_collection.body == "He is."
    assert list_notes(fabula).total == 2
    fabula.ingest_text("Another text.", source="b.txt", title="B", language="en")
    with pytest.raises(NotFound, match="name the document"):
        fabula.as_read("", "CHAPTER I")
    assert "name the document" in run("annotations", "list", "--until", "CHAPTER I").output
    assert remove_note(fabula, "Hales", early.id).id == early.id


def test_of_equal_notes_the_one_of_the_id_is_removed(fabula: Fabula) -> None:
    """Who removes a note twice does not remove another, which has its id with a number."""
    first = add_note(fabula, "Hales", "boats", "Whose?", by="Ann")
    entry = fabula.document("Hales")

    def double(kept: AnnotationLayer | None) -> AnnotationLayer:
        assert kept is not None
        return make_layer(kept.record, [*kept.annotations, *kept.annotations])

    edit_layer(fabula.open_store(), fabula.name, entry.id, "notes", double)
    with pytest.raises(NotFound, match="several notes have the id"):
        remove_note(fabula, "Hales", first.id[:6])
    assert remove_note(fabula, "Hales", first.id).id == first.id
    with pytest.raises(NotFound, match="no note has the id"):
        remove_note(fabula, "Hales", first.id)
    assert remove_note(fabula, "Hales", first.id[:6]).id == f"{first.id}-2"
    again = [add_note(fabula, "Hales", "boats", "Whose?", by="Ann").id for _ in range(3)]
    assert len({*again}) == 3


@for_each(
    ("words", "at", "error"),
    [
        ("Captain Reed", "", r"has these words 3 times.*\d+-\d+"),
        ("the boat broke", "", "the nearest are 'the boats broke'"),
        ("no such words as these ones", "", "does not have the words"),
        ("", "9000-9100", "has no characters 9000-9100"),
        ("The mill", "0-7", "are 'CHAPTER', not 'The mill'"),
    ],
)
def test_a_note_says_what_it_is_on(fabula: Fabula, words: str, at: str, error: str) -> None:
    with pytest.raises(NotFound, match=error):
        add_note(fabula, "Hales", words, "Why?", at=at)
    with pytest.raises(BadValue, match="Say what the note is on"):
        add_note(fabula, "Hales", "", "Why?")


def test_the_commands_of_notes(fabula: Fabula, tmp_path: Path) -> None:
    added = run("notes", "add", "Hales", "boats broke", "--body", "Whose *boats*?", "--build")
    assert added.exit_code == 0, added.output
    assert "Whose *boats*?" in added.stdout
    assert fabula.stale(fabula.document("Hales")) == {}
    assert "annotations" in fabula.document("Hales").graphs
    assert "Whose" in run("notes", "list").stdout
    assert "Whose" in run("notes", "list", "--words", "whose").stdout
    assert "the boats broke" in run("read", "1").stdout
    out = tmp_path / "notes.md"
    assert run("notes", "export", "--out", str(out)).exit_code == 0
    written = out.read_text("utf-8")
    assert written.startswith("# Notes on *The Hales*\n\n## CHAPTER II\n\n> boats broke\n\n")
    assert r"Whose \*boats\*?" in written
    [note] = json.loads(run("notes", "list", "--json").stdout)["rows"]
    removed = run("notes", "remove", "Hales", note["id"][:8])
    assert (removed.exit_code, "Done." in removed.stderr) == (0, True)
    assert "Nothing was found" in run("notes", "list").output
