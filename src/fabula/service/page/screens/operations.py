"""Screens made from operations: one a group, with a form and a table for each operation.

An operation that changes something is run by a POST alone, which admission refuses if another site
made the browser send it. What destroys something or takes long is described first, with what would
go or what it would cost, and a form that does it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from fabula.errors import FabulaError, Forbidden
from fabula.jobs.callers import ROLES
from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import Job
from fabula.library.collection import Collection
from fabula.operations.kit import (
    Entries,
    Mark,
    Operation,
    Parameter,
    find_operations,
    format_value,
    in_words,
    make_table,
)
from fabula.service.core.errors import status_of
from fabula.service.http.addresses import address, local_path
from fabula.service.http.admission import is_cross_site
from fabula.service.http.dependencies import Caller, Reader, State, state_of
from fabula.service.http.route_rules import declare
from fabula.service.page.cost import show_cost
from fabula.service.page.document_choices import list_choices
from fabula.service.page.rendering import Screen, show
from fabula.service.state import ServiceState
from fabula.text.names import MAX_NAME_BYTES
from fabula.text.nouns import count_noun

END = "100%"
"""The place at the end of a book, by which a reader's bookmark is put aside."""
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml; charset=utf-8",
}
PAGING = ("first", "limit", "after")
"""Parameters that have links, and no fields in the form."""
LABELS = {
    "against": "against the book",
    "at": "their characters",
    "beside": "and",
    "body": "the note",
    "collections": "collections (all if none)",
    "document": "book",
    "quote": "the words",
    "until": "read up to",
}
"""What the page calls parameters in place of their names."""
ROW = re.compile(r"\{(?!collection|document)\w+\}")
"""A parameter in the path of an operation on one row of a table, which leads to its form."""
LONG_CHARACTERS = 4000
"""A text that may be longer than this has several lines in the form."""
PLACE_COLUMNS = ("title", "section", "text")
"""Columns of a query's result that describe the passage of their row, and lead to it."""
Typed = Mapping[str, Sequence[str]]


async def _read_typed(request: Request) -> Typed:
    """Return what was typed into a form, by the names of its fields."""
    values = request.query_params if request.method == "GET" else await request.form()
    return {
        name: [each.replace("\r\n", "\n") for each in values.getlist(name) if isinstance(each, str)]
        for name in values
    }


def _find_collection(request: Request) -> Collection | None:
    """Return the collection of a path that names one. Raises NotFound."""
    name = request.path_params.get("collection")
    return state_of(request).filled_collection(name, request.state.caller) if name else None


def make_screens() -> Sequence[Screen]:
    """Return a screen for each group of the installed operations."""
    groups: dict[str, list[Operation]] = {}
    for operation in find_operations():
        if operation.has_screen:
            groups.setdefault(operation.group, []).append(operation)
    return [_make_screen(group, operations) for group, operations in groups.items()]


def _make_screen(group: str, operations: Sequence[Operation]) -> Screen:
    router = APIRouter()
    has_collection = any(each.has_collection for each in operations)
    path = f"/c/{{collection}}/{group.lower()}" if has_collection else f"/{group.lower()}"
    role = min((each.role for each in operations), key=ROLES.index)
    is_public = role == "read" and all(each.is_public for each in operations if not each.changes)
    router.add_api_route(path, declare(is_public=is_public)(_make_route(group, operations)))
    if any(each.changes for each in operations):
        router.add_api_route(path, _make_route(group, operations), methods=["POST"])
    # A list that takes no time is shown at once.
    is_shown = not (
        operations[0].is_large or any(each.is_required for each in operations[0].offered)
    )
    run = "?run=true" if is_shown and not operations[0].changes else ""
    return Screen(group, path + run, role, True, router, not is_public)


def _make_route(group: str, operations: Sequence[Operation]) -> Callable[..., Response]:
    def show_group(
        request: Request,
        state: State,
        collection: Annotated[Collection | None, Depends(_find_collection)],
        caller: Reader,
        typed: Annotated[Typed, Depends(_read_typed)],
    ) -> Response:
        """Show the form of an operation and, with `run`, its result; or return that as a file."""
        allowed = [each for each in operations if _may(caller, each)]
        named = next(iter(typed.get("tool", ())), "")
        operation = next(
            (each for each in operations if each.name == named), (allowed or operations)[0]
        )
        caller.require(operation.role)
        if not _may(caller, operation):
            raise Forbidden("This needs a key with the role admin for all collections.")
        asked = _Asked(request, typed, collection, operation, allowed)
        found, problem, status = None, "", 200
        try:
            asked.complete()
            if asked.is_previewed:
                return _preview(request, state, caller, asked)
            if asked.is_complete and not asked.is_led:
                result = _run(request, state, caller, asked)
                if isinstance(result, Response):
                    return result
                found = _Found(asked, result)
        except FabulaError as error:
            # The form keeps what was entered, so that it can be corrected.
            problem, status = error.message, status_of(error)
            if asked.format or status >= 500:
                raise
        # A new key is on the page, so no cache may keep what a change has led to.
        headers = {"Cache-Control": "no-store"} if asked.is_post else {}
        return show(
            request,
            "operation.html",
            asked.values_shown(problem) | {"found": found},
            status,
            headers,
        )

    return show_group


