"""Statements of the user's own: the server itself refuses them writes, and values come plain."""

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
from fabula.graph.queries import index_name, query
from fabula.graph.statements import MAX_CHARACTERS, refuse_large
from fabula.store import Store
from fabula.store.wording import MEMORY_ADVICE, in_words, is_out_of_memory, out_of_memory

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
PLANNING_SECONDS = 60.0
"""How long a plan may take where the query itself has no limit."""
GRACE_SECONDS = 3.0
"""How long the server has to say itself that a limit is over, before its connection is closed."""
MAX_SENT_BYTES = 64 * 2**20
"""What the server may send where the result is bounded: embeddings count, which are not told."""
EMBEDDING = 32
"""Numbers in a list that is told by its length alone, as no person reads it."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a statement returned, and what it changed, by Neo4j's own names of the counters.

    Cells are what JSON holds. A node is {id, labels, properties}, a relationship {type, from, to,
    properties}, whose ends are ids of nodes, and a path {nodes, relationships}; these ids are the
    server's own. An embedding is told by its dimensions, and a time is ISO text. `cut` says by
    which limit rows were left out, '' where they are all there.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    changes: Mapping[str, int]
    cut: Literal["", "rows", "bytes"] = ""


def run(
    store: Store,
    statement: str,
    parameters: Mapping[str, Any],
    *,
    write: bool = False,
    seconds: float | None = None,
    most: int | None = None,
    most_bytes: int | None = None,
) -> Table:
    """Runs one statement, which may only read the graph unless `write`.

    It ends after `seconds`, on the server too, as it does at Ctrl-C, and after `most` rows or
    `most_bytes` of them as JSON, which are counted where `most` is given. Raises Refused, in one
    line, for what the server refuses, for what its plan does beside reading the graph, and for a
    first row that is larger than all of the answer may be.

    A statement that names the vector index `passage_vectors_256` and takes a collection reads that
    collection's own index, whatever its dimensions; it has no rows where the collection has none.
    """
    # Who may write may bring a script that creates a graph: it is long, and not deep.
    refuse_large(statement, None if write else MAX_CHARACTERS)
    collection = parameters.get("collection")
    if INDEX in statement and isinstance(collection, str):
        space = store.space(collection)
        if space is None:
            return Table((), (), {})
        statement = statement.replace(INDEX, space.index)
    tag = uuid.uuid4().hex
    limit = _Limit(seconds or PLANNING_SECONDS)
    access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
    with (
        in_words("the query"),
        store.driver() as driver,
        driver.session(database=store._database, default_access_mode=access) as session,
    ):
        try:
            if not write:
                _refuse_functions(statement)
                with limit.over(session):
                    told = f"EXPLAIN {statement}"
                    planned = neo4j.Query(told, metadata={TAG: tag}, timeout=limit.left())
                    _refuse_by_plan(session.run(planned, dict(parameters)).consume())
            timeout = limit.left() if seconds else None
            tagged = neo4j.Query(statement, metadata={TAG: tag}, timeout=timeout)
            if most is None or most_bytes is None:
                result = session.run(tagged, dict(parameters))
                rows = tuple(_plain_row(record) for record in result)
                cut: Literal["", "rows", "bytes"] = ""
            else:
                with limit.over(session):
                    result = session.run(tagged, dict(parameters))
                    rows, cut = _read_rows(session, result, most, most_bytes)
            columns = tuple(result.keys())
            counters = result.consume().counters if not cut else None
        except KeyboardInterrupt:
            _terminate(store, tag)
            # Else closing the session waits for the server, which ends no expression half-way.
            session._handle_cancellation()  # type: ignore[no-untyped-call]
            raise
        except RecursionError as error:
            # The driver's or our own reading of a value; what follows it can't be read any more.
            _close(session)
            raise Refused("The answer has lists or maps that are nested too deep") from error
        except Neo4jError as error:
            raise _refused(error, seconds) from error
        except DriverError as error:
            if limit.is_over:
                raise _too_slow(limit.seconds) from error
            raise
    counts = sorted(vars(counters).items()) if counters else []
    changes = {name: count for name, count in counts if count and name[0] != "_"}
    return Table(columns, rows, changes, cut)


class _Limit:
    """The time that a statement has, its planning included.

    The server ends a transaction after its timeout, but looks at that only between rows, and never
    answers where planning overflows its stack. Then the connection is closed from here, so that
    whoever waits, and whoever waits for them, goes on.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds
        self.is_over = False

    def left(self) -> float:
        """Seconds that are left, for the server: it takes 0 for no limit."""
        return max(self._ends - time.monotonic(), 0.001)

    @contextmanager
    def over(self, session: neo4j.Session) -> Iterator[None]:
        """Close the session's connection once the time is over."""

        def end() -> None:
            self.is_over = True
            _close(session)

        timer = threading.Timer(self.left() + GRACE_SECONDS, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _close(session: neo4j.Session) -> None:
    """Close a session's connection at once, from any thread; the driver has no public way to."""
    connection = session._connection
    if connection is not None:
        connection.kill()  # type: ignore[no-untyped-call]


def _read_rows(
    session: neo4j.Session, result: neo4j.Result, most: int, most_bytes: int
) -> tuple[tuple[tuple[Any, ...], ...], Literal["", "rows", "bytes"]]:
    """Return the rows of a result as far as they may be told, and what cut them off.

    What is left of a result that is cut is not read: its connection is closed instead.
    """
    rows: list[tuple[Any, ...]] = []
    cut: Literal["", "rows", "bytes"] = ""
    size = 0
    with _counted(session) as sent:
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
        _close(session)
    if cut == "bytes" and not rows:
        raise Refused(
            f"The first row of the answer is larger than {most_bytes / 1e6:,.0f} MB, which all of "
            "it may have: return less of it"
        )
    return tuple(rows), cut


class _Sent:
    """How much came over a connection."""

    def __init__(self) -> None:
        self.left = MAX_SENT_BYTES

    @property
    def is_too_much(self) -> bool:
        """Whether it was more than may come."""
        return self.left < 0


@contextmanager
def _counted(session: neo4j.Session) -> Iterator[_Sent]:
    """Count what comes over a session's connection, and close it beyond MAX_SENT_BYTES.

    The driver holds a record as a whole before it hands it over, however large it is.
    """
    sent = _Sent()
    connection = session._connection
    if connection is None:
        # The result came whole with the first answer.
        yield sent
        return
    socket = connection.socket
    receive = socket.recv_into

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
    return tuple(plain(cell) for cell in record.values())


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
    with store.driver() as driver, driver.session(database=store._database) as session:
        session.run(query("core/terminate_query"), {"tag": tag}).consume()


def _too_slow(seconds: float) -> Refused:
    told = f"The query took longer than {seconds:g} s and was ended"
    return Refused(told, ": --time-limit gives it more")


def _refused(error: Neo4jError, seconds: float | None) -> FabulaError:
    if error.code == READ_ONLY:
        return Refused(WRITES, ALLOWED)
    if error.code == TIMED_OUT:
        return _too_slow(seconds or PLANNING_SECONDS)
    if is_out_of_memory(error):
        return Refused(out_of_memory("The query"), f". {MEMORY_ADVICE}")
    message = (error.message or str(error)).strip().splitlines()[0]
    return Refused(f"Neo4j refused the query: {message.removesuffix('.')}")
