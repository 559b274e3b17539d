"""A graph as Fabula wrote it before its schema had a version, and what it answered.

`data/schema-1.jsonl` was written with the code of commit d11b1b1: what its statements of the schema
were, every node and edge of two stories, built offline, in two collections, and the hits of every
mode. Embeddings are little-endian float32 in base64.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from neo4j.vector import Vector

from database import cypher
from fabula.ask.query import REMOVED_MODES
from fabula.store import Store

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "schema-1.jsonl").read_text().splitlines()
]
ANSWERS = [row for row in ROWS if row["type"] == "answer" and row["mode"] not in REMOVED_MODES]
"""{collection, mode, question, filters, hits: [[id, score], ...]} of each question whose mode there
still is."""
KNOBS: dict[str, Any] = {"chunk_tokens": 24, "cluster_size": 3}
"""The settings that collection 'default' was made with; 'naive' is of the preset."""


def load(store: Store) -> None:
    """Puts the old graph, its indexes and constraints in the place of all that is there."""
    empty(store)
    for row in ROWS:
        if row["type"] == "schema":
            cypher(store, row["statement"], dimensions=256)
    nodes = [_node(row, place) for place, row in enumerate(_rows("node"))]
    cypher(store, "UNWIND $rows AS row CREATE (n:$(row.labels)) SET n = row.properties", rows=nodes)
    cypher(
        store,
        "UNWIND $rows AS row MATCH (n {place: row.properties.place}) "
        "CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)",
        rows=[node for node in nodes if "embedding" in node],
    )
    cypher(
        store,
        "UNWIND $rows AS row MATCH (start {place: row.start}) MATCH (end {place: row.end}) "
        "CREATE (start)-[edge:$(row.label)]->(end) SET edge = row.properties",
        rows=_rows("edge"),
    )
    cypher(store, "MATCH (n) REMOVE n.place")
    cypher(store, "CALL db.awaitIndexes(600)")


def _rows(type: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if row["type"] == type]


def _node(row: dict[str, Any], place: int) -> dict[str, Any]:
    properties = dict(row["properties"]) | {"place": place}
    for name in ("created_at", "updated_at"):
        if name in properties:
            properties[name] = datetime.fromisoformat(properties[name])
    node = {"labels": row["labels"], "properties": properties}
    if embedding := properties.pop("embedding", None):
        node["embedding"] = Vector.from_numpy(np.frombuffer(base64.b64decode(embedding), "<f4"))
    return node


def empty(store: Store) -> None:
    """Takes everything out of a database, the schema too."""
    cypher(store, "MATCH (n) DETACH DELETE n")
    for row in cypher(store, "SHOW CONSTRAINTS YIELD name"):
        cypher(store, "DROP CONSTRAINT $name", name=row["name"])
    for row in cypher(store, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        cypher(store, "DROP INDEX $name", name=row["name"])


Contents = tuple[list[Any], list[Any], list[Any], list[Any]]
"""Every node, edge, index and constraint, in an order of their own, to compare graphs by."""


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
    return tuple(sorted(found, key=repr_of) for found in (nodes, edges, indexes, constraints))  # type: ignore[return-value]


def repr_of(row: dict[str, Any]) -> str:
    """Whatever order the server gave the properties in."""
    return json.dumps(row, sort_keys=True, default=str)