def _may(caller: Caller, operation: Operation) -> bool:
    is_for_all = operation.role == "admin" and not operation.has_collection
    return caller.may(operation.role) and (caller.may_all or not is_for_all)


def _run(request: Request, state: ServiceState, caller: Caller, asked: _Asked) -> Any:
    """Return the result of an operation, or the response that leads on, or is a file."""
    operation, values = asked.operation, asked.given
    if asked.format:
        values = operation.without_limit(values)
    collection = asked.collection if operation.has_collection else None
    is_whole = operation.is_work and operation.has_confirmation
    if is_whole and collection and asked.typed("confirmed") != collection.name:
        problem = "That is not the name of this collection: nothing was removed."
        return _preview(request, state, caller, asked, problem)
    # What was chosen is a part of the key: another choice after "Back" is another job.
    once, chosen = asked.typed("once"), sorted(values.items())
    key = Idempotency.of(f"{once} {chosen}", caller, request.url.path, "") if once else None
    result = state.run_operation(caller, operation, collection, values, idempotency=key)
    if asked.format:
        return _make_file(operation, result, asked.format)
    job = result.id if isinstance(result, Job) else getattr(result, "job", "")
    if job and operation.changes:
        return RedirectResponse(address("jobs", job), 303)
    if operation.changes and (to := asked.typed("to")):
        place, mark, fragment = local_path(to).partition("#")
        done = f"{'&' if '?' in place else '?'}done={operation.name}"
        return RedirectResponse(f"{place}{done}{mark}{fragment}", 303)
    return result


def _preview(
    request: Request, state: ServiceState, caller: Caller, asked: _Asked, problem: str = ""
) -> Response:
    """Show what would go, or what work would cost, with the form that does it."""
    operation, collection = asked.operation, asked.collection
    assert collection
    if operation.is_work and not operation.has_confirmation:
        expected = state.estimate_work(caller, operation, collection, asked.given)
        statuses = {each.status for each in expected.items}
        return show_cost(
            request,
            state,
            caller,
            collection,
            expected,
            takes_batches=any(each.name == "batch" for each in operation.offered),
            heading=asked.heading,
            about=operation.description.split("\n\n"),
            outcomes=[each for each in expected.items if each.error][:20],
            unchanged=statuses == {"unchanged"},
            hidden=asked.hidden,
            action=asked.address_of_screen,
            back=asked.back,
        )
    if operation.is_work:
        count = collection.open_store().count(collection.name)[0]
        losses = f"{count_noun(count, 'document')} of the collection {collection.name}"
    else:
        given = asked.given | {"dry_run": True}
        losses = state.run_operation(caller, operation, collection, given).to_text()
    values = asked.values_shown(problem) | {"losses": losses.splitlines()}
    return show(request, "operation.html", values, 400 if problem else 200)


