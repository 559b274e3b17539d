"""Screens made from operations: one a group, with a form and a table for each operation.

An operation that changes something is run by a POST alone, which admission refuses if another site
made the browser send it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from fabula.errors import FabulaError
from fabula.library.collection import Collection
from fabula.operations.kit import (
    Mark,
    Operation,
    Parameter,
    Table,
    find_operations,
    format_value,
    in_words,
    make_table,
)
from fabula.service.core.errors import status_of
from fabula.service.http.addresses import address
from fabula.service.http.admission import is_cross_site
from fabula.service.http.dependencies import ROLES, FilledCollection, Reader, State
from fabula.service.http.route_rules import declare
from fabula.service.page.document_choices import list_choices
from fabula.service.page.rendering import show
from fabula.service.page.screen import Screen

END = "100%"
"""The place at the end of a book, by which a reader's bookmark is put aside."""
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml; charset=utf-8",
}
PAGING = ("first", "limit")
"""Parameters that have links, and no fields in the form."""
LABELS = {"document": "book", "until": "read up to", "against": "against the book", "beside": "and"}
"""What the page calls parameters in place of their names."""


async def _read_typed(request: Request) -> Mapping[str, str]:
    """Return what was typed into a form, by the names of its fields."""
    values = request.query_params if request.method == "GET" else await request.form()
    return {name: value for name, value in values.items() if isinstance(value, str)}


Typed = Annotated[Mapping[str, str], Depends(_read_typed)]


def make_screens() -> Sequence[Screen]:
    """Return a screen for each group of the installed operations on a collection."""
    groups: dict[str, list[Operation]] = {}
    for operation in find_operations():
        if operation.has_screen and operation.has_collection:
            groups.setdefault(operation.group, []).append(operation)
    return [_make_screen(group, operations) for group, operations in groups.items()]


def _make_screen(group: str, operations: Sequence[Operation]) -> Screen:
    router = APIRouter()
    path = f"/c/{{collection}}/{group.lower()}"
    role = min((each.role for each in operations), key=ROLES.index)
    is_public = role == "read" and all(each.is_public for each in operations if not each.changes)
    router.add_api_route(path, declare(is_public=is_public)(_make_route(group, operations)))
    if any(each.changes for each in operations):
        router.add_api_route(path, _make_route(group, operations), methods=["POST"])
    return Screen(group, path, role, needs_books=True, for_members=not is_public, router=router)


def _make_route(group: str, operations: Sequence[Operation]) -> Callable[..., Response]:
    def show_group(
        request: Request, state: State, collection: FilledCollection, caller: Reader, typed: Typed
    ) -> Response:
        """Show the form of an operation and, with `run`, its result; or return that as a file."""
        allowed = [each for each in operations if caller.may(each.role)]
        named = typed.get("tool", "")
        operation = next(
            (each for each in operations if each.name == named), (allowed or operations)[0]
        )
        caller.require(operation.role)
        asked = _Asked(request, typed, collection, operation)
        result, problem, status = None, "", 200
        try:
            asked.find_document()
            if asked.is_complete and not asked.is_led:
                values = operation.without_limit(asked.values) if asked.format else asked.values
                result = state.run_operation(caller, operation, collection, values)
        except FabulaError as error:
            # The form keeps what was entered, so that it can be corrected.
            problem, status = error.message, status_of(error)
            if asked.format or status >= 500:
                raise
        if result is not None and asked.format:
            return _make_file(operation, result, asked.format)
        shown = {
            "collection": collection.name,
            "group": group,
            "operation": operation,
            "tools": [(each, asked.address(each)) for each in allowed],
            "fields": [each for each in operation.offered if each.name not in PAGING],
            "labels": LABELS,
            "has_place": any(each.name == "until" for each in operation.offered),
            "kind": field_kind,
            "asked": asked,
            "documents": list_choices(collection, asked.values.get("document", "")),
            "problem": problem,
            "found": _Found(asked, operations, make_table(result)) if result is not None else None,
        }
        return show(request, "operation.html", shown, status)

    return show_group


