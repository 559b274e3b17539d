"""Queries for analysts as forms, with their results as tables that link to the books."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.errors import FabulaError
from fabula.export.cells import BOM, format_cell, format_csv
from fabula.graph.explore import query_names, shipped_query
from fabula.graph.hits import NO_LIMIT
from fabula.graph.statements import MAX_CHARACTERS
from fabula.library.collection import Collection
from fabula.operations.kit import find_operation
from fabula.operations.queries import QueryDescription, QueryParameter, QueryResult
from fabula.service.core.errors import status_of
from fabula.service.http.addresses import address
from fabula.service.http.admission import is_cross_site
from fabula.service.http.dependencies import AdminOfAll, Caller, Reader, State
from fabula.service.page.document_choices import list_choices
from fabula.service.page.rendering import show
from fabula.service.state import ServiceState
from fabula.text.names import MAX_NAME_BYTES

router = APIRouter()
FORMAT_PARAMETER = "as"
Name = Annotated[str, Query(max_length=200)]
Format = Annotated[Literal["", "csv", "json"], Query(alias=FORMAT_PARAMETER)]
MIN_HEADING = 12
"""Characters of a query's heading; a shorter beginning of its purpose says too little."""
LINKED_COLUMNS = ("title", "section", "text")
"""Columns that describe the row's document or passage, and therefore link to it too."""
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@router.get("/queries")
def list_queries(request: Request, state: State, caller: Reader, collection: Name = "") -> Response:
    """Show the queries that can be run on a collection."""
    target = _find_collection(state, caller, collection)
    values = {
        "collection": target.name,
        "here": address("queries", collection=target.name),
        "queries": [_describe(QueryDescription.of(shipped_query(name))) for name in query_names()],
        "may_write": caller.may_all,
    }
    return show(request, "queries.html", values)


@router.get("/queries/own")
def run_own(
    request: Request,
    state: State,
    caller: AdminOfAll,
    statement: Annotated[str, Query(max_length=MAX_CHARACTERS)] = "",
    collection: Name = "",
    format: Format = "",
) -> Response:
    """Run an admin's own Cypher statement, which may only read."""
    target = _find_collection(state, caller, collection)
    values: dict[str, Any] = {"collection": target.name, "statement": statement}

    def find() -> QueryResult:
        asked = {"statement": statement, "collection": collection}
        found: QueryResult = state.run_operation(
            caller, find_operation("cypher.statement"), None, asked
        )
        return found

    run = find if statement.strip() else None
    return _answer(request, target, "own_query.html", values, run, format, "query")


@router.get("/queries/{name}")
def show_query(
    request: Request,
    state: State,
    caller: Reader,
    name: str,
    collection: Name = "",
    run: bool = False,
    format: Format = "",
) -> Response:
    """Show the form of a query and, with `run`, its result."""
    target = _find_collection(state, caller, collection)
    shipped = shipped_query(name)
    query = QueryDescription.of(shipped)
    entered = {
        parameter.name: request.query_params[parameter.name]
        for parameter in query.parameters
        # An empty field of a number stands for its default.
        if request.query_params.get(parameter.name)
        or (isinstance(parameter.default, str) and parameter.name in request.query_params)
    }
    values: dict[str, Any] = {
        "collection": target.name,
        "query": query,
        "description": _describe(query),
        "fields": [_field(target, parameter, entered) for parameter in query.parameters],
    }

    def find() -> QueryResult:
        asked = {"query": name, "parameters": shipped.read(entered)}
        found: QueryResult = state.run_operation(caller, find_operation("cypher"), target, asked)
        return found

    return _answer(request, target, "query.html", values, find if run else None, format, name)


