"""The analysts' queries and an admin's own Cypher: read-only, bounded in time and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any, Literal

from fabula.app.collection import Collection
from fabula.errors import Refused
from fabula.graph.explore import Query, names, parse, shipped
from fabula.service.core.errors import Problem, TooMany
from fabula.service.core.views import View
from fabula.store import Store
from fabula.store.reading import run

Slots = BoundedSemaphore
"""How many queries may run at once in this process (`serve.queries_at_once`)."""
SECONDS = 30.0
"""That a query may take."""
ROWS = 1000
"""That are told at most."""
BYTES = 8_000_000
"""That all rows together may have as JSON."""
WAIT = 5.0
"""Seconds that a query waits for its turn; then the caller is told to come again."""
COLLECTION = "collection"
"""The parameter that the path fills in."""


class ParameterView(View):
    """What a query is given: its default, and what it is."""

    name: str
    default: Any
    about: str


class QueryView(View):
    """A query of the analysts'. `no_rows` is why it may find nothing."""

    name: str
    purpose: str
    parameters: list[ParameterView]
    no_rows: str
    statement: str


class TableView(View):
    """What a query found. A cell is what JSON holds.

    `truncated` is whether there were more rows, and `cut_by` which limit left them out: "rows", of
    which there are 1,000 at most, or "bytes", 8 MB of them as JSON. `why` tells, where there are no
    rows, what may be missing.
    """

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool
    cut_by: Literal["rows", "bytes"] | None
    why: str


def queries() -> list[QueryView]:
    """Those that come with Fabula, by name; their collection is that of the path."""
    return [_view(shipped(name)) for name in names()]


def find_query(name: str) -> QueryView:
    """The query of that name. Raises NotFound."""
    return _view(shipped(name))


def run_query(
    slots: Slots, shelf: Collection, name: str, parameters: Mapping[str, Any]
) -> TableView:
    """What a query of the analysts' finds in a collection. Raises NotFound, and FabulaError for a
    parameter.
    """
    if COLLECTION in parameters:
        raise Problem("The collection is that of the path: leave the parameter out.")
    query = shipped(name)
    return _run(slots, shelf.store, query, {COLLECTION: shelf.name, **parameters})


def run_statement(
    slots: Slots, store: Store, statement: str, parameters: Mapping[str, Any]
) -> TableView:
    """What a statement of somebody's own finds in the whole graph, of all collections."""
    return _run(slots, store, parse(statement), parameters)


def _run(slots: Slots, store: Store, query: Query, parameters: Mapping[str, Any]) -> TableView:
    values = query.fill(parameters)
    with _slot(slots):
        try:
            table = run(
                store, query.statement, values, seconds=SECONDS, most=ROWS, most_bytes=BYTES
            )
        except Refused as error:
            raise Problem(error.why) from error
    return TableView(
        columns=list(table.columns),
        rows=[list(row) for row in table.rows],
        truncated=bool(table.cut),
        cut_by=table.cut or None,
        why="" if table.rows else query.no_rows,
    )


@contextmanager
def _slot(slots: Slots) -> Iterator[None]:
    """Take one of the few slots for queries, so that no question has to wait for Neo4j."""
    if not slots.acquire(timeout=WAIT):
        raise TooMany("Other queries are running: try again in a moment.", WAIT)
    try:
        yield
    finally:
        slots.release()


def _view(query: Query) -> QueryView:
    return QueryView(
        name=query.name,
        purpose=query.purpose,
        parameters=[
            ParameterView(name=one.name, default=one.default, about=one.about)
            for one in query.parameters
            if one.name != COLLECTION
        ],
        no_rows=query.no_rows,
        statement=query.statement,
    )
