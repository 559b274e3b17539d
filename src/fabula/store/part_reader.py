"""Reads a part back as it was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.errors import Changed, NotFound
from fabula.graph import Edge, Node, Owner, Part
from fabula.store import Store
from fabula.store.rows import unwired

PAGE = 2000
"""Nodes read at once: with 1,536 dimensions each, 12 MB."""
CHANGED = "The document was changed while it was read: try again."


def read_part(store: Store, owner: Owner, *, embeddings: bool = False) -> Part:
    """A part as it was written, nodes by their ids.

    Raises NotFound where there is none, and Changed where it is replaced while it is read: half
    of each version is neither.
    """
    before = store.record(owner)
    if before is None:
        of = f"document {owner.document}" if owner.document else f"all of {owner.collection!r}"
        raise NotFound(f"There is no graph {owner.graph} of {of}.")
    space = store.space(owner.collection) if embeddings else None
    nodes: list[Node] = []
    edges: list[Edge] = []
    elements: set[str] = set()
    wanted = [row["id"] for row in store.rows("core/find_part_ids", **owner._asdict())]
    for start in range(0, len(wanted), PAGE):
        rows = store.rows(
            "core/find_part",
            collection=owner.collection,
            ids=wanted[start : start + PAGE],
            embedding=space.embedding if space else "",
            dimensions=space.dimensions if space else 1,
        )
        for row in rows:
            nodes.append(_node(row))
            if "Element" in row["labels"]:
                elements.add(nodes[-1].label)
            edges += [
                Edge(one["type"], row["id"], one["end"], one["properties"]) for one in row["edges"]
            ]
    moved = space and (now := store.space(owner.collection)) and now.slot != space.slot
    if moved or store.record(owner) != before:
        raise Changed(CHANGED)
    return Part(owner, tuple(nodes), tuple(edges), before, frozenset(elements))


def _node(row: Mapping[str, Any]) -> Node:
    own = ("id", "collection", "document", "graph", "kind", "sources")
    properties = row["properties"]
    kept = {
        name: value for name, value in properties.items() if name not in own and value is not None
    }
    label = next((one for one in row["labels"] if one.lower() == properties["kind"]), None)
    if label is None:
        # The switch took its labels after the statement had found it by one of them.
        raise Changed(CHANGED)
    vector = None if row["embedding"] is None else unwired(row["embedding"])
    return Node(row["id"], label, kept, tuple(properties["sources"]), vector)
