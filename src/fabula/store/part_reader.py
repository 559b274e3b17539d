"""Read a part back from the store as it was written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from fabula.errors import Changed, NotFound
from fabula.graph import TEXT, Edge, Node, Owner, Part
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs
from fabula.graph.parts_until import restrict_parts
from fabula.store import Store
from fabula.store.rows import decode_vector

NODES_PER_PAGE = 2000
"""How many nodes are read at once: 12 MB with embeddings of 1,536 dimensions."""
CHANGED = "The document was changed while it was read: try again."


def read_part(
    store: Store,
    owner: Owner,
    *,
    embeddings: bool = False,
    replies: bool = False,
    edges: bool = True,
    report: Callable[[int, int], None] = lambda read, nodes: None,
) -> Part:
    """Return a part as it was written, its nodes in order of their ids.

    Args:
        store: The graph.
        owner: Whose part.
        embeddings: Whether to read the embeddings of its nodes.
        replies: Whether to read the nodes that keep replies of models.
        edges: Whether to read its edges.
        report: Told how many nodes were read since it was told last, and how many there are.

    Raises:
        Changed: The part was replaced while it was read.
        NotFound: There is no such part.
        ValueError: The store has a reader's place: `read_parts` leaves out what was not read.
    """
    if store.place:
        raise ValueError("A part is whole: use read_parts for a reader with a place.")
    before = store.record(owner)
    if before is None:
        of = f"document {owner.document}" if owner.document else f"all of {owner.collection!r}"
        raise NotFound(f"There is no graph {owner.graph} of {of}.")
    space = store.space(owner.collection) if embeddings else None
    nodes: list[Node] = []
    leading: list[Edge] = []
    elements: set[str] = set()
    found = store.rows("core/find_part_ids", **owner._asdict(), replies=replies)
    ids = [row["id"] for row in found]
    report(0, len(ids))
    for start in range(0, len(ids), NODES_PER_PAGE):
        rows = store.rows(
            "core/find_part",
            collection=owner.collection,
            ids=ids[start : start + NODES_PER_PAGE],
            edges=edges,
            embedding=space.embedding if space else "",
            dimensions=space.dimensions if space else 1,
        )
        for row in rows:
            nodes.append(_node(row))
            if "Element" in row["labels"]:
                elements.add(nodes[-1].label)
            leading += [
                Edge(edge["type"], row["id"], edge["end"], edge["properties"])
                for edge in row["edges"]
            ]
        if rows:
            report(len(rows), len(ids))
    moved = space and (now := store.space(owner.collection)) and now.slot != space.slot
    if moved or store.record(owner) != before:
        raise Changed(CHANGED)
    return Part(owner, tuple(nodes), tuple(leading), before, frozenset(elements))


def read_parts(store: Store, entry: Entry, names: Collection[str]) -> dict[str, Part]:
    """Return parts of a document, all of the version that was found.

    What else is read of that version has to be read before them. For a reader with a place they are
    restricted to what was read, and others are with them, which that needs: the text, and those of
    the graphs that the named ones have names from.

    Args:
        store: The graph.
        entry: The document as it was found.
        names: The names of its graphs that are needed.

    Raises:
        Changed: The document was replaced, or one of its graphs changed, since it was found.
        NotFound: It was removed meanwhile.
    """
    is_unread = store.is_unread
    if store.place:
        # Names of entities that other graphs have are chosen from all of the text.
        bases = [base for name in names if name in graphs() for base in graphs()[name].uses]
        names = dict.fromkeys([TEXT, *names, *(base for base in bases if base in entry.graphs)])
    owners = {name: Owner(entry.collection, name, entry.id) for name in names}
    parts = {name: read_part(store.whole, owner) for name, owner in owners.items()}
    if any(part.record != entry.graphs.get(name) for name, part in parts.items()):
        raise Changed(f"{entry.title} was changed while it was read: try again.")
    if store.place and is_unread:
        return restrict_parts(parts, graphs(), store.place.end, is_unread)
    return parts


def _node(row: Mapping[str, Any]) -> Node:
    # What the store has added to the properties of a node.
    own = ("id", "collection", "document", "graph", "kind", "sources")
    properties = row["properties"]
    rest = {
        name: value for name, value in properties.items() if name not in own and value is not None
    }
    label = next((name for name in row["labels"] if name.lower() == properties["kind"]), None)
    if label is None:
        # A switch removed its labels after the statement had found it by one of them.
        raise Changed(CHANGED)
    vector = None if row["embedding"] is None else decode_vector(row["embedding"])
    return Node(row["id"], label, rest, tuple(properties["sources"]), vector)
