"""Read statements of Cypher by name; each is a file of `cypher/` or of a graph's package."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

_INSTALLED = Path(__file__).parents[1] / "cypher"
_CHECKOUT = Path(__file__).parents[3] / "cypher"
FOLDER = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
MAX_DIMENSIONS = 4096
"""Of a vector index of Neo4j."""
Embedded = Literal["passage", "element"]
"""What has embeddings; each has a vector index of its own."""


@cache
def read_statement(name: str) -> str:
    """Return the statement in `cypher/<name>.cypher`, such as `core/find_nearest`."""
    return read_statement_file(FOLDER / f"{name}.cypher")


@cache
def read_statement_file(file: Path) -> str:
    """Return the statement in a file."""
    return file.read_text(encoding="utf-8")


def for_embeddings(statement: str, dimensions: int, slot: int) -> str:
    """Return a statement for embeddings of this number of dimensions in a slot (1 or 2).

    Neo4j takes the name of an index or a label only as text, not as a parameter. Files name those
    of 256 dimensions in slot 1, and nothing else of a statement ever varies.
    """
    if not (0 < dimensions <= MAX_DIMENSIONS and slot in (1, 2)):
        raise ValueError(f"no index has {dimensions} dimensions in slot {slot}")
    return (
        statement.replace("passage_vectors_256", index_name(dimensions, slot))
        .replace("element_vectors_256", index_name(dimensions, slot, "element"))
        .replace("Passage256", label_name(dimensions))
        .replace("Element256", label_name(dimensions, "element"))
        .replace("n.embedding", f"n.{embedding_property(slot)}")
    )


def index_name(dimensions: int, slot: int, what: Embedded = "passage") -> str:
    """Return the name of the vector index for this number of dimensions in a slot."""
    return f"{what}_vectors_{dimensions}" + ("_2" if slot == 2 else "")


def label_name(dimensions: int, what: Embedded = "passage") -> str:
    """Return the label of passages or elements whose embeddings have this number of dimensions."""
    return f"{what.capitalize()}{dimensions}"


def text_label(what: Embedded) -> str:
    """Return the label of passages, or of elements, that the full-text index is over."""
    return f"{what.capitalize()}Text"


def embedding_property(slot: int) -> str:
    """Return the property that holds the embeddings of a slot."""
    return "embedding_2" if slot == 2 else "embedding"
