"""Read the passages of a document that the tree picture shows."""

from __future__ import annotations

from fabula.graph import TEXT
from fabula.graph.entries import Entry
from fabula.graph.method import Known
from fabula.graph.parts import chunks_of
from fabula.graphs.aspects import GRAPH, mapping
from fabula.graphs.aspects.values import StoredAspects
from fabula.store import Store
from fabula_scholar.pictures.shared.picture_parts import read_parts


def read_passages(store: Store, entry: Entry) -> StoredAspects:
    """Return the chunks of a document and, if it has aspect trees, its summaries and details.

    Raises:
        Changed: The document was replaced while it was read.
        NotFound: It was removed meanwhile.
    """
    parts = read_parts(store, entry, (TEXT, GRAPH.name))
    chunks = chunks_of(parts[TEXT])
    if GRAPH.name not in parts:
        return StoredAspects(chunks)
    return mapping.read_stored(Known(chunks, parts[GRAPH.name].nodes, parts[GRAPH.name].edges))