class _Asked:
    """What the address of a screen, or its form, asks for.

    Attributes:
        collection: The collection that the screen is of; None for all.
        operation: The operation whose form is shown.
        allowed: Those of its group that the caller may run.
        values: The values of the operation's parameters, as they were typed.
        is_post: Whether a form was sent that changes something.
        is_run: Whether the operation is to be run, and not only its form shown. What changes
            something is run by its own form.
        is_led: Whether a link on another site led here: it runs nothing, as the browser sends the
            reader's cookie with it.
        format: The kind of file that is wanted in place of a screen; '' for none.
        fields: The parameters that the form has fields for.
        about: What the values of a mapping are for, and a text to be copied; none without one.
    """

    def __init__(
        self,
        request: Request,
        typed: Typed,
        collection: Collection | None,
        operation: Operation,
        allowed: Sequence[Operation],
    ) -> None:
        self._typed, self.collection, self.operation = typed, collection, operation
        self.allowed = allowed
        self.values = {
            each.name: value
            for each in operation.offered
            if (value := self._read(each)) or (value == "" and self._empties(each))
        }
        self.fields = [
            each
            for each in operation.offered
            if each.name not in (*PAGING, "dry_run", "batch") and not each.is_mapping
        ]
        self._entries: dict[str, Any] = {}
        self.about: Sequence[str] = ()
        self.is_post = request.method == "POST"
        self.has_preview = operation.is_work or operation.has_confirmation
        self.is_run = bool(typed.get("run")) and self.is_post <= operation.changes
        self.is_led = self.is_run and is_cross_site(request)
        kind = self.typed("as")
        self.format = kind if kind in self.kinds else ""

    def typed(self, name: str) -> str:
        """Return what one field has; '' if there is none."""
        return next(iter(self._typed.get(name, ())), "")

    def _read(self, parameter: Parameter) -> Any:
        given = self._typed.get(parameter.name)
        if given is None:
            return None
        if parameter.is_list:
            lines = [line.strip() for each in given for line in each.splitlines()]
            return tuple(filter(None, lines))
        return given[-1].strip() if given else ""

    def _empties(self, parameter: Parameter) -> bool:
        """Whether an empty field of a form empties what is there, and does not leave it."""
        is_text = parameter.type is str and parameter.default is None
        return self.operation.changes and is_text and not parameter.has(Mark.NAMES_DOCUMENT)

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of files that a result can be; what changed something is not run again."""
        kinds = [kind for kind in MEDIA_TYPES if kind != "svg" or self.operation.is_drawn]
        return () if self.operation.changes else kinds

    def complete(self) -> None:
        """Put the document's id in place of its title, and find the entries of a mapping.

        Raises:
            NotFound: There is no such document, or nothing that has such entries.
        """
        if self.collection and (document := self.values.get("document")):
            self.values["document"] = self.collection.document(document).id
        elif self.values.get("until") == END:
            # A place is one in a single book; all books are read to their ends anyway.
            del self.values["until"]
        for parameter in self.operation.offered:
            if (entries := parameter.find(Entries)) and not self.lacking:
                self.about = entries.about(self.values)
                listed = entries.fields(self.values)
                self.fields = [*self.fields, *listed]
                names = [each.name for each in listed if each.name in self._typed]
                self._entries = {name: self.typed(name) for name in names}
                self.values[parameter.name] = entries.read(self.values, self._entries)

    @property
    def given(self) -> dict[str, Any]:
        """The values that the operation is run with."""
        batch = {"batch": True} if self.typed("by_batch") else {}
        return self.values | batch

    @property
    def lacking(self) -> str:
        """The name in words of a parameter that must still be given; '' if there is none."""
        lacking = (each.name for each in self.operation.offered if each.is_required)
        return next((in_words(name) for name in lacking if name not in self.values), "")

    @property
    def is_complete(self) -> bool:
        """Whether there is something to run."""
        is_own = self.is_post == self.operation.changes
        return self.is_run and is_own and not self.lacking

    @property
    def is_previewed(self) -> bool:
        """Whether it is to be said first what would be done."""
        is_asked = self.is_run and not self.is_post and not self.lacking
        return self.has_preview and is_asked and not self.is_led

    def value(self, parameter: Parameter) -> str:
        """Return what stands in the field of a parameter."""
        default = "" if parameter.default in (..., None) else parameter.default
        value = (self.values | self._entries).get(parameter.name, default)
        return "\n".join(value) if isinstance(value, tuple) else str(value)

    def number(self, name: str) -> int:
        """Return the number that a parameter has."""
        [default] = [each.default for each in self.operation.offered if each.name == name]
        return int(self.values.get(name, default))

    @property
    def heading(self) -> str:
        """The operation, and what it is about, in a few words."""
        named = [str(self.values.get(name, "")) for name in self.operation.positional[:1]]
        return " ".join([self.operation.title or self.operation.summary, *filter(None, named)])

    @property
    def hidden(self) -> Mapping[str, str]:
        """The fields of a form that does what was described."""
        own = {each.name: self.value(each) for each in self.fields if each.name in self.values}
        return {"tool": self.operation.name, "run": "true", "to": self.typed("to"), **own}

    @property
    def back(self) -> str:
        """Where a form that is not sent leads."""
        return local_path(self.typed("to") or self.address(run=""))

    @property
    def address_of_screen(self) -> str:
        """The address of the screen, without what is asked."""
        place = ("c", self.collection.name) if self.collection else ()
        return address(*place, self.operation.group.lower())

    def address(self, operation: Operation | None = None, **changed: Any) -> str:
        """Return the address of the screen for an operation, with some values changed."""
        operation = operation or self.operation
        names = [each.name for each in operation.offered if each.name not in PAGING]
        names = [name for name in names if not isinstance(self.values.get(name), dict)]
        values = {name: self.values[name] for name in names if name in self.values} | changed
        required = [each.name for each in operation.offered if each.is_required]
        values = {"run": "true" if all(name in values for name in required) else ""} | values
        if operation is self.operation:
            values = self._entries | values
        lines = {name: "\n".join(v) if isinstance(v, tuple) else v for name, v in values.items()}
        place = ("c", self.collection.name) if self.collection else ()
        return address(*place, operation.group.lower(), tool=operation.name, **lines)

    def entity_address(self, document: str, entity: str) -> str:
        """Return the address of the screen of a person, place or thing, known as far as this is."""
        assert self.collection
        book = ("c", self.collection.name, "d", document)
        return address(*book, "entities", entity, until=self.values.get("until", ""))

    @property
    def tabs(self) -> list[tuple[Operation, str]]:
        """The operations that the screen leads to, and those on the same row as this one."""
        row = set(ROW.findall(self.operation.path))
        rows = [(each, set(ROW.findall(each.path))) for each in self.allowed]
        return [(each, self.address(each)) for each, own in rows if not own or own == row]

    def values_shown(self, problem: str = "") -> dict[str, Any]:
        """Return the values of the template."""
        collection, operation = self.collection, self.operation
        document = str(self.values.get("document", ""))
        return {
            "collection": collection.name if collection else "",
            "group": operation.group,
            "operation": operation,
            "labels": LABELS,
            "has_place": any(each.name == "until" for each in operation.offered),
            "kind": field_kind,
            "asked": self,
            "documents": list_choices(collection, document) if collection else [],
            "problem": problem,
        }


class _Found:
    """A result as the template shows it."""

    def __init__(self, asked: _Asked, result: Any) -> None:
        self.table = table = make_table(result)
        self._asked, self.operations = asked, {each.name: each for each in asked.allowed}
        is_prose = hasattr(result, "to_text") and not hasattr(result, "rows")
        self.text = result.to_text() if is_prose else ""
        self.hint = result.to_hint() if is_prose and hasattr(result, "to_hint") else ""
        self.facts = {name: format_value(value) for name, value in table.facts.items() if value}
        names = {each.name for each in asked.operation.offered}
        self.first = asked.number("first") if "first" in names else 0
        self.last = self.first + len(table.rows)
        limit = asked.number("limit") if "limit" in names else 0
        self.previous = asked.address(first=max(self.first - limit, 0)) if self.first else ""
        more = "first" in names and self.last < (table.total or 0)
        self.next = asked.address(first=self.last) if more else ""
        if table.next:
            self.next = asked.address(after=table.next)
        self.files = [(kind, f"{asked.address()}&as={kind}") for kind in asked.kinds]
        self.drawn = dict(self.files).get("svg", "") if table.rows else ""
        self._places = self._find_places() if hasattr(result, "columns") else {}

    def _find_places(self) -> Mapping[str, str]:
        """Return the documents of the ids of documents and passages that cells have."""
        collection = self._asked.collection
        cells = {cell for row in self.table.rows for cell in row.values() if isinstance(cell, str)}
        ids = sorted(cell for cell in cells if 0 < len(cell) <= MAX_NAME_BYTES)
        if not (collection and ids):
            return {}
        store = collection.open_store()
        rows = store.rows("service/find_places", collection=collection.name, ids=ids)
        return {row["id"]: row["document"] for row in rows}

    def link(self, row: Any, name: str, opens: str) -> str:
        """Return the address that a cell leads to; '' if it leads nowhere."""
        if isinstance(row, Mapping):
            ids = [each for each in row.values() if isinstance(each, str) and each in self._places]
            own = [each for each in ids if each == row[name]]
            return self._passage_address((own or (ids if name in PLACE_COLUMNS else [""]))[:1])
        if opens == "entity":
            return self._asked.entity_address(row.document, row.id)
        operation = self.operations.get(opens)
        if operation is None:
            return ""
        *others, last = operation.positional
        if operation.changes:
            # Its form has what is there, to be changed.
            others = [each.name for each in operation.offered]
        titles = {column.title: column.name for column in self.table.columns}
        fields = {each: each if hasattr(row, each) else titles.get(each, "") for each in others}
        given = {each: getattr(row, field) for each, field in fields.items() if field}
        return self._asked.address(operation, **given | {last: getattr(row, name)})

    def _passage_address(self, ids: Sequence[str]) -> str:
        document = self._places.get(ids[0], "") if ids else ""
        if not (document and self._asked.collection):
            return ""
        passage = "" if ids[0] == document else ids[0]
        return address("c", self._asked.collection.name, "d", document, passage=passage)


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
    if parameter.is_list or parameter.bounds.get("max_length", 0) > LONG_CHARACTERS:
        return "lines"
    return "number" if parameter.type is int else "text"
