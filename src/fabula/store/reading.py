"""Statements of the user's own: the server itself refuses them writes, and values come plain."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import neo4j
from neo4j.exceptions import Neo4jError
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from fabula.errors import FabulaError, Refused
from fabula.queries import index_name, query
from fabula.store import Store
from fabula.store.wording import in_words, is_out_of_memory, out_of_memory

READ_ONLY = "Neo.ClientError.Statement.AccessMode"
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
WRITES = "This query would write, and queries may only read"
ALLOWED = ": --write allows it"
TAG = "fabula_query"
"""What a transaction's metadata calls the query's tag, by which it is found on the server."""
COMMAND = re.compile(r"LoadCSV|ProcedureCall|Show|Terminate|\w*Command")
"""Operators of a plan that reach beyond the graph."""
WITHIN = re.compile(r"\b(EXISTS|COUNT|COLLECT)\s*\{.*\b(CALL|LOAD\s+CSV)\b", re.DOTALL)
"""A subquery that stays within an expression: the plan has it as text, and no operators of it."""
READING = {
    "ShowIndexes",
    "ShowConstraints",
    "ShowFunctions",
    "ShowProcedures",
    "db.info",
    "db.labels",
    "db.relationshipTypes",
    "db.propertyKeys",
    "db.schema.nodeTypeProperties",
    "db.schema.relTypeProperties",
    "db.schema.visualization",
    "db.index.fulltext.listAvailableAnalyzers",
    "db.index.fulltext.queryNodes",
    "db.index.fulltext.queryRelationships",
    "db.index.vector.queryNodes",
    "db.index.vector.queryRelationships",
}
"""Those that only read it, and procedures that do."""
INDEX = index_name(256, 1)
"""The vector index that statements name, in whose place the collection's own is put."""
FUNCTION = re.compile(
    r"(?i)\b(apoc\.(?:cypher|custom|export|import|load|periodic|systemdb|trigger)\.[\w.]+)\("
)
"""Functions of APOC's that run a text as Cypher or reach beyond the graph. A plan has no operator
for them, so they are refused by name."""
EMBEDDING = 32
"""Numbers in a list that is told by its length alone, as no person reads it."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a statement returned, and what it changed, by Neo4j's own names of the counters.

    Cells are what JSON holds. A node is {id, labels, properties}, a relationship {type, from, to,
    properties}, whose ends are ids of nodes, and a path {nodes, relationships}; these ids are the
    server's own. An embedding is told by its dimensions, and a time is ISO text. `truncated` is
    whether there were more rows than were asked for.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    changes: Mapping[str, int]
    truncated: bool = False


def run(
    store: Store,
    statement: str,
    parameters: Mapping[str, Any],
    *,
    write: bool = False,
    seconds: float | None = None,
    most: int | None = None,
) -> Table:
    """Runs one statement, which may only read the graph unless `write`.

    It ends after `seconds`, on the server too, as it does at Ctrl-C, and after `most` rows. Raises
    Refused, in one line, for what the server refuses, and for what its plan does beside reading
    the graph.

    A statement that names the vector index `passage_vectors_256` and takes a collection reads that
    collection's own index, whatever its dimensions; it has no rows where the collection has none.
    """
    collection = parameters.get("collection")
    if INDEX in statement and isinstance(collection, str):
        space = store.space(collection)
        if space is None:
            return Table((), (), {})
        statement = statement.replace(INDEX, space.index)
    tag = uuid.uuid4().hex
    access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
    with (
        in_words("the query"),
        store._driver.session(database=store._database, default_access_mode=access) as session,
    ):
        try:
            if not write:
                _refuse_functions(statement)
                _refuse_by_plan(session.run(f"EXPLAIN {statement}", dict(parameters)).consume())
            tagged = neo4j.Query(statement, metadata={TAG: tag}, timeout=seconds)
            result = session.run(tagged, dict(parameters))
            columns = tuple(result.keys())
            records = result if most is None else islice(result, most)
            rows = tuple(tuple(plain(cell) for cell in record.values()) for record in records)
            truncated = most is not None and result.peek() is not None
            counters = result.consume().counters
        except KeyboardInterrupt:
            _terminate(store, tag)
            # Else closing the session waits for the server, which ends no expression half-way.
            session._handle_cancellation()  # type: ignore[no-untyped-call]
            raise
        except Neo4jError as error:
            raise _refused(error, seconds) from error
    changes = {
        name: count for name, count in sorted(vars(counters).items()) if count and name[0] != "_"
    }
    return Table(columns, rows, changes, truncated)


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


def _refuse_by_plan(explained: neo4j.ResultSummary) -> None:
    """Raises StoreError where a statement's plan does more than read the graph."""
    if explained.query_type != "r" or explained.plan is None or explained.profile is not None:
        raise Refused(WRITES, ALLOWED)
    for name, details in _operators(explained.plan):
        _refuse_functions(details)
        used = details.partition("(")[0].strip() if name == "ProcedureCall" else name
        if WITHIN.search(details):
            used = "a CALL or LOAD CSV within an expression"
        elif not COMMAND.match(name):
            continue
        if used not in READING:
            raise Refused(f"This query uses {used}, which does more than read the graph", ALLOWED)


def _refuse_functions(text: str) -> None:
    """Raises Refused where a statement, or what a plan says of it, calls one of those functions.

    The text is read with and without what may be a comment, as a URL looks like one, too.
    """
    plain = re.sub(r"\\u+([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    no_blocks = re.sub(r"/\*.*?\*/", "", plain, flags=re.DOTALL)
    for version in (plain, no_blocks, re.sub(r"//[^\n]*", "", no_blocks)):
        if found := FUNCTION.search(re.sub(r"\s*([.(])\s*", r"\1", version.replace("`", ""))):
            used = f"{found[1]}, which can do more than read the graph"
            raise Refused(f"This query uses {used}", ALLOWED)


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names of a plan's operators, and what each says of itself."""
    name = plan["operatorType"].partition("@")[0]
    yield name, str(plan.get("args", {}).get("Details", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)


def _terminate(store: Store, tag: str) -> None:
    """Ends the query with this tag on the server, which else finds out late that nobody waits."""
    with store._driver.session(database=store._database) as session:
        session.run(query("core/terminate_query"), {"tag": tag}).consume()


def _refused(error: Neo4jError, seconds: float | None) -> FabulaError:
    if error.code == READ_ONLY:
        return Refused(WRITES, ALLOWED)
    if error.code == TIMED_OUT:
        told = f"The query took longer than {seconds:g} s and was ended"
        return Refused(told, ": --time-limit gives it more")
    if is_out_of_memory(error):
        return Refused(out_of_memory("The query"))
    message = (error.message or str(error)).strip().splitlines()[0]
    return Refused(f"Neo4j refused the query: {message.removesuffix('.')}")
