"""A vault for Obsidian: its notes, their links, and names that every system takes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fabula.errors import NotFound
from fabula.export.annotated_text import AnnotatedText, PlacedLayer
from fabula.graph.annotations import Annotation, LayerRecord, PlacedAnnotation
from fabula.graph.findings import Findings, FoundEntity, FoundQuotation
from fabula.graph.structure import structure_of
from fabula.text.anchoring import Anchor, quote_at
from fabula.text.document import Document, Section
from fabula_scholar.exchange.obsidian import vault_folder, vault_notes, write_vault

TEXT = (
    "ONE\n\nAnna met Con at Rome. “Go,” said Anna.\n\nTWO\n\nCon left Rome. anna wept. ANNA: fled."
)


def places(words: str) -> tuple[int, ...]:
    return tuple(match.start() for match in re.finditer(words, TEXT))


def text() -> AnnotatedText:
    sections = (Section("ONE: a/b?", 0, 1), Section("TWO", TEXT.index("TWO"), 1))
    document = Document("d", "c", "/home/me/x.txt", "My: Book?", "Me", "en", TEXT, sections, "")
    quotation = TEXT.index("“Go,”")
    return AnnotatedText(
        document,
        Findings(
            entities=(
                FoundEntity("a", "Anna", "person", {"Anna": places("Anna")}),
                FoundEntity("b", "anna", "person", {"anna": (TEXT.index("anna"),) * 2}),
                FoundEntity("c", "Con", "person", {"Con": places("Con")}),
                FoundEntity("r", "Rome", "place", {"Rome": places("Rome")}),
            ),
            quotations=(FoundQuotation(quotation, quotation + 5, "a"),),
        ),
    )


def test_each_character_place_and_chapter_has_a_note_and_every_link_leads_to_one() -> None:
    notes = vault_notes(text(), structure_of(text().document))
    assert list(notes) == [
        "My Book/My Book.md",
        "My Book/Characters/Anna.md",
        "My Book/Characters/anna 2.md",
        "My Book/Characters/Con_.md",  # Windows has a device of this name
        "My Book/Places/Rome.md",
        "My Book/Chapters/001 ONE a b.md",
        "My Book/Chapters/002 TWO.md",
    ]
    for content in notes.values():
        for path in re.findall(r"\[\[([^|\]]+)\|", content):
            assert f"{path}.md" in notes
    anna = notes["My Book/Characters/Anna.md"]
    assert anna.startswith("---\nmentions: 2\n---\n\n# Anna\n")
    assert "> “Go,”\n>\n> — [[My Book/Chapters/001 ONE a b|" in anna
    assert "[[My Book/Places/Rome|Rome]] (1)" in notes["My Book/Chapters/002 TWO.md"]
    assert notes["My Book/My Book.md"].startswith(
        '---\ntitle: "My: Book?"\nauthor: "Me"\nsource: "x.txt"\n'
    )


def test_a_vault_is_written_beside_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("mine", "utf-8")
    notes = vault_notes(text(), structure_of(text().document))
    assert write_vault(notes, tmp_path) == write_vault(notes, tmp_path) == len(notes)
    assert (tmp_path / "My Book" / "Places" / "Rome.md").read_text("utf-8").startswith("---")
    assert (tmp_path / "own.md").read_text("utf-8") == "mine"


def test_two_books_of_one_title_have_a_folder_each(tmp_path: Path) -> None:
    one = text()
    other = replace(one, document=replace(one.document, id="e", source="y.txt", title="my: book?"))

    def write(book: AnnotatedText) -> str:
        root = vault_folder(tmp_path, book.document)
        write_vault(vault_notes(book, structure_of(book.document), root), tmp_path)
        return root

    assert [write(book) for book in (one, other, one, other)] == [
        *("My Book", "my book 2", "My Book", "my book 2"),
    ]
    assert "[[my book 2/Places/Rome|" in (tmp_path / "my book 2" / "my book 2.md").read_text(
        "utf-8"
    )
    assert vault_folder(tmp_path, replace(one.document, id="f", source="z")) == "My Book 3"


def test_no_file_of_others_is_written_outside_of_the_vault(tmp_path: Path) -> None:
    """A group's id names a note whose name has no letter; it is what an imported file says."""
    spans = ((5, 9), (14, 17))
    hostile = [
        Annotation(
            quote_at(TEXT, *span),
            "entity",
            "***",
            "%%hidden%% $x$",
            id=str(span),
            group="../../../../outside",
            properties={"type": "person"},
        )
        for span in spans
    ]
    note = Annotation(quote_at(TEXT, 5, 9), "note", "", "%%hidden%% ==x== [[a]]", id="n")
    items = tuple(PlacedAnnotation(a, Anchor(a.start, a.end, "position")) for a in [*hostile, note])
    layer = PlacedLayer(LayerRecord("x", "d"), items)
    with_layer = replace(text(), layers=(layer,))
    notes = vault_notes(with_layer, structure_of(with_layer.document))
    assert not any(".." in path or path.startswith("/") for path in notes)
    vault = tmp_path / "vault" / "below"
    write_vault(notes, vault)
    assert [path.name for path in tmp_path.iterdir()] == ["vault"]
    assert "My Book/Characters/outside.md" in notes
    [chapter] = [content for path, content in notes.items() if "001" in path]
    assert r"\%\%hidden\%\% \=\=x\=\= \[\[a\]\]" in chapter


def test_a_text_without_people_and_chapters_has_no_vault() -> None:
    bare = AnnotatedText(Document("d", "c", "x", "X", "", "en", "Only words.", (), ""))
    with pytest.raises(NotFound, match="fabula build entities"):
        vault_notes(bare, structure_of(bare.document))
