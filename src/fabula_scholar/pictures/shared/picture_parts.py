"""Read the parts of a document's graphs that a picture needs, without embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.errors import NotFound
from fabula.graph import TEXT, Part
from fabula.graph.entries import Entry
from fabula.graph.hits import NO_LIMIT
from fabula.graph.installed import graph as find_graph
from fabula.graph.installed import graphs as installed_graphs
from fabula.graph.parts_until import restrict_parts
from fabula.graph.unread import make_check
from fabula.store import Store, part_reader
from fabula.text.document import Chunk

NETWORK, COMMUNITIES, DISCOURSE, CONVERSATION = "entities", "communities", "discourse", "speech"
"""The graphs that pictures other than the trees are drawn from."""


def read_parts(
    store: Store, entry: Entry, graphs: Sequence[str], until: int = NO_LIMIT
) -> dict[str, Part]:
    """Return a document's parts of those of the `graphs` that it has.

    Args:
        store: The graph.
        entry: The document.
        graphs: The names of the graphs, that of the text among them.
        until: How many characters of the text are read: what rests on later ones is left out.

    Raises:
        Changed: The document was replaced while it was read.
        NotFound: It was removed meanwhile.
    """
    wanted = set(graphs)
    if until < NO_LIMIT:
        # Names of entities that other graphs have are chosen from all of the text.
        wanted |= {name for graph in graphs if graph != TEXT for name in find_graph(graph).uses}
    existing = [name for name in (*graphs, *sorted(wanted - {*graphs})) if name in entry.graphs]
    names = store.names_of(entry) if until < NO_LIMIT else {}
    parts = part_reader.read_parts(store, entry, existing)
    if until < NO_LIMIT:
        is_unread = make_check(names, until)
        restricted = restrict_parts(parts, installed_graphs(), until, is_unread)
        if not restricted[TEXT].nodes:
            raise NotFound(
                f"Nothing of {entry.title} is read before that place, so there is nothing to draw."
            )
        return restricted
    return parts


def sort_chunks(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return chunks in the order of the text."""
    return sorted(chunks, key=lambda chunk: (chunk.index, chunk.id))
