"""A document, its sections and chunks, and the types of their embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabula.text.locator import Locator
from fabula.text.metadata import Metadata
from fabula.text.names import quote_name

Vector = NDArray[np.float32]
"""One embedding: float32, shape (dimensions,), unit length."""
Vectors = NDArray[np.float32]
"""Embeddings: float32, shape (texts, dimensions), one row of unit length for each text."""


def empty_vector() -> Vector:
    """Return the embedding of something that is not embedded yet, shape (0,)."""
    return np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the text, and where its section starts.

    Attributes:
        title: The heading.
        start: The offset in the text, in characters.
        level: The depth in the file's own outline, from 1, the outermost; 0 if it is unknown.
    """

    title: str
    start: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """A text after cleaning, and the metadata of its file.

    Attributes:
        id: The document's id; see `ids.document_id`.
        collection: The name of its collection.
        source: The path or URL that it was read from.
        title: Its title.
        author: Its author; '' if unknown.
        language: An ISO 639-1 code; '' if unknown.
        text: The whole text.
        sections: In text order; text before the first one belongs to no section.
        sha256: The hash of everything that graphs are built from: text, sections, title, author,
            language, and where speakers are named.
        published: The date or year of the text; '' if unknown.
        edition: The edition that the file was made from; '' if unknown.
        locators: The tops of pages, the numbered lines and the names of speakers, in text order.
        reading: The version of the readers: `fabula.load.version.READING_VERSION` of then.
        left_out: The characters of the file that are not in the text, by kind, as "licence".
        warnings: What was wrong with the file, in full sentences.
        metadata: The other fields that the file states, which no graph is built from.
        appended: The files whose texts the document was continued with, in order.
    """

    id: str
    collection: str
    source: str
    title: str
    author: str
    language: str
    text: str
    sections: tuple[Section, ...]
    sha256: str
    published: str = ""
    edition: str = ""
    locators: tuple[Locator, ...] = ()
    reading: int = 1
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    appended: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Document {full_title(self.title, self.author)}: {len(self.text):,} characters>"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole sentences of a document.

    Attributes:
        id: The chunk's id; see `ids.chunk_id`.
        index: The position among the document's chunks, from 0.
        section: The path of its section, as "BOOK NINE · CHAPTER XI"; '' before the first heading.
        start: The offset in the document's text, in characters.
        end: The offset of its end: the text is `document.text[start:end]`.
        text: The text.
        tokens: The number of tokens of the text.
        embedding: The vector of the text; empty before it is embedded.
    """

    id: str
    index: int
    section: str
    start: int
    end: int
    text: str
    tokens: int
    embedding: Vector = field(default_factory=empty_vector, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Chunk {self.index}, characters {self.start}-{self.end}: {excerpt(self.text)}>"


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line, in quotation marks."""
    return quote_name(" ".join(text[:200].split()))


def full_title(title: str, author: str) -> str:
    """Return a document's title in quotation marks, and its author if known."""
    return quote_name(title) + (f" by {quote_name(author)}" if author else "")
