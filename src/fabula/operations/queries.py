"""Run the queries for analysts that come with Fabula, and statements of admins; list queries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from fabula.errors import BadValue
from fabula.graph.explore import COLLECTION, AnalystQuery, parse_query, query_names, shipped_query
from fabula.graph.hits import NO_LIMIT
from fabula.graph.statements import MAX_CHARACTERS
from fabula.operations.kit import Asker, Column, Entries, Hidden, Mark, Parameter, operation
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
MAX_CELL_CHARACTERS = 2000
"""With how many characters an assistant gets a text in a cell."""
MAX_CELL_ITEMS = 50
"""With how many items an assistant gets a list in a cell."""
EVERYTHING = (
    "the whole graph: a statement of one's own is restricted to a collection only by what it says"
)
MaxRows = Annotated[int, Field(ge=1, le=MAX_ROWS, description="rows at most")]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS, description="seconds that it may take")]


def _list_names(schema: dict[str, Any]) -> None:
    """Name the queries in the schema of a parameter, from which assistants choose."""
    schema["enum"] = query_names()


@dataclass(frozen=True)
class QueryParameter:
    """A parameter of a query: its name, its types as JSON has them, its default, and what it is."""

    name: str
    types: Annotated[tuple[str, ...], Hidden]
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

    name: Annotated[str, Column(opens="cypher")]
    purpose: str
    parameters: tuple[QueryParameter, ...]
    no_rows: Annotated[str, Hidden]
    statement: Annotated[str, Hidden]

    @classmethod
    def of(cls, query: AnalystQuery, *, statement: bool = True) -> QueryDescription:
        """Return the description of a query."""
        parameters = tuple(
            QueryParameter(each.name, each.types, each.default, each.about)
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
    title="Find",
    positional=["words"],
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
        reach: What was read: one collection, or the whole graph.
    """

    columns: tuple[str, ...]
    total: int
    rows: tuple[Mapping[str, Any], ...]
    cut_by: Literal["rows", "bytes"] | None
    why: str
    reach: Annotated[str, Hidden] = ""

    @classmethod
    def of(cls, table: QueryTable, query: AnalystQuery, reach: str = "") -> QueryResult:
        """Return the result of a query from its table."""
        rows = tuple(dict(zip(table.columns, row, strict=True)) for row in table.rows)
        why = "" if rows else query.no_rows
        return cls(table.columns, len(rows), rows, table.cut or None, why, reach)

    def shorten(self) -> QueryResult:
        """Return it with long texts and lists cut, as an assistant gets it."""
        rows = tuple({name: _cut(cell) for name, cell in row.items()} for row in self.rows)
        return replace(self, rows=rows)


def _cut(cell: Any) -> Any:
    """Return a cell no longer than an assistant can use; what is left out is counted."""
    match cell:
        case str() if len(cell) > MAX_CELL_CHARACTERS:
            left = len(cell) - MAX_CELL_CHARACTERS
            return f"{cell[:MAX_CELL_CHARACTERS]}… ({left:,} more characters)"
        case list() if len(cell) > MAX_CELL_ITEMS:
            left = len(cell) - MAX_CELL_ITEMS
            return [*map(_cut, cell[:MAX_CELL_ITEMS]), f"… ({left:,} more items)"]
        case list():
            return [*map(_cut, cell)]
        case Mapping():
            cut = {name: _cut(each) for name, each in [*cell.items()][:MAX_CELL_ITEMS]}
            left = len(cell) - len(cut)
            return cut | ({"…": f"{left:,} more"} if left else {})
    return cell


def _describe_query(values: Mapping[str, Any]) -> Sequence[str]:
    """Return what the query that is named is for, and its Cypher."""
    query = shipped_query(values["query"])
    return query.purpose, query.statement


def _list_fields(values: Mapping[str, Any]) -> Sequence[Parameter]:
    """Return the parameters of the query that is named, with their defaults as text or JSON."""
    fields = []
    for each in shipped_query(values["query"]).parameters:
        if each.name != COLLECTION:
            marks: list[Any] = [Field(description=each.about)]
            marks += [Mark.NAMES_DOCUMENT] if each.names_document else []
            default = each.default if isinstance(each.default, str) else json.dumps(each.default)
            # The end of all texts is a number that tells a reader nothing.
            default = "" if each.default == NO_LIMIT else default
            fields.append(Parameter(each.name, Annotated[str, *marks], default))
    return fields


def _read_values(values: Mapping[str, Any], typed: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the values of the query's parameters; an empty number stands for its default."""
    query = shipped_query(values["query"])
    texts = {each.name for each in query.parameters if isinstance(each.default, str)}
    return query.read({name: text for name, text in typed.items() if text or name in texts})


@operation(
    "/collections/{collection}/queries/{query}",
    group=GROUP,
    method="POST",
    positional=["query"],
    title="Run",
    is_query=True,
    max_body_bytes=MAX_QUERY_BODY_BYTES,
    examples=("cypher library", "cypher cast"),
)
def cypher(
    collection: Collection,
    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="the name of a query",
            json_schema_extra=_list_names,
        ),
    ],
    parameters: Annotated[
        Mapping[str, Any],
        Field(max_length=50, description="values of its parameters; others have their defaults"),
        Entries(_describe_query, _list_fields, _read_values),
    ] = {},
    max_rows: MaxRows = MAX_ROWS,
    seconds: Seconds = MAX_SECONDS,
) -> QueryResult:
    """Run a query for analysts on a collection; `queries` lists them with their parameters.

    It only reads this collection, for 30 seconds at most, and has at most 1,000 rows and 8 MB.

    Raises:
        BadValue: A parameter is unknown or missing, or its value has another type.
        NotFound: There is no query of that name, or no such document.
        StoreError: Neo4j refuses it, or it takes too long.
    """
    if COLLECTION in parameters:
        raise BadValue("The collection is given already: leave out the parameter `collection`.")
    shipped = shipped_query(query)
    shipped.refuse_types(parameters)
    table = collection.run_query(
        shipped, parameters, timeout_seconds=seconds, max_rows=max_rows, max_bytes=MAX_BYTES
    )
    return QueryResult.of(table, shipped, f"collection {collection.name}")


@operation(
    "/cypher",
    group=GROUP,
    role="admin",
    method="POST",
    is_query=True,
    max_body_bytes=MAX_QUERY_BODY_BYTES,
    # It reads other collections, and what the service keeps: a text could ask for that.
    is_for_trusted=True,
    title="Your own Cypher",
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
    max_rows: MaxRows = MAX_ROWS,
    seconds: Seconds = MAX_SECONDS,
) -> QueryResult:
    """Run a statement in Cypher on the graph of all collections, for a key of the whole library.

    A statement of one's own can't be restricted to a collection: keys of single collections have
    `cypher` instead, which runs the queries that are ready. One that is named chooses the server,
    and is the parameter $collection of a statement that has one. A statement only reads, for 30
    seconds at most, and has at most 1,000 rows and 8 MB: one that does more is refused.

    Raises:
        NotFound: There is no such collection.
        StoreError: Neo4j refuses it, or it takes too long.
    """
    from fabula.store.user_query import run_user_query

    query = parse_query(statement)
    if collection and COLLECTION in {each.name for each in query.parameters}:
        parameters = {COLLECTION: collection.name, **parameters}
    table = run_user_query(
        collection.open_store() if collection else asker.app.connect(),
        statement,
        query.fill(parameters),
        timeout_seconds=seconds,
        max_rows=max_rows,
        max_bytes=MAX_BYTES,
    )
    return QueryResult.of(table, query, EVERYTHING)
