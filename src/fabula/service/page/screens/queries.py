"""Queries: the analysts' as forms, what they find as a table that leads into the books."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.app.collection import Collection
from fabula.errors import FabulaError
from fabula.export.cells import cell, table_csv
from fabula.graph.explore import shipped
from fabula.graph.statements import MAX_CHARACTERS
from fabula.service.core import queries
from fabula.service.core.errors import status_of
from fabula.service.core.queries import ParameterView, QueryView, TableView
from fabula.service.http.addresses import address
from fabula.service.http.admission import is_from_elsewhere
from fabula.service.http.dependencies import AdminOfAll, Caller, Reader, TheHouse
from fabula.service.page.rendering import show
from fabula.service.state import House
from fabula.text.names import LONGEST

router = APIRouter()
AS = "as"
Name = Annotated[str, Query(max_length=200)]
As = Annotated[Literal["", "csv", "json"], Query(alias=AS)]
BROWSER = "Neo4j Browser"
DOCUMENT = "document"
SHORTEST = 12
"""Characters of what a query is called by; a shorter beginning of its purpose says too little."""
MOST_CHOSEN = 200
"""Documents that one chooses from; of more, one writes a part of the title."""
LEADING = ("title", "section", "text")
"""Columns that tell of what the row's id is of, and lead there, too."""
KINDS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@router.get("/queries")
def list_queries(
    request: Request, house: TheHouse, caller: Reader, collection: Name = ""
) -> Response:
    """What can be asked of a collection."""
    shelf = _shelf(house, caller, collection)
    values = {
        "collection": shelf.name,
        "here": address("queries", collection=shelf.name),
        "queries": [_told(one) for one in queries.queries()],
        "may_write": caller.may_all,
    }
    return show(request, "queries.html", values)


@router.get("/queries/own")
def own(
    request: Request,
    house: TheHouse,
    caller: AdminOfAll,
    statement: Annotated[str, Query(max_length=MAX_CHARACTERS)] = "",
    collection: Name = "",
    kind: As = "",
) -> Response:
    """An admin's own Cypher, which may only read."""
    shelf = _shelf(house, caller, collection)
    values: dict[str, Any] = {"collection": shelf.name, "statement": statement}
    return _answer(
        request,
        shelf,
        "own.html",
        values,
        (lambda: queries.run_statement(house.query_slots, house.app.store, statement, {}))
        if statement.strip()
        else None,
        kind,
        "query",
    )


@router.get("/queries/{name}")
def ask(
    request: Request,
    house: TheHouse,
    caller: Reader,
    name: str,
    collection: Name = "",
    run: bool = False,
    kind: As = "",
) -> Response:
    """A query's form and, once it is run, what it found."""
    shelf = _shelf(house, caller, collection)
    query = queries.find_query(name)
    given = {
        one.name: request.query_params[one.name]
        for one in query.parameters
        if one.name in request.query_params
    }
    values: dict[str, Any] = {
        "collection": shelf.name,
        "query": query,
        "told": _told(query),
        "fields": [_field(shelf, one, given) for one in query.parameters],
    }

    def find() -> TableView:
        typed = shipped(name).values(given)
        own = {one.name: typed[one.name] for one in query.parameters}
        return queries.run_query(house.query_slots, shelf, name, own)

    return _answer(request, shelf, "query.html", values, find if run else None, kind, name)


