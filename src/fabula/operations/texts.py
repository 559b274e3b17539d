"""Read the text of a document, and where its sections, chunks, pages and lines begin."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from fabula.errors import NotFound
from fabula.operations.kit import operation
from fabula.operations.parameters import NamedDocument
from fabula.text.locator import LocatorLabels
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.library.collection import Collection

MAX_CHARACTER = 10**9
"""A character after the last one of any text."""
MAX_TOLD_CHARACTERS = 8000
"""Characters of a text that an assistant gets at once."""
Character = Annotated[int, Field(ge=0, le=MAX_CHARACTER, description="the first character")]


@dataclass(frozen=True)
class TextSection:
    """A section: its heading, its path, its depth in the tree of sections from 1, its start."""

    title: str
    path: str
    depth: int
    start: int


@dataclass(frozen=True)
class TextLabel:
    """A printed page or a numbered line, and its start; '' ends the numbered lines before it."""

    label: str
    start: int


@dataclass(frozen=True)
class TextChunk:
    """A chunk: `text[start:end]` of the document."""

    id: str
    index: int
    section: str
    start: int
    end: int


@dataclass(frozen=True)
class DocumentText:
    """A part of a document's text, and what begins in it or reaches into it.

    Attributes:
        document: The id of the document.
        title: Its title.
        language: Its language; '' if unknown.
        start: The first character of `text` in the document.
        end: The one after its last.
        length: How many characters the document has.
        next: Where the text goes on; None at its end.
        text: The text.
        sections: Its sections.
        chunks: Its chunks; the first and the last may reach beyond it.
        pages: Its printed pages.
        lines: Its numbered lines.
    """

    document: str
    title: str
    language: str
    start: int
    end: int
    length: int
    next: int | None
    text: str
    sections: tuple[TextSection, ...]
    chunks: tuple[TextChunk, ...]
    pages: tuple[TextLabel, ...]
    lines: tuple[TextLabel, ...]

    def to_text(self) -> str:
        """Return the text alone."""
        return self.text

    def shorten(self) -> DocumentText:
        """Return as much as an assistant gets at once."""
        end = self.start + MAX_TOLD_CHARACTERS
        if self.end <= end:
            return self
        names = ("sections", "chunks", "pages", "lines")
        shown: dict[str, Any] = {
            name: tuple(each for each in getattr(self, name) if each.start < end) for name in names
        }
        return replace(self, end=end, next=end, text=self.text[:MAX_TOLD_CHARACTERS], **shown)


@operation(
    "/collections/{collection}/documents/{document}/text",
    group="Reading",
    command="text",
    positional=["document"],
    hides_unread=True,
    is_public=True,
    has_screen=False,
    examples=(
        'text "A Christmas Carol"',
        'text "A Christmas Carol" --section "Stave Two" --json',
        'text "A Christmas Carol" --start 120 --end 340',
    ),
)
def read(
    collection: Collection,
    document: NamedDocument,
    start: Character = 0,
    end: Annotated[
        int,
        Field(ge=0, le=MAX_CHARACTER, description="the character after the last one; 0 for all"),
    ] = 0,
    section: Annotated[
        str,
        Field(
            max_length=2000,
            description="start at the section with this heading or path, as 'BOOK NINE CHAPTER "
            "XI', or at a page, as 'p. 113', instead",
        ),
    ] = "",
) -> DocumentText:
    """Read the text itself, as the book prints it; an assistant gets 8,000 characters at once.

    Raises:
        NotFound: There is no such document or section.
    """
    entry, store = collection.document(document), collection.open_store()
    if section.strip():
        lines = collection.read(entry.id, section).lines
        starts = [line.start + line.lit[0][0] for line in lines if line.lit]
        if not starts:
            raise NotFound(f"{quote_name(section)} names no passage of {entry.title}.")
        start = starts[0]
    length, structure = store.length_of(entry), store.structure(entry)
    last = min(end or length, length)
    first = min(start, last)
    rows = store.find_chunks(entry, first, last) if first < last else []
    pieces = [row["text"][max(0, first - row["start"]) : last - row["start"]] for row in rows]
    outline, names = structure.outline, ("id", "index", "section", "start", "end")
    sections = [
        TextSection(each.title, path, depth, each.start)
        for each, path, depth in zip(outline.sections, structure.paths, outline.depths, strict=True)
    ]
    overlapping = _find_between([each.start for each in sections], first, last)
    return DocumentText(
        document=entry.id,
        title=entry.title,
        language=entry.language,
        start=first,
        end=last,
        length=length,
        next=last if last < length else None,
        text="".join(pieces),
        sections=tuple(sections[overlapping]),
        chunks=tuple(TextChunk(**{name: row[name] for name in names}) for row in rows),
        pages=_find_labels(structure.pages, first, last),
        lines=_find_labels(structure.lines, first, last),
    )


def _find_between(starts: Sequence[int], first: int, last: int) -> slice:
    """Return which of some places begin before `last`, from the one that `first` is in."""
    begin = max(bisect_right(starts, first) - 1, 0)
    return slice(begin, max(bisect_left(starts, last), begin))


def _find_labels(labels: LocatorLabels, first: int, last: int) -> tuple[TextLabel, ...]:
    between = _find_between(labels.starts, first, last)
    rows = zip(labels.labels[between], labels.starts[between], strict=True)
    return tuple(TextLabel(label, start) for label, start in rows)
