"""An entity of a book, and forms to correct who it is; a correction starts the job that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Request
from fastapi.responses import RedirectResponse, Response

from fabula.app.collection import Collection
from fabula.errors import FabulaError, NotFound
from fabula.graph.entries import Entry
from fabula.graph.hits import Filters
from fabula.graphs.entities.known_until import list_entities, read_known
from fabula.service.core import decisions
from fabula.service.core.decisions import DecidedView, DecisionView
from fabula.service.core.errors import Problem, status_of
from fabula.service.core.views import document_of
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import (
    Caller,
    FilledCollection,
    ReadDocument,
    Reader,
    State,
    Writer,
)
from fabula.service.http.route_rules import declare
from fabula.service.page.reached import describe_reached
from fabula.service.page.rendering import show

router = APIRouter()
GRAPH = "entities"
MAX_SUGGESTIONS = 500
"""Names that the field for a merge suggests."""
Line = Annotated[str, Form(max_length=500)]
Scope = Annotated[Literal["document", "collection"], Form()]
Number = Annotated[int, Path(ge=1, le=10**9)]


@router.get("/c/{collection}/d/{document}/entities/{entity}")
@declare(is_public=True)
def show_entity(
    request: Request,
    collection: ReadDocument,
    document: str,
    caller: Reader,
    entity: str,
) -> Response:
    """Show the names of an entity, the corrections that concern it, and forms to correct it."""
    entry = document_of(collection, document)
    values = _entity_values(collection, entry, entity, caller)
    return show(request, "entity.html", values)


@router.post("/c/{collection}/d/{document}/entities/{entity}/correct")
def correct(
    request: Request,
    state: State,
    collection: FilledCollection,
    document: str,
    caller: Writer,
    entity: str,
    kind: Annotated[Literal["rename", "merge", "split"], Form()],
    scope: Scope = "document",
    name: Line = "",
    names: Annotated[list[Line], Form(max_length=50)] = [],  # noqa: B006
    until: Line = "",
) -> Response:
    """Keep a correction, and lead to the job that follows it.

    If it makes no sense, the form is shown again with the reason.
    """
    entry = document_of(collection, document)
    row = _find_entity(collection, entry, entity)
    given = [line for line in (name.strip(), *names) if line]
    try:
        if not given:
            raise Problem("Enter a name, or choose one.")
        decided = decisions.decide(
            state.jobs,
            state.audit,
            caller,
            collection,
            GRAPH,
            kind,
            [row["key"] if _is_shared(collection, entry, row) else row["name"], *given],
            entry.id if scope == "document" else "",
        )
    except FabulaError as error:
        status = status_of(error)
        if status >= 500:
            raise
        read = collection.as_read(entry.id, until)
        values = _entity_values(read, entry, entity, caller)
        values |= {"failed": kind, "reason": error.message, "entered": name}
        return show(request, "entity.html", values, status)
    return _lead_to_job(decided, address("c", collection.name, "d", entry.id, "entities", entity))


@router.post("/c/{collection}/d/{document}/entities/decisions/{number}/undo")
def undo(
    state: State, collection: FilledCollection, document: str, caller: Writer, number: Number
) -> Response:
    """Undo a correction, and lead to the job that follows that."""
    entry = document_of(collection, document)
    decided = decisions.undo(state.jobs, state.audit, caller, collection, number)
    return _lead_to_job(decided, address("c", collection.name, "d", entry.id, "entities"))


@router.get("/c/{collection}/corrections")
def list_corrections(request: Request, collection: FilledCollection, caller: Reader) -> Response:
    """Show all corrections of a collection, the newest first, also those that were undone."""
    found = [
        decision
        for decision in reversed(decisions.list_decisions(collection))
        if decision.graph == GRAPH
    ]
    ids = sorted({each.document for each in found} - {""})
    titles = {entry.id: entry.title for entry in collection.store.find_same(collection.name, ids)}
    values = {
        "collection": collection.name,
        "corrections": [(decision, titles.get(decision.document, "")) for decision in found],
        "may_write": caller.may("write"),
    }
    return show(request, "all_corrections.html", values)


@router.post("/c/{collection}/corrections/{number}/undo")
def undo_in_collection(
    state: State, collection: FilledCollection, caller: Writer, number: Number
) -> Response:
    """Undo a correction from the list of all, and lead to the job that follows that."""
    decided = decisions.undo(state.jobs, state.audit, caller, collection, number)
    return _lead_to_job(decided, address("c", collection.name, "corrections"))


def corrections_of(
    collection: Collection, entry: Entry, names: Sequence[str] | None = None
) -> list[DecisionView]:
    """Return the corrections in force that concern a document, or some names of it.

    For a reader with a place, those that have a name which the text prints only later are left out.
    """
    is_unread = collection.store.is_unread
    wanted = None if names is None else {name.casefold() for name in names}
    return [
        decision
        for decision in decisions.list_decisions(collection)
        if decision.graph == GRAPH
        and not decision.undone_at
        and (
            entry.id in (decision.document, *decision.documents) or entry.title in decision.effects
        )
        and (wanted is None or any(name.casefold() in wanted for name in decision.names))
        and not (is_unread and any(map(is_unread, decision.names)))
    ]


def _lead_to_job(decided: DecidedView, otherwise: str) -> Response:
    return RedirectResponse(address("jobs", decided.job) if decided.job else otherwise, 303)


def _find_entity(collection: Collection, entry: Entry, id: str) -> Mapping[str, Any]:
    rows = collection.store.rows(
        "entities/find_entity", collection=collection.name, document=entry.id, id=id
    )
    if not rows:
        raise NotFound(
            "There is no such entity in this document: it was corrected, or built again."
        )
    return rows[0]


def _is_shared(collection: Collection, entry: Entry, row: Mapping[str, Any]) -> bool:
    """Return whether another entity of the document has the same name: then its key tells which."""
    cast = _cast(collection, entry)
    return [str(other["name"]).casefold() for other in cast].count(row["name"].casefold()) > 1


def _cast(collection: Collection, entry: Entry) -> list[dict[str, Any]]:
    filters = Filters(collection.name, entry.id)
    return list_entities(collection.store, filters, limit=MAX_SUGGESTIONS)


def _entity_values(collection: Collection, entry: Entry, id: str, caller: Caller) -> dict[str, Any]:
    row = dict(_find_entity(collection, entry, id))
    reasons = dict(zip(row["names"], row["merged_by"], strict=True))
    counts: Mapping[str, int] = dict(zip(row["names"], row["counts"], strict=True))
    if collection.place:
        known = Filters(collection.name, entry.id)
        element = read_known(collection.store, known, [id]).get(id)
        if element is None or not element.name:
            raise NotFound("This is not named in what you have read of this document.")
        counts = element.names
        row |= {
            "name": element.name,
            "names": list(counts),
            "mentions": sum(counts.values()),
            "relations": element.relations,
        }
    forms = [
        {"name": name, "count": count, "why": reasons.get(name, "")}
        for name, count in counts.items()
    ]
    cast = _cast(collection, entry)
    return {
        "collection": collection.name,
        "document": entry,
        "entity": row,
        "forms": forms,
        "others": [other["name"] for other in cast if other["id"] != row["id"]],
        "corrections": [] if caller.is_visitor else corrections_of(collection, entry, row["names"]),
        "may_write": caller.may("write"),
    } | describe_reached(collection, entry, "entities", id)