class _Asked:
    """What the address of a screen asks for.

    Attributes:
        operation: The operation whose form is shown.
        values: The values of the operation's parameters, as they were typed.
        is_run: Whether the operation is to be run, and not only its form shown. What changes
            something is run by its own form.
        is_led: Whether a link on another site led here: it runs nothing, as the browser sends the
            reader's cookie with it.
        format: The kind of file that is wanted in place of a screen; '' for none.
    """

    def __init__(
        self,
        request: Request,
        typed: Mapping[str, str],
        collection: Collection,
        operation: Operation,
    ) -> None:
        self._collection, self.operation = collection, operation
        names = [each.name for each in operation.offered]
        self.values = {name: typed[name].strip() for name in names if typed.get(name, "").strip()}
        is_own = (request.method == "POST") == operation.changes
        self.is_run = bool(typed.get("run")) and is_own
        self.is_led = self.is_run and is_cross_site(request)
        kind = typed.get("as", "")
        self.format = kind if kind in self.kinds else ""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of files that a result can be; what changed something is not run again."""
        kinds = [kind for kind in MEDIA_TYPES if kind != "svg" or self.operation.is_drawn]
        return () if self.operation.changes else kinds

    def find_document(self) -> None:
        """Put the document's id in place of its title. Raises NotFound."""
        if document := self.values.get("document"):
            self.values["document"] = self._collection.document(document).id
        elif self.values.get("until") == END:
            # A place is one in a single book; all books are read to their ends anyway.
            del self.values["until"]

    @property
    def lacking(self) -> str:
        """The name in words of a parameter that must still be given; '' if there is none."""
        lacking = (each.name for each in self.operation.offered if each.is_required)
        return next((in_words(name) for name in lacking if name not in self.values), "")

    @property
    def is_complete(self) -> bool:
        """Whether there is something to run."""
        return self.is_run and not self.lacking

    def value(self, parameter: Parameter) -> str:
        """Return what stands in the field of a parameter."""
        default = "" if parameter.default in (..., None) else parameter.default
        return str(self.values.get(parameter.name, default))

    def number(self, name: str) -> int:
        """Return the number that a parameter has."""
        [default] = [each.default for each in self.operation.offered if each.name == name]
        return int(self.values.get(name, default))

    def address(self, operation: Operation | None = None, **changed: Any) -> str:
        """Return the address of the screen for an operation, with some values changed."""
        operation = operation or self.operation
        names = [each.name for each in operation.offered if each.name not in PAGING]
        values = {name: self.values[name] for name in names if name in self.values} | changed
        required = [each.name for each in operation.offered if each.is_required]
        run = "true" if all(name in values for name in required) else ""
        path = ("c", self._collection.name, operation.group.lower())
        return address(*path, tool=operation.name, **values, run=run)

    def entity_address(self, document: str, entity: str) -> str:
        """Return the address of the screen of a person, place or thing, known as far as this is."""
        book = ("c", self._collection.name, "d", document)
        return address(*book, "entities", entity, until=self.values.get("until", ""))


class _Found:
    """A result as the template shows it."""

    def __init__(self, asked: _Asked, operations: Sequence[Operation], table: Table) -> None:
        self.table = table
        self._asked, self.operations = asked, {each.name: each for each in operations}
        self.facts = {name: format_value(value) for name, value in table.facts.items() if value}
        names = {each.name for each in asked.operation.offered}
        self.first = asked.number("first") if "first" in names else 0
        self.last = self.first + len(table.rows)
        limit = asked.number("limit") if "limit" in names else 0
        self.previous = asked.address(first=max(self.first - limit, 0)) if self.first else ""
        more = "first" in names and self.last < (table.total or 0)
        self.next = asked.address(first=self.last) if more else ""
        self.files = [(kind, f"{asked.address()}&as={kind}") for kind in asked.kinds]
        self.drawn = dict(self.files).get("svg", "") if table.rows else ""

    def link(self, row: Any, name: str, opens: str) -> str:
        """Return the address that a cell leads to; '' if it leads nowhere."""
        if opens == "entity":
            return self._asked.entity_address(row.document, row.id)
        operation = self.operations.get(opens)
        if operation is None:
            return ""
        return self._asked.address(operation, **{operation.positional[0]: getattr(row, name)})


def _make_file(operation: Operation, result: Any, format: str) -> Response:
    """Return a result as JSON, as a picture, or its rows as CSV, which Excel reads as UTF-8."""
    if format == "csv":
        text = operation.to_csv(result, bom=True)
    elif format == "svg":
        text = result.to_svg()
    else:
        text = json.dumps(operation.to_json(result), ensure_ascii=False)
    headers = {
        "Content-Disposition": f'attachment; filename="{operation.name}.{format}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    content = text.encode("utf-8", "surrogatepass")
    return Response(content, media_type=MEDIA_TYPES[format], headers=headers)


def field_kind(parameter: Parameter) -> str:
    """Return which field of a form a parameter has."""
    if parameter.has(Mark.NAMES_DOCUMENT):
        return "document"
    if parameter.is_flag:
        return "check"
    if parameter.choices:
        return "choice"
    return "number" if parameter.type is int else "text"
