"""What another reading of a document's file would change in its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fabula.errors import LoadError
from fabula.graph.entries import Entry
from fabula.load import load
from fabula.store import Store
from fabula.text.document import Document, Section

END_OF_TEXT = 10**9
"""A character after the end of any text."""


@dataclass(frozen=True, slots=True)
class ReadingChange:
    """What of a document would be another after its file was ingested again.

    Each pair has what is in the graph and what was read now.

    Attributes:
        characters: How many characters the text has.
        sections: How many sections it has.
        pages: How many printed pages have their places.
        lines: How many numbered lines have their places.
        is_same_text: Whether the text and the headings are the same.
        error: Why the file can't be read, or ''.

    """

    characters: tuple[int, int] = (0, 0)
    sections: tuple[int, int] = (0, 0)
    pages: tuple[int, int] = (0, 0)
    lines: tuple[int, int] = (0, 0)
    is_same_text: bool = False
    error: str = ""

    def describe(self) -> list[str]:
        """Return what would change, in words; an empty list if nothing would."""
        counts = (
            ("characters", self.characters),
            ("sections", self.sections),
            ("printed pages", self.pages),
            ("numbered lines", self.lines),
        )
        changes = [
            f"{now:,} {what} instead of {was:,}" for what, (was, now) in counts if was != now
        ]
        if not (self.is_same_text or changes or self.error):
            changes.append("other words or headings")
        return changes


def read_again(store: Store, entry: Entry, max_bytes: int) -> ReadingChange | None:
    """Read a document's file, and compare it with the graph; None if the file is not here.

    Args:
        store: The graph.
        entry: The document.
        max_bytes: The most bytes of a file.

    """
    file = Path(entry.source)
    if not file.is_file():
        return None
    try:
        document = load(file, entry.collection, max_bytes)
    except LoadError as error:
        return ReadingChange(error=str(error))
    return compare_reading(store, entry, document)


def compare_reading(store: Store, entry: Entry, document: Document) -> ReadingChange:
    """Return what a document that was just read has other than the graph."""
    structure = store.structure(entry)
    text = "".join(row["text"] for row in store.find_chunks(entry, 0, END_OF_TEXT))
    kinds = [locator.kind for locator in document.locators if locator.label]
    return ReadingChange(
        characters=(len(text), len(document.text)),
        sections=(len(structure.outline.sections), len(document.sections)),
        pages=(len(structure.pages.labels), kinds.count("page")),
        lines=(len(list(filter(None, structure.lines.labels))), kinds.count("line")),
        is_same_text=text == document.text
        and _headings(structure.outline.sections) == _headings(document.sections),
    )


def _headings(sections: Iterable[Section]) -> list[tuple[int, str]]:
    return [(section.start, section.title) for section in sections]
