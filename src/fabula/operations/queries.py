"""Run the queries for analysts that come with Fabula, and statements of admins; list queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from fabula.errors import BadValue
from fabula.graph.explore import COLLECTION, AnalystQuery, parse_query, query_names, shipped_query
from fabula.graph.statements import MAX_CHARACTERS
from fabula.operations.kit import Asker, Column, operation
from fabula.operations.parameters import OtherCollection
from fabula.text.folding import fold_name

if TYPE_CHECKING:
    from fabula.library.collection import Collection
    from fabula.store.user_query import QueryTable

GROUP = "Queries"
MAX_SECONDS = 30.0
"""How long a query may take."""
MAX_ROWS = 1000
"""How many rows are returned at most."""
MAX_BYTES = 8_000_000
"""The largest size of all rows together as JSON."""
MAX_QUERY_BODY_BYTES = 2**20
"""The largest request: values of parameters may be long lists."""
Hidden = Column(is_shown=False)


@dataclass(frozen=True)
class QueryParameter:
    """A parameter of a query: its name, its default, and what it is."""

    name: str
    default: Annotated[Any, Hidden]
    about: Annotated[str, Hidden]


@dataclass(frozen=True)
class QueryDescription:
    """A query for analysts.

    Attributes:
        name: Its name.
        purpose: What it is for.
        parameters: Its parameters, but for the collection.
        no_rows: Why it may find nothing.
        statement: Its Cypher, if that was requested.
    """

    name: str
    purpose: str
    parameters: tuple[QueryParameter, ...]
    no_rows: Annotated[str, Hidden]
    statement: Annotated[str, Hidden]

    @classmethod
    def of(cls, query: AnalystQuery, *, statement: bool = True) -> QueryDescription:
        """Return the description of a query."""
        parameters = tuple(
            QueryParameter(each.name, each.default, each.about)
            for each in query.parameters
            if each.name != COLLECTION
        )
        code = query.statement if statement else ""
        return cls(query.name, query.purpose, parameters, query.no_rows, code)


@dataclass(frozen=True)
class Queries:
    """Queries by their names."""

    total: int
    rows: tuple[QueryDescription, ...]


@operation(
    "/queries",
    group=GROUP,
    positional=["words"],
    has_screen=False,
    examples=("queries", 'queries "turns" --statements --json'),
)
def queries(
    asker: Asker,
    words: Annotated[
        str, Field(max_length=200, description="only queries whose name or purpose has this")
    ] = "",
    statements: Annotated[bool, Field(description="with the Cypher of each")] = False,
) -> Queries:
    """List the queries for analysts, with their purposes and parameters.

    `fabula cypher` runs one, on a collection.
    """
    found = [
        QueryDescription.of(query, statement=statements)
        for query in map(shipped_query, query_names())
        if fold_name(words) in fold_name(f"{query.name} {query.purpose}")
    ]
    return Queries(len(found), tuple(found))


@dataclass(frozen=True)
class QueryResult:
    """What a query found.

    Attributes:
        columns: The names of the columns.
        total: How many rows were found within the limits.
        rows: The rows: values as JSON has them, by the names of the columns. A node is {id, labels,
            properties}, a relationship {type, from, to, properties}, and a path {nodes,
            relationships}.
        cut_by: Which limit left rows out: "rows" or "bytes"; None if they are complete.
        why: Why there may be no rows; '' if there are some.
    """

    columns: tuple[str, ...]
    total: int
    rows: tuple[Mapping[str, Any], ...]
    cut_by: Literal["rows", "bytes"] | None
    why: str

    @classmethod
    def of(cls, table: QueryTable, query: AnalystQuery) -> QueryResult:
        """Return the result of a query from its table."""
        rows = tuple(dict(zip(table.columns, row, strict=True)) for row in table.rows)
        why = "" if rows else query.no_rows
        return cls(table.columns, len(rows), rows, table.cut or None, why)


@operation(
    "/collections/{collection}/queries/{query}",
    group=GROUP,
    method="POST",
    positional=["query"],
    is_query=True,
    max_body_bytes=MAX_QUERY_BODY_BYTES,
    has_screen=False,
    examples=("cypher library", "cypher cast"),
)
def cypher(
    collection: Collection,
    query: Annotated[str, Field(min_length=1, max_length=200, description="the name of a query")],
    parameters: Annotated[
        Mapping[str, Any],
        Field(max_length=50, description="values of its parameters; others have their defaults"),
    ] = {},
) -> QueryResult:
    """Run a query for analysts on a collection; `queries` lists them.

    It only reads, for 30 seconds at most, and has at most 1,000 rows and 8 MB.

    Raises:
        BadValue: A parameter is unknown or missing.
        NotFound: There is no query of that name, or no such document.
        StoreError: Neo4j refuses it, or it takes too long.
    """
    if COLLECTION in parameters:
        raise BadValue("The collection is given already: leave out the parameter `collection`.")
    shipped = shipped_query(query)
    table = collection.run_query(
        shipped, parameters, timeout_seconds=MAX_SECONDS, max_rows=MAX_ROWS, max_bytes=MAX_BYTES
    )
    return QueryResult.of(table, shipped)


@operation(
    "/cypher",
    group=GROUP,
    role="admin",
    method="POST",
    is_query=True,
    max_body_bytes=MAX_QUERY_BODY_BYTES,
    is_recorded=False,
    # It reads other collections, and what the service keeps: a text could ask for that.
    has_tool=False,
    has_screen=False,
    command="cypher statement",
    has_command=False,
)
def run_cypher(
    asker: Asker,
    statement: Annotated[
        str, Field(min_length=1, max_length=MAX_CHARACTERS, description="a statement in Cypher")
    ],
    parameters: Annotated[
        Mapping[str, Any], Field(max_length=50, description="a value for each $name in it")
    ] = {},
    collection: OtherCollection = None,
) -> QueryResult:
    """Run a statement on the graph of all collections, or on the server of the one that is named.

    It only reads, for 30 seconds at most, and has at most 1,000 rows and 8 MB: one that does more
    is refused.

    Raises:
        NotFound: There is no such collection.
        StoreError: Neo4j refuses it, or it takes too long.
    """
    from fabula.store.user_query import run_user_query

    query = parse_query(statement)
    table = run_user_query(
        collection.open_store() if collection else asker.app.connect(),
        statement,
        query.fill(parameters),
        timeout_seconds=MAX_SECONDS,
        max_rows=MAX_ROWS,
        max_bytes=MAX_BYTES,
    )
    return QueryResult.of(table, query)
