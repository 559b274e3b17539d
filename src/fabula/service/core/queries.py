"""Run the shipped queries and an admin's own Cypher, read-only and limited in time and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any, Literal

from fabula.app.collection import Collection
from fabula.errors import Refused
from fabula.graph.explore import AnalystQuery, parse_query, query_names, shipped_query
from fabula.service.core.errors import Problem, TooManyRequests
from fabula.service.core.views import View
from fabula.store import Store
from fabula.store.user_query import QueryTable, run_user_query

Slots = BoundedSemaphore
"""How many queries may run at once in this process (`serve.queries_at_once`)."""
MAX_SECONDS = 30.0
"""How long a query may take."""
MAX_ROWS = 1000
"""How many rows are returned at most."""
MAX_BYTES = 8_000_000
"""The largest size of all rows together as JSON."""
SLOT_WAIT_SECONDS = 5.0
"""How long a query waits for a slot before it is refused."""
COLLECTION = "collection"
"""The parameter whose value is the collection of the path."""


class ParameterView(View):
    """A parameter of a query."""

    name: str
    default: Any
    about: str


class QueryView(View):
    """A shipped query; `no_rows` is why it may find nothing."""

    name: str
    purpose: str
    parameters: list[ParameterView]
    no_rows: str
    statement: str


class TableView(View):
    """The result of a query. Cells are JSON values.

    `truncated` is whether there were more rows, and `cut_by` which limit left them out: "rows"
    (1,000 at most) or "bytes" (8 MB as JSON). If there are no rows, `why` says what may be missing.
    """

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool
    cut_by: Literal["rows", "bytes"] | None
    why: str


def queries() -> list[QueryView]:
    """Return the queries that come with Fabula, by name."""
    return [_view(shipped_query(name)) for name in query_names()]


def find_query(name: str) -> QueryView:
    """Return a shipped query by its name. Raises NotFound."""
    return _view(shipped_query(name))


def run_query(
    slots: Slots, collection: Collection, name: str, parameters: Mapping[str, Any]
) -> TableView:
    """Run a shipped query on a collection.

    Raises:
        NotFound: There is no query of that name.
        FabulaError: A parameter is unknown, missing or of another type.
        TooManyRequests: Too many other queries are running.

    """
    if COLLECTION in parameters:
        raise Problem("The collection is given by the path: leave out the parameter `collection`.")
    query = shipped_query(name)
    values = query.fill({COLLECTION: collection.name, **parameters})
    read, values = collection.resolve_place(values)
    return _run(slots, read.store, query, values, read.hide_unread_rows)


def run_statement(
    slots: Slots, store: Store, statement: str, parameters: Mapping[str, Any]
) -> TableView:
    """Run an admin's own statement on the whole graph, across all collections."""
    query = parse_query(statement)
    return _run(slots, store, query, query.fill(parameters))


def _run(
    slots: Slots,
    store: Store,
    query: AnalystQuery,
    values: Mapping[str, Any],
    hide: Callable[[QueryTable], QueryTable] = lambda table: table,
) -> TableView:
    with _slot(slots):
        try:
            table = hide(
                run_user_query(
                    store,
                    query.statement,
                    values,
                    timeout_seconds=MAX_SECONDS,
                    max_rows=MAX_ROWS,
                    max_bytes=MAX_BYTES,
                )
            )
        except Refused as error:
            raise Problem(error.message) from error
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
    if not slots.acquire(timeout=SLOT_WAIT_SECONDS):
        raise TooManyRequests(
            "Other queries are running: try again in a moment.", SLOT_WAIT_SECONDS
        )
    try:
        yield
    finally:
        slots.release()


def _view(query: AnalystQuery) -> QueryView:
    return QueryView(
        name=query.name,
        purpose=query.purpose,
        parameters=[
            ParameterView(name=parameter.name, default=parameter.default, about=parameter.about)
            for parameter in query.parameters
            if parameter.name != COLLECTION
        ],
        no_rows=query.no_rows,
        statement=query.statement,
    )
