"""An entity of a book, and forms to correct who it is; a correction starts the job that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Request
from fastapi.responses import RedirectResponse, Response

from fabula.errors import FabulaError
from fabula.graph.entries import Entry
from fabula.library.collection import Collection
from fabula.operations.corrections import Corrected, find_corrections
from fabula.operations.entities import Entity, EntityCard
from fabula.operations.entities import entities as list_entities
from fabula.operations.entities import entity as find_entity
from fabula.operations.kit import find_operation, operation_entries
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
MAX_SUGGESTIONS = 500
"""Names that the field for a merge suggests."""
MAX_PLACES = 1000
"""Sections in which an entity is named, and entities it has to do with."""
MAX_QUOTATIONS = 5
"""Of what a person says, with a link to all."""
CURVE_WIDTH, CURVE_HEIGHT = 600, 60
MIN_BAR = 2.0
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
    """Show who or what an entity is, the corrections that concern it, and forms to correct it."""
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
    card = _find_card(collection, entry, entity)
    given = [line for line in (name.strip(), *names) if line]
    try:
        if not given:
            raise Problem("Enter a name, or choose one.")
        corrected = state.run_operation(
            caller,
            find_operation("correct"),
            collection,
            {
                "kind": kind,
                "names": [_name_for(collection, entry, card), *given],
                "document": entry.id if scope == "document" else "",
            },
        )
    except FabulaError as error:
        status = status_of(error)
        if status >= 500:
            raise
        read = collection.as_read(entry.id, until)
        values = _entity_values(read, entry, entity, caller)
        values |= {"failed": kind, "reason": error.message, "entered": name}
        return show(request, "entity.html", values, status)
    return _lead_to_job(corrected, address("c", collection.name, "d", entry.id, "entities", entity))


@router.post("/c/{collection}/d/{document}/entities/decisions/{number}/undo")
def undo(
    state: State, collection: FilledCollection, document: str, caller: Writer, number: Number
) -> Response:
    """Undo a correction, and lead to the job that follows that."""
    entry = document_of(collection, document)
    undone = _undo(state, caller, collection, number)
    return _lead_to_job(undone, address("c", collection.name, "d", entry.id, "entities"))


@router.get("/c/{collection}/corrections")
def list_corrections(request: Request, collection: FilledCollection, caller: Reader) -> Response:
    """Show all corrections of a collection, the newest first, also those that were undone."""
    values = {
        "collection": collection.name,
        "corrections": find_corrections(collection, undone=True)[::-1],
        "may_write": caller.may("write"),
    }
    return show(request, "all_corrections.html", values)


@router.post("/c/{collection}/corrections/{number}/undo")
def undo_in_collection(
    state: State, collection: FilledCollection, caller: Writer, number: Number
) -> Response:
    """Undo a correction from the list of all, and lead to the job that follows that."""
    undone = _undo(state, caller, collection, number)
    return _lead_to_job(undone, address("c", collection.name, "corrections"))


def _undo(state: State, caller: Caller, collection: Collection, number: int) -> Corrected:
    undone: Corrected = state.run_operation(
        caller, find_operation("undo-correction"), collection, {"number": number}
    )
    return undone


def _lead_to_job(corrected: Corrected, otherwise: str) -> Response:
    return RedirectResponse(address("jobs", corrected.job) if corrected.job else otherwise, 303)


def _find_card(collection: Collection, entry: Entry, id: str, most: int = 1) -> EntityCard:
    return find_entity(collection, id, entry.id, most).rows[0]


def _draw_bars(card: EntityCard, length: int) -> list[tuple[float, float, float]]:
    """Return for each section where it begins, how wide it is, and how dense the mentions are."""
    densities = [each.mentions / max(1, each.end - each.start) for each in card.places]
    scale = CURVE_WIDTH / max(1, length)
    return [
        (
            each.start * scale,
            max(MIN_BAR, (each.end - each.start) * scale),
            max(MIN_BAR, CURVE_HEIGHT * density / max(densities)),
        )
        for each, density in zip(card.places, densities, strict=True)
    ]


def _find_said(collection: Collection, entry: Entry, name: str) -> tuple[Sequence[Any], str]:
    """Return the first quotations of a person, and the address of all; none without the graph."""
    if "speech" not in entry.graphs or "speech" not in operation_entries():
        return (), ""
    speech = find_operation("speech")
    said = speech.function(collection, entry.id, speaker=name, limit=MAX_QUOTATIONS)
    path = ("c", collection.name, speech.group.lower())
    return said.rows, address(*path, tool=speech.name, document=entry.id, speaker=name, run="true")


def _name_for(collection: Collection, entry: Entry, card: EntityCard) -> str:
    """Return what names an entity: its key if another one of the document has the same name."""
    names = [other.name.casefold() for other in _cast(collection, entry)]
    return card.key if names.count(card.name.casefold()) > 1 else card.name


def _cast(collection: Collection, entry: Entry) -> Sequence[Entity]:
    return list_entities(collection, entry.id, limit=MAX_SUGGESTIONS).rows


def _entity_values(collection: Collection, entry: Entry, id: str, caller: Caller) -> dict[str, Any]:
    card = _find_card(collection, entry, id, MAX_PLACES)
    forms = zip(card.names, card.counts, card.merged_by, strict=True)
    reached = describe_reached(collection, entry, "entities", id)
    said, all_said = _find_said(collection, entry, card.name)
    return reached | {
        "collection": collection.name,
        "document": entry,
        "entity": card,
        "forms": [{"name": name, "count": count, "why": why} for name, count, why in forms],
        "others": [other.name for other in _cast(collection, entry) if other.id != card.id],
        "corrections": [] if caller.is_visitor else card.corrections,
        "may_write": caller.may("write"),
        "bars": _draw_bars(card, reached["reached"].length),
        "size": (CURVE_WIDTH, CURVE_HEIGHT),
        "said": said,
        "all_said": all_said,
    }
