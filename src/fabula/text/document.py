"""A text and its parts: document, sections, chunks and their embeddings."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabula.text.names import quoted

Vector = NDArray[np.float32]
"""One embedding, shape (dimensions,), of unit length."""
Vectors = NDArray[np.float32]
"""Embeddings, shape (texts, dimensions), one unit row a text."""


def not_embedded() -> Vector:
    """The embedding of what has none yet, shape (0,)."""
    return np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the text and the character offset where it begins."""

    title: str
    start: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text, cleaned, with what its file says of it.

    `sections` are in text order; text before the first belongs to no section. `sha256` is of
    all that the graph is made from: the text, its sections, title, author and language.
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

    def __repr__(self) -> str:
        return f"<Document {full_title(self.title, self.author)}: {len(self.text):,} characters>"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole sentences: `document.text[start:end]`, offsets in characters."""

    id: str
    index: int
    section: str
    start: int
    end: int
    text: str
    tokens: int
    embedding: Vector = field(default_factory=not_embedded, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Chunk {self.index}, characters {self.start}-{self.end}: {excerpt(self.text)}>"


def excerpt(text: str) -> str:
    """How a text begins, on one line, in quotation marks."""
    return quoted(" ".join(text[:200].split()))


def full_title(title: str, author: str) -> str:
    """Return a document's title in quotation marks, and its author where it is known."""
    return quoted(title) + (f" by {quoted(author)}" if author else "")