def _answer(
    request: Request,
    shelf: Collection,
    template: str,
    values: dict[str, Any],
    find: Any,
    kind: str,
    name: str,
) -> Response:
    """The screen, with the table where one is asked for; or that alone, as a file.

    Where another site's page led here by the reader's cookie nothing is run: what was to be asked
    stands in the form.
    """
    status, table, wrong = 200, None, ""
    is_led = find is not None and is_from_elsewhere(request)
    if find is not None and not is_led:
        try:
            table = find()
        except FabulaError as error:
            # What was typed stays, to be mended.
            status, wrong = status_of(error), str(error)
            if kind or status >= 500:
                raise
    if table is not None and kind:
        headers = {"Content-Disposition": f'attachment; filename="{name}.{kind}"'}
        if kind == "csv":
            text = table_csv(table.columns, table.rows)
        else:
            text = json.dumps(
                [dict(zip(table.columns, row, strict=True)) for row in table.rows],
                ensure_ascii=False,
            )
        return Response(text, media_type=KINDS[kind], headers=headers)
    address_of = {one: f"?{_with(request, one)}" for one in KINDS}
    values |= {"table": table, "wrong": wrong, "files": address_of, "is_led": is_led}
    if table is not None:
        values["rows"] = _rows(shelf, table)
    return show(request, template, values, status)


def _shelf(house: House, caller: Caller, name: str) -> Collection:
    """The collection that is asked: the one named, or the one usually meant."""
    if not name:
        there = house.collections(caller)
        meant = house.usual(caller)
        name = meant if meant in there or not there else there[0]
    return house.collection(name, caller)


def _with(request: Request, kind: str) -> str:
    asked = request.query_params
    return str(asked.__class__([*((k, v) for k, v in asked.multi_items() if k != AS), (AS, kind)]))


def _told(query: QueryView) -> dict[str, Any]:
    """What a query is called, what more its purpose says, and whether it draws a picture."""
    head, _, rest = query.purpose.rstrip(".").partition(": ")
    if len(head) < SHORTEST:
        head, rest = query.purpose.rstrip("."), ""
    return {"name": query.name, "head": head, "rest": rest, "draws": BROWSER in query.purpose}


def _documents(shelf: Collection, value: str, about: str) -> list[tuple[str, str]]:
    """What can be chosen as a document, and how it reads; nothing where there are too many."""
    page = {"after_title": "", "after": "", "limit": MOST_CHOSEN + 1}
    rows = shelf.store.rows("core/find_document_ids", collection=shelf.name, **page)
    if len(rows) > MOST_CHOSEN:
        return []
    there = shelf.store.same(shelf.name, [row["id"] for row in rows])
    titles = {one.id: one.title for one in there}
    chosen = [("", about.partition("'' for ")[2] or "any")]
    chosen += [(row["id"], titles[row["id"]]) for row in rows if row["id"] in titles]
    return chosen if value in dict(chosen) else [*chosen, (value, value)]


def _field(shelf: Collection, one: ParameterView, given: Mapping[str, str]) -> dict[str, Any]:
    """A parameter as a form has it: text as it stands, all else as JSON."""
    default = one.default if isinstance(one.default, str) else json.dumps(one.default)
    value = given.get(one.name, default)
    return {
        "name": one.name,
        "value": value,
        "choices": _documents(shelf, value, one.about) if one.name == DOCUMENT else [],
        "about": one.about,
        "is_number": isinstance(one.default, int) and not isinstance(one.default, bool),
    }


def _rows(shelf: Collection, table: TableView) -> list[list[dict[str, Any]]]:
    """The cells with where they lead: an id of a document or a passage into the book."""
    texts = {one for row in table.rows for one in row if isinstance(one, str)}
    ids = sorted(one for one in texts if 0 < len(one) <= LONGEST)
    found = shelf.store.rows("service/find_places", collection=shelf.name, ids=ids)
    places = {row["id"]: row["document"] for row in found}

    def lead(value: Any) -> str:
        document = places.get(value) if isinstance(value, str) else None
        if document is None:
            return ""
        passage = "" if value == document else value
        return address("c", shelf.name, "d", document, passage=passage)

    rows = []
    for row in table.rows:
        first = next((url for one in row if (url := lead(one))), "")
        rows.append(
            [
                {
                    "text": cell(one),
                    "url": lead(one) or (first if name in LEADING and one else ""),
                    "is_id": bool(lead(one)),
                    "is_number": isinstance(one, int | float) and not isinstance(one, bool),
                }
                for name, one in zip(table.columns, row, strict=True)
            ]
        )
    return rows