def _answer(
    request: Request,
    collection: Collection,
    template: str,
    values: dict[str, Any],
    find: Callable[[], QueryResult] | None,
    format: str,
    name: str,
) -> Response:
    """Render the screen, or return the table alone as a file."""
    status, table, query_error = 200, None, ""
    # A link on another site's page comes with the reader's cookie: it only fills in the query.
    is_led = find is not None and is_cross_site(request)
    if find is not None and not is_led:
        try:
            table = find()
        except FabulaError as error:
            # The form keeps what was entered, so that it can be corrected.
            status, query_error = status_of(error), error.message
            if format or status >= 500:
                raise
    if table is not None and format:
        headers = {"Content-Disposition": f'attachment; filename="{name}.{format}"'}
        if format == "csv":
            text = BOM + format_csv(table.columns, [[*row.values()] for row in table.rows])
        else:
            text = json.dumps(asdict(table), ensure_ascii=False)
        return Response(text, media_type=MEDIA_TYPES[format], headers=headers)
    files = {media: f"?{_file_query(request, media)}" for media in MEDIA_TYPES}
    values |= {"table": table, "query_error": query_error, "files": files, "is_led": is_led}
    if table is not None:
        values["rows"] = _rows(collection, table)
    return show(request, template, values, status)


def _find_collection(state: ServiceState, caller: Caller, name: str) -> Collection:
    """Return the collection of that name; without a name, the usual or the first visible one."""
    if not name:
        visible = state.visible_collections(caller)
        usual = state.default_collection(caller)
        name = usual if usual in visible or not visible else visible[0]
    return state.collection(name, caller)


def _file_query(request: Request, format: str) -> str:
    """Return the query string of the same request for a file."""
    parameters = request.query_params
    items = [item for item in parameters.multi_items() if item[0] != FORMAT_PARAMETER]
    return str(parameters.__class__([*items, (FORMAT_PARAMETER, format)]))


def _describe(query: QueryDescription) -> dict[str, Any]:
    """Split the purpose of a query into a heading and the rest."""
    head, _, rest = query.purpose.rstrip(".").partition(": ")
    if len(head) < MIN_HEADING:
        head, rest = query.purpose.rstrip("."), ""
    draws_picture = "Neo4j Browser" in query.purpose
    return {"name": query.name, "head": head, "rest": rest, "draws_picture": draws_picture}


def _document_choices(collection: Collection, value: str, about: str) -> list[tuple[str, str]]:
    """Return the ids and titles of the documents to choose from; [] if there are too many."""
    documents = list_choices(collection, value)
    # A query's text says what an empty document stands for, such as "'' for all documents".
    return [("", about.partition("'' for ")[2] or "any"), *documents] if documents else []


def _field(
    collection: Collection, parameter: QueryParameter, entered: Mapping[str, str]
) -> dict[str, Any]:
    """Return the form field of a parameter; values that are not text are written as JSON."""
    default = parameter.default
    value = entered.get(
        parameter.name, default if isinstance(default, str) else json.dumps(default)
    )
    if value == str(NO_LIMIT):
        value = ""  # The end of all texts: a number that tells a reader nothing.
    is_document = parameter.name == "document"
    return {
        "name": parameter.name,
        "value": value,
        "choices": _document_choices(collection, value, parameter.about) if is_document else [],
        "about": parameter.about,
        "is_number": isinstance(default, int) and not isinstance(default, bool),
    }


def _rows(collection: Collection, table: QueryResult) -> list[list[dict[str, Any]]]:
    """Return the cells of a table; the ids of documents and passages link to the book."""
    texts = {value for row in table.rows for value in row.values() if isinstance(value, str)}
    ids = sorted(text for text in texts if 0 < len(text) <= MAX_NAME_BYTES)
    places = {
        row["id"]: row["document"]
        for row in collection.open_store().rows(
            "service/find_places", collection=collection.name, ids=ids
        )
    }

    def find_url(value: Any) -> str:
        document = places.get(value) if isinstance(value, str) else None
        if document is None:
            return ""
        passage = "" if value == document else value
        return address("c", collection.name, "d", document, passage=passage)

    rows = []
    for row in table.rows:
        row_url = next((url for value in row.values() if (url := find_url(value))), "")
        rows.append(
            [
                {
                    "text": format_cell(value),
                    "url": find_url(value)
                    or (row_url if column in LINKED_COLUMNS and value else ""),
                    "is_id": bool(find_url(value)),
                    "is_number": isinstance(value, int | float) and not isinstance(value, bool),
                }
                for column, value in row.items()
            ]
        )
    return rows
