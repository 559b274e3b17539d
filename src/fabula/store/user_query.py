"""Cypher that a user has written: run it read-only, within limits, with results as JSON values."""

from __future__ import annotations

import json
import math
import re
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import neo4j
from neo4j.exceptions import DriverError, Neo4jError
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from fabula.errors import FabulaError, Refused
from fabula.graph.nesting import is_deep
from fabula.graph.queries import index_name, read_statement
from fabula.graph.statements import MAX_CHARACTERS, refuse_large
from fabula.graph.unread import TITLES
from fabula.store import Store
from fabula.store.driver_errors import (
    MEMORY_ADVICE,
    explain_errors,
    is_out_of_memory,
    out_of_memory_message,
)

READ_ONLY = "Neo.ClientError.Statement.AccessMode"
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
WRITES = "This query would write, and queries may only read"
WRITE_HINT = ": --write allows it"
QUERY_TAG = "fabula_query"
"""The key in a transaction's metadata that holds the query's tag, to find it on the server."""
RESTRICTED_OPERATOR = re.compile(r"LoadCSV|ProcedureCall|Show|Terminate|\w*Command")
"""Operators of a plan that may reach beyond the graph."""
NESTED_CALL = re.compile(r"\b(EXISTS|COUNT|COLLECT)\s*\{.*\b(CALL|LOAD\s+CSV)\b", re.DOTALL)
"""A CALL or LOAD CSV in an expression, which a plan shows as text and not as operators."""
ALLOWED_OPERATORS = {
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
"""Those of these operators, and the procedures, that only read the graph."""
PASSAGE_INDEX = index_name(256, 1)
"""The vector index that statements name; it is replaced by the one of the collection."""
RESTRICTED_FUNCTION = re.compile(
    r"(?i)\b(apoc\.(?:cypher|custom|export|import|load|periodic|systemdb|trigger)\.[\w.]+)\("
)
"""Functions of APOC that run a text as Cypher or reach beyond the graph. A plan has no operator for
them, so they are refused by name."""
PLANNING_SECONDS = 60.0
"""How long planning may take if the query itself has no limit."""
GRACE_SECONDS = 3.0
"""How long to wait for the server to report that a limit is over, before closing the connection."""
MAX_SENT_BYTES = 64 * 2**20
"""How much the server may send for a bounded result. Embeddings count, though none is returned."""
MIN_EMBEDDING_NUMBERS = 32
"""A list of at least this many floats is shown by its length, because nobody reads the numbers."""


@dataclass(frozen=True, slots=True)
class QueryTable:
    """What a statement returned and changed.

    Attributes:
        columns: The names of the columns.
        rows: Cells as JSON values. A node is {id, labels, properties}, a relationship {type, from,
            to, properties}, whose ends are ids of nodes, and a path {nodes, relationships}; these
            ids are the server's own. An embedding is shown by its dimensions, a time as ISO text.
        changes: How much was changed, by the names of Neo4j's counters.
        cut: The limit by which rows were left out; '' if they are complete.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    changes: Mapping[str, int]
    cut: Literal["", "rows", "bytes"] = ""


def run_user_query(
    store: Store,
    statement: str,
    parameters: Mapping[str, Any],
    *,
    write: bool = False,
    timeout_seconds: float | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
) -> QueryTable:
    """Run one statement.

    A statement that names the vector index `passage_vectors_256` and takes a parameter $collection
    reads the index of that collection, whatever its dimensions. It returns no rows if the
    collection has none.

    Args:
        store: The graph; for a reader with a place, rows that print a name which was not read are
            left out.
        statement: The statement.
        parameters: Its parameters.
        write: Whether it may change the graph.
        timeout_seconds: When it is ended, on the server as well; None for never.
        max_rows: How many rows are returned at most; None for all.
        max_bytes: How large they may be as JSON; counted only if `max_rows` is given.

    Raises:
        Refused: The server refuses it, its plan does more than read the graph, it took too long, or
            its first row alone is too large. The message is one line.
    """
    # Whoever may write may run a script that creates a graph, which is long but not deeply nested.
    refuse_large(statement, None if write else MAX_CHARACTERS)
    collection = parameters.get("collection")
    if PASSAGE_INDEX in statement and isinstance(collection, str):
        space = store.space(collection)
        if space is None:
            return QueryTable((), (), {})
        statement = statement.replace(PASSAGE_INDEX, space.index)
    tag = uuid.uuid4().hex
    limit = _Limit(timeout_seconds or PLANNING_SECONDS)
    access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
    with (
        explain_errors("the query"),
        store.driver() as driver,
        driver.session(database=store._database, default_access_mode=access) as session,
    ):
        try:
            if not write:
                _refuse_functions(statement)
                with limit.over(session):
                    explained = neo4j.Query(
                        f"EXPLAIN {statement}",
                        metadata={QUERY_TAG: tag},
                        timeout=limit.seconds_left(),
                    )
                    _refuse_by_plan(session.run(explained, dict(parameters)).consume())
            timeout = limit.seconds_left() if timeout_seconds else None
            tagged = neo4j.Query(statement, metadata={QUERY_TAG: tag}, timeout=timeout)
            if max_rows is None or max_bytes is None:
                result = session.run(tagged, dict(parameters))
                rows = tuple(_plain_row(record) for record in result)
                cut: Literal["", "rows", "bytes"] = ""
            else:
                with limit.over(session):
                    result = session.run(tagged, dict(parameters))
                    rows, cut = _read_rows(session, result, max_rows, max_bytes)
            columns = tuple(result.keys())
            counters = result.consume().counters if not cut else None
        except KeyboardInterrupt:
            _terminate(store, tag)
            # Otherwise closing the session waits for the server, which finishes an expression.
            session._handle_cancellation()  # type: ignore[no-untyped-call]
            raise
        except RecursionError as error:
            # The driver or `to_json` failed at a value; what follows it can't be read any more.
            _close(session)
            raise Refused("The answer has lists or maps that are nested too deep") from error
        except Neo4jError as error:
            raise _refusal(error, timeout_seconds) from error
        except DriverError as error:
            if limit.is_over:
                raise _too_slow(limit.seconds) from error
            raise
    counts = sorted(vars(counters).items()) if counters else []
    changes = {name: count for name, count in counts if count and name[0] != "_"}
    return QueryTable(columns, _hide_unread(store, columns, rows), changes, cut)


def _hide_unread(
    store: Store, columns: Sequence[str], rows: tuple[tuple[Any, ...], ...]
) -> tuple[tuple[Any, ...], ...]:
    """Leave out the rows that print a name which the reader has not read."""
    is_unread = store.is_unread
    if is_unread is None:
        return rows
    shown = [at for at, name in enumerate(columns) if name not in TITLES]
    return tuple(
        row
        for row in rows
        if not any(isinstance(row[at], str) and is_unread(row[at]) for at in shown)
    )


class _Limit:
    """The time that a statement has, its planning included.

    The server ends a transaction after its timeout, but checks that only between rows, and never
    answers if planning overflows its stack. Then the connection is closed from here, so that nobody
    waits for it any longer.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds
        self.is_over = False

    def seconds_left(self) -> float:
        """Return the seconds that are left, never 0, which the server takes for no limit."""
        return max(self._ends - time.monotonic(), 0.001)

    @contextmanager
    def over(self, session: neo4j.Session) -> Iterator[None]:
        """Close the session's connection once the time is over."""

        def end() -> None:
            self.is_over = True
            _close(session)

        timer = threading.Timer(self.seconds_left() + GRACE_SECONDS, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _close(session: neo4j.Session) -> None:
    """Close a session's connection at once, from any thread. The driver has no public way."""
    connection = session._connection
    if connection is not None:
        connection.kill()  # type: ignore[no-untyped-call]


def _read_rows(
    session: neo4j.Session, result: neo4j.Result, most: int, most_bytes: int
) -> tuple[tuple[tuple[Any, ...], ...], Literal["", "rows", "bytes"]]:
    """Return the rows of a result within the limits, and the limit that cut them off."""
    rows: list[tuple[Any, ...]] = []
    cut: Literal["", "rows", "bytes"] = ""
    size = 0
    with _limit_sent_bytes(session) as sent:
        try:
            for record in result:
                if len(rows) == most:
                    cut = "rows"
                    break
                row = _plain_row(record)
                written = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")
                if is_deep(written):
                    raise RecursionError
                size += len(written)
                if size > most_bytes:
                    cut = "bytes"
                    break
                rows.append(row)
        except DriverError:
            if not sent.is_too_much:
                raise
            cut = "bytes"
    if cut:
        # The rest of the result is not read.
        _close(session)
    if cut == "bytes" and not rows:
        raise Refused(
            f"The first row of the result is larger than {most_bytes / 1e6:,.0f} MB, the limit "
            "of the whole result: return less of it"
        )
    return tuple(rows), cut


class _Sent:
    """How many bytes may still come over a connection."""

    def __init__(self) -> None:
        self.left = MAX_SENT_BYTES

    @property
    def is_too_much(self) -> bool:
        """Return whether more has come than may come."""
        return self.left < 0


@contextmanager
def _limit_sent_bytes(session: neo4j.Session) -> Iterator[_Sent]:
    """Count what comes over a session's connection, and close it beyond MAX_SENT_BYTES."""
    sent = _Sent()
    connection = session._connection
    if connection is None:
        # The whole result came with the first answer.
        yield sent
        return
    socket = connection.socket
    receive = socket.recv_into

    # The driver holds a record as a whole before it hands it over, however large it is.
    def receive_counted(buffer: Any, nbytes: int) -> int:
        received: int = receive(buffer, nbytes)
        sent.left -= received
        if sent.is_too_much:
            connection.kill()  # type: ignore[no-untyped-call]
        return received

    socket.recv_into = receive_counted
    try:
        yield sent
    finally:
        del socket.recv_into


def _plain_row(record: neo4j.Record) -> tuple[Any, ...]:
    return tuple(to_json(cell) for cell in record.values())


def to_json(value: Any) -> Any:
    """Return a value of Neo4j as a JSON value."""
    match value:
        case Node():
            labels = sorted(value.labels)
            return {"id": value.element_id, "labels": labels, "properties": _properties(value)}
        case Relationship():
            ends = [node.element_id if node else None for node in value.nodes]
            edge = {"type": value.type, "from": ends[0], "to": ends[1]}
            return edge | {"properties": _properties(value)}
        case Path():
            return {
                "nodes": [*map(to_json, value.nodes)],
                "relationships": [*map(to_json, value.relationships)],
            }
        case Mapping():
            return {key: to_json(item) for key, item in value.items()}
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
    return {name: to_json(value) for name, value in sorted(entity.items())}


def _list(values: Sequence[Any]) -> Any:
    if len(values) >= MIN_EMBEDDING_NUMBERS and all(isinstance(value, float) for value in values):
        return f"[{len(values)} dimensions]"
    return [to_json(value) for value in values]


def _refuse_by_plan(explained: neo4j.ResultSummary) -> None:
    """Raise Refused if a statement's plan does more than read the graph."""
    if explained.query_type != "r" or explained.plan is None or explained.profile is not None:
        raise Refused(WRITES, WRITE_HINT)
    for name, details in _operators(explained.plan):
        _refuse_functions(details)
        used = details.partition("(")[0].strip() if name == "ProcedureCall" else name
        if NESTED_CALL.search(details):
            used = "a CALL or LOAD CSV within an expression"
        elif not RESTRICTED_OPERATOR.match(name):
            continue
        if used not in ALLOWED_OPERATORS:
            raise Refused(
                f"This query uses {used}, which does more than read the graph", WRITE_HINT
            )


def _refuse_functions(text: str) -> None:
    """Raise Refused if a statement, or a detail of its plan, calls a restricted function."""
    plain = re.sub(r"\\u+([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    no_blocks = re.sub(r"/\*.*?\*/", "", plain, flags=re.DOTALL)
    # With and without what may be a comment, because a URL looks like one.
    for version in (plain, no_blocks, re.sub(r"//[^\n]*", "", no_blocks)):
        if match := RESTRICTED_FUNCTION.search(
            re.sub(r"\s*([.(])\s*", r"\1", version.replace("`", ""))
        ):
            used = f"{match[1]}, which can do more than read the graph"
            raise Refused(f"This query uses {used}", WRITE_HINT)


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names and the details of a plan's operators."""
    name = plan["operatorType"].partition("@")[0]
    yield name, str(plan.get("args", {}).get("Details", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)


def _terminate(store: Store, tag: str) -> None:
    """End the query with this tag on the server, which would notice late that nobody waits."""
    with store.driver() as driver, driver.session(database=store._database) as session:
        session.run(read_statement("core/terminate_query"), {"tag": tag}).consume()


def _too_slow(seconds: float) -> Refused:
    message = f"The query took longer than {seconds:g} s and was ended"
    return Refused(message, ": --time-limit gives it more")


def _refusal(error: Neo4jError, seconds: float | None) -> FabulaError:
    if error.code == READ_ONLY:
        return Refused(WRITES, WRITE_HINT)
    if error.code == TIMED_OUT:
        return _too_slow(seconds or PLANNING_SECONDS)
    if is_out_of_memory(error):
        return Refused(out_of_memory_message("The query"), f". {MEMORY_ADVICE}")
    message = (error.message or str(error)).strip().splitlines()[0]
    return Refused(f"Neo4j refused the query: {message.removesuffix('.')}")
