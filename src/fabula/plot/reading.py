"""A document's passages as the graph has them, without their embeddings."""

from __future__ import annotations

from fabula.errors import Changed
from fabula.graph import TEXT, Owner
from fabula.graph.building import chunks_of
from fabula.graph.method import Known
from fabula.graphs.aspects import GRAPH, border
from fabula.graphs.aspects.values import Earlier
from fabula.model import Entry
from fabula.store import Store
from fabula.store.parts import read_part


def read(store: Store, entry: Entry) -> Earlier:
    """All passages of a document. Raises StoreError where it is replaced meanwhile, or NotFound."""
    names = [name for name in (TEXT, GRAPH.name) if name in entry.graphs]
    parts = {name: read_part(store, Owner(entry.collection, name, entry.id)) for name in names}
    if any(part.record != entry.graphs[name] for name, part in parts.items()):
        raise Changed(f"{entry.title} was changed while it was read: run the command again.")
    chunks = chunks_of(parts[TEXT])
    if GRAPH.name not in parts:
        return Earlier(chunks)
    return border.read(Known(chunks, parts[GRAPH.name].nodes, parts[GRAPH.name].edges))
