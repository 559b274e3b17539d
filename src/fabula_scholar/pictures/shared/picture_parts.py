"""Read the parts of a document's graphs that a picture needs, without embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.errors import NotFound
from fabula.graph import TEXT, Part
from fabula.graph.entries import Entry
from fabula.store import Store, part_reader
from fabula.text.document import Chunk

NETWORK, COMMUNITIES, DISCOURSE, CONVERSATION = "entities", "communities", "discourse", "speech"
"""The graphs that pictures other than the trees are drawn from."""


def read_parts(store: Store, entry: Entry, graphs: Sequence[str]) -> dict[str, Part]:
    """Return a document's parts of those of the `graphs` that it has.

    Args:
        store: The graph; for a reader with a place, what rests on later text is left out.
        entry: The document.
        graphs: The names of the graphs, that of the text among them.

    Raises:
        Changed: The document was replaced while it was read.
        NotFound: It was removed meanwhile.
    """
    existing = [name for name in graphs if name in entry.graphs]
    parts = part_reader.read_parts(store, entry, existing)
    if store.place and not parts[TEXT].nodes:
        raise NotFound(
            f"Nothing of {entry.title} is read before that place, so there is nothing to draw."
        )
    return parts


def sort_chunks(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return chunks in the order of the text."""
    return sorted(chunks, key=lambda chunk: (chunk.index, chunk.id))
