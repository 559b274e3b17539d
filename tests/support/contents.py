"""All that a graph holds, to compare graphs by; and a database with nothing in it."""

from __future__ import annotations

import json
from typing import Any

from database import cypher
from fabula.store import Store

Contents = tuple[list[Any], list[Any], list[Any], list[Any]]
"""Every node, edge, index and constraint, in an order of their own."""


def empty(store: Store) -> None:
    """Takes everything out of a database, the schema too."""
    cypher(store, "MATCH (n) DETACH DELETE n")
    for row in cypher(store, "SHOW CONSTRAINTS YIELD name"):
        cypher(store, "DROP CONSTRAINT $name", name=row["name"])
    for row in cypher(store, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        cypher(store, "DROP INDEX $name", name=row["name"])


def contents(store: Store) -> Contents:
    """All that the graph holds."""
    nodes = cypher(
        store,
        "MATCH (n) WHERE NOT n:Lock RETURN labels(n) AS labels, properties(n) AS properties",
    )
    edges = cypher(
        store,
        "MATCH (a)-[edge]->(b) RETURN coalesce(a.id, a.name) AS start, type(edge) AS type, "
        "b.id AS end, properties(edge) AS properties",
    )
    indexes = cypher(
        store,
        "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state WHERE type <> 'LOOKUP'",
    )
    constraints = cypher(store, "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties")
    for row in nodes:
        row["labels"].sort()
    return in_order((nodes, edges, indexes, constraints))


def in_order(found: Contents) -> Contents:
    """The same contents, in their order."""
    return tuple(sorted(rows, key=repr_of) for rows in found)  # type: ignore[return-value]


def repr_of(row: dict[str, Any]) -> str:
    """Whatever order the server gave the properties in."""
    return json.dumps(row, sort_keys=True, default=str)
