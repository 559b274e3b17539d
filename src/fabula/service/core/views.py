"""The text of a document as the API and the page show it."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, fields

from fabula.app.collection import Collection
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.graph.structure import TextStructure
from fabula.text.locator import LocatorLabels
from fabula.text.names import quote_name

END_OF_TEXT = 10**9
"""An offset beyond the last character of any text."""


@dataclass(frozen=True)
class ShownSection:
    """A section: its heading, its path in the tree of sections, and where it begins.

    `depth` is that in the tree, from 1, and `start` a character of the document's text.
    """

    title: str
    path: str
    depth: int
    start: int


@dataclass(frozen=True)
class ShownLabel:
    """A printed page or a numbered line, and the character at which it begins.

    The label '' ends the numbered lines before it.
    """

    label: str
    start: int


@dataclass(frozen=True)
class ShownChunk:
    """A chunk: `text[start:end]` of the document."""

    id: str
    index: int
    section: str
    start: int
    end: int


@dataclass(frozen=True)
class ShownText:
    """A document's cleaned text from character `start` to before `end`, out of `length`.

    `chunks` are those that overlap it; the first and the last may reach beyond it. `pages` and
    `lines` are the printed pages and numbered lines that begin in it, and the one that it begins
    in.
    """

    document: str
    title: str
    language: str
    start: int
    end: int
    length: int
    text: str
    sections: list[ShownSection]
    chunks: list[ShownChunk]
    pages: list[ShownLabel]
    lines: list[ShownLabel]


def document_of(collection: Collection, id: str) -> Entry:
    """Return the document of an id. Raises NotFound, also for a title or the start of an id."""
    for entry in collection.store.find_named(collection.name, id, 2, whole=True):
        if entry.id == id:
            return entry
    raise NotFound(
        f"There is no document {quote_name(id)} in collection {quote_name(collection.name)}."
    )


def version_of(entry: Entry, *more: object) -> str:
    """Return a digest that changes whenever a document, one of its graphs or `more` changes."""
    graphs = sorted((name, record.updated_at) for name, record in entry.graphs.items())
    content = repr((entry.sha256, entry.updated_at, graphs, more))
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def read_text(
    collection: Collection,
    entry: Entry,
    start: int = 0,
    end: int | None = None,
) -> ShownText:
    """Return a part of a document's text, joined from its chunks, which tile the text.

    Args:
        collection: The document's collection. The text, its chunks and its sections end where its
            reader has come to.
        entry: The document.
        start: The first character.
        end: The character after the last one; None for the end of the text.

    """
    structure = collection.store.structure(entry)
    rows = collection.store.find_chunks(entry)
    length = rows[-1]["end"] if rows else 0
    last = length if end is None else min(end, length)
    first = min(start, last)
    overlapping = [row for row in rows if row["end"] > first and row["start"] < last]
    pieces = [
        row["text"][max(0, first - row["start"]) : last - row["start"]] for row in overlapping
    ]
    return ShownText(
        document=entry.id,
        title=entry.title,
        language=entry.language,
        start=first,
        end=last,
        length=length,
        text="".join(pieces),
        sections=_sections(structure),
        chunks=[
            ShownChunk(**{each.name: row[each.name] for each in fields(ShownChunk)})
            for row in overlapping
        ],
        pages=_labels(structure.pages, first, last),
        lines=_labels(structure.lines, first, last),
    )


def _sections(structure: TextStructure) -> list[ShownSection]:
    outline = structure.outline
    rows = zip(outline.sections, structure.paths, outline.depths, strict=True)
    return [
        ShownSection(title=section.title, path=path, depth=depth, start=section.start)
        for section, path, depth in rows
    ]


def _labels(labels: LocatorLabels, first: int, last: int) -> list[ShownLabel]:
    """Return the labels of a range of characters, with the one that it begins in."""
    begin = max(bisect_right(labels.starts, first) - 1, 0)
    end = max(bisect_left(labels.starts, last), begin)
    rows = zip(labels.labels[begin:end], labels.starts[begin:end], strict=True)
    return [ShownLabel(label=label, start=start) for label, start in rows]
