"""What a collection has in a graph."""

from __future__ import annotations

import json
from typing import Any

from database import cypher
from fabula.store import Store

Belongings = tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]


def belongings(store: Store, collection: str) -> Belongings:
    """All that a collection has: its nodes, its relationships, and its own node.

    Nodes of all labels are counted, and all relationships, so that a copy can't forget one.
    """
    nodes = cypher(
        store,
        "MATCH (n {collection: $name}) "
        "WHERE NOT n:Retired AND (n:Passage|Element|Document|Part OR NOT n:Staged) "
        "RETURN [label IN labels(n) WHERE label <> 'Staged'] AS labels, "
        "n { .*, run: null, labels: null } AS properties, "
        "[time IN [n.created_at, n.updated_at, n.at] | toString(time)] AS times",
        name=collection,
    )
    edges = cypher(
        store,
        "MATCH (a {collection: $name})-[edge]->(b) "
        "WHERE NOT a:Retired AND (a:Passage|Element|Document|Part OR NOT a:Staged) "
        "RETURN a.id AS start, type(edge) AS type, b.id AS end, properties(edge) AS properties",
        name=collection,
    )
    own = cypher(
        store,
        "MATCH (n:Collection {name: $name}) RETURN properties(n) AS properties",
        name=collection,
    )
    for row in nodes:
        row["labels"].sort()
    rows = (nodes, edges, own)
    return tuple(sorted(found, key=_repr_of) for found in rows)  # type: ignore[return-value]


def _repr_of(row: dict[str, Any]) -> str:
    """Whatever order the server gave the properties in."""
    return json.dumps(row, sort_keys=True, default=str)


NOTHING: Belongings = ([], [], [])
