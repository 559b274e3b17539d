"""Statements of the user's own: the server itself refuses them writes, and values come plain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import neo4j
from neo4j.exceptions import Neo4jError
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from fabula.errors import FabulaError, StoreError
from fabula.store import Store
from fabula.store.wording import in_words

READ_ONLY = "Neo.ClientError.Statement.AccessMode"
EMBEDDING = 32
"""Numbers in a list that is told by its length alone, as no person reads it."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a statement returned, and what it changed, by Neo4j's own names of the counters.

    Cells are what JSON holds. A node is {id, labels, properties}, a relationship {type, from, to,
    properties}, whose ends are ids of nodes, and a path {nodes, relationships}; these ids are the
    server's own. An embedding is told by its dimensions, and a time is ISO text.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    changes: Mapping[str, int]


def run(
    store: Store, statement: str, parameters: Mapping[str, Any], *, write: bool = False
) -> Table:
    """Runs one statement, which may only read unless `write`.

    Raises StoreError, in one line, for what the server refuses.
    """
    access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
    with (
        in_words("the query"),
        store._driver.session(database=store._database, default_access_mode=access) as session,
    ):
        try:
            result = session.run(statement, dict(parameters))
            columns = tuple(result.keys())
            rows = tuple(tuple(plain(cell) for cell in record.values()) for record in result)
            counters = result.consume().counters
        except Neo4jError as error:
            raise _refused(error) from error
    changes = {
        name: count for name, count in sorted(vars(counters).items()) if count and name[0] != "_"
    }
    return Table(columns, rows, changes)


def plain(value: Any) -> Any:
    """A value of Neo4j's as JSON holds it."""
    match value:
        case Node():
            labels = sorted(value.labels)
            return {"id": value.element_id, "labels": labels, "properties": _properties(value)}
        case Relationship():
            ends = [node.element_id if node else None for node in value.nodes]
            tie = {"type": value.type, "from": ends[0], "to": ends[1]}
            return tie | {"properties": _properties(value)}
        case Path():
            ties = value.relationships
            return {"nodes": [*map(plain, value.nodes)], "relationships": [*map(plain, ties)]}
        case Mapping():
            return {key: plain(one) for key, one in value.items()}
        case Point():
            return {"srid": value.srid, "coordinates": list(value)}
        case list():
            return _list(value)
    return _scalar(value)


def _scalar(value: Any) -> Any:
    match value:
        case Vector():
            return f"[{len(value)} dimensions]"
        case float() if not math.isfinite(value):
            return str(value)
        case bytes() | bytearray():
            return f"[{len(value)} bytes]"
        case Date() | Time() | DateTime() | Duration():
            return value.iso_format()
    return value


def _properties(entity: Node | Relationship) -> dict[str, Any]:
    return {name: plain(value) for name, value in sorted(entity.items())}


def _list(values: Sequence[Any]) -> Any:
    if len(values) >= EMBEDDING and all(isinstance(value, float) for value in values):
        return f"[{len(values)} dimensions]"
    return [plain(value) for value in values]


def _refused(error: Neo4jError) -> FabulaError:
    if error.code == READ_ONLY:
        return StoreError("This query would write, and queries may only read: --write allows it.")
    message = (error.message or str(error)).strip().splitlines()[0]
    return StoreError(f"Neo4j refused the query: {message}")
