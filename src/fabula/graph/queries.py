"""Cypher by name: every statement Fabula sends is a file of `cypher/`, or of a graph's package."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

_INSTALLED = Path(__file__).parents[1] / "cypher"
_CHECKOUT = Path(__file__).parents[3] / "cypher"
FOLDER = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
MOST_DIMENSIONS = 4096
"""What a vector index of Neo4j's may have."""
Embedded = Literal["passage", "element"]
"""What has embeddings; each of the two is in an index of its own."""


@cache
def query(name: str) -> str:
    """The statement in `cypher/<name>.cypher`, as `core/find_nearest`."""
    return read(FOLDER / f"{name}.cypher")


@cache
def read(file: Path) -> str:
    """The statement in a file."""
    return file.read_text(encoding="utf-8")


def over(statement: str, dimensions: int, slot: int) -> str:
    """A statement over the embeddings of so many dimensions in that slot.

    Neo4j takes the names of an index and of a label as text alone. Files name those of 256
    dimensions in slot 1, and nothing else of a statement ever varies.
    """
    if not (0 < dimensions <= MOST_DIMENSIONS and slot in (1, 2)):
        raise ValueError(f"no index has {dimensions} dimensions in slot {slot}")
    return (
        statement.replace("passage_vectors_256", index_name(dimensions, slot))
        .replace("element_vectors_256", index_name(dimensions, slot, "element"))
        .replace("Passage256", label(dimensions))
        .replace("Element256", label(dimensions, "element"))
        .replace("n.embedding", f"n.{embedding(slot)}")
    )


def index_name(dimensions: int, slot: int, what: Embedded = "passage") -> str:
    """The vector index of so many dimensions in that slot."""
    return f"{what}_vectors_{dimensions}" + ("_2" if slot == 2 else "")


def label(dimensions: int, what: Embedded = "passage") -> str:
    """The label of passages, or of elements, whose embeddings have so many dimensions."""
    return f"{what.capitalize()}{dimensions}"


def text_label(what: Embedded) -> str:
    """Return the label of passages, or of elements, that the full-text index is over."""
    return f"{what.capitalize()}Text"


def embedding(slot: int) -> str:
    """The property that holds the embeddings of that slot."""
    return "embedding_2" if slot == 2 else "embedding"
