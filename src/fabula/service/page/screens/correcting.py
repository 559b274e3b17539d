"""An entity of a book, with forms to correct who it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fabula.graph.entries import Entry
from fabula.library.collection import Collection
from fabula.operations.entities import EntityCard
from fabula.operations.entities import entities as list_entities
from fabula.operations.entities import entity as find_entity
from fabula.operations.kit import find_operation, operation_entries
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Caller, ReadDocument, Reader, document_of
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


def _entity_values(collection: Collection, entry: Entry, id: str, caller: Caller) -> dict[str, Any]:
    card = find_entity(collection, id, entry.id, MAX_PLACES).rows[0]
    cast = list_entities(collection, entry.id, limit=MAX_SUGGESTIONS).rows
    namesakes = [other for other in cast if other.name.casefold() == card.name.casefold()]
    forms = zip(card.names, card.counts, card.merged_by, strict=True)
    reached = describe_reached(collection, entry, "entities", id)
    said, all_said = _find_said(collection, entry, card.name)
    return reached | {
        "collection": collection.name,
        "document": entry,
        "entity": card,
        "forms": [{"name": name, "count": count, "why": why} for name, count, why in forms],
        # What names it in a correction: its key if another one has the same name.
        "called": card.key if len(namesakes) > 1 else card.name,
        "others": [other.name for other in cast if other.id != card.id],
        "corrections": [] if caller.is_visitor else card.corrections,
        "may_write": caller.may("write"),
        "bars": _draw_bars(card, reached["reached"].length),
        "size": (CURVE_WIDTH, CURVE_HEIGHT),
        "said": said,
        "all_said": all_said,
    }
