"""Reading: the text of a book with its citations highlighted, and summaries in the margin."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.graph.annotations import NOTES
from fabula.graph.entries import Entry
from fabula.graph.reading_place import MAX_PLACE
from fabula.graphs.episodes.recap import By
from fabula.library.collection import Collection
from fabula.operations.notes import list_notes
from fabula.operations.parameters import MAX_ROWS
from fabula.operations.recaps import recap as tell
from fabula.operations.texts import MAX_CHARACTER
from fabula.service.http.dependencies import FilledCollection, ReadDocument, Reader, document_of
from fabula.service.http.route_rules import declare
from fabula.service.page.book import read_margin, read_page
from fabula.service.page.rendering import is_language, show, show_part
from fabula.store.annotations import read_records

router = APIRouter()
Spans = Annotated[str, Query(max_length=4000)]
MAX_QUESTION = 500
"""Characters of the question that led here; each link on the page repeats it."""


@router.get("/c/{collection}/d/{document}")
@declare(is_public=True)
def read(
    request: Request,
    collection: FilledCollection,
    document: str,
    caller: Reader,
    chars: Spans = "",
    also: Spans = "",
    passage: Annotated[str, Query(max_length=200)] = "",
    section: Annotated[int | None, Query(ge=0, le=MAX_CHARACTER)] = None,
    at: Annotated[str, Query(max_length=MAX_PLACE)] = "",
    q: Annotated[str, Query(max_length=20_000)] = "",
) -> Response:
    """Show a book at a place."""
    entry = document_of(collection, document)
    page = read_page(
        collection.open_store(),
        entry,
        chars=chars,
        also=also,
        passage=passage,
        section=section,
        at=at,
    )
    values = {
        "collection": collection.name,
        "page": page,
        "lang": entry.language if is_language(entry.language) else "",
        "q": q[:MAX_QUESTION],
        "notes": 0 if caller.is_visitor else _count_notes(collection, entry),
        "may_write": caller.may("write"),
    }
    return show(request, "read.html", values)


@router.get("/c/{collection}/d/{document}/recap")
@declare(is_public=True)
def recap(
    request: Request,
    collection: FilledCollection,
    document: str,
    caller: Reader,
    at: Annotated[int | None, Query(ge=0, le=MAX_CHARACTER)] = None,
    until: Annotated[str, Query(max_length=MAX_PLACE)] = "",
    by: By = "chapter",
) -> Response:
    """Show what the book has told up to a place: the character `at`, or what `until` names."""
    entry = document_of(collection, document)
    place = until or ("" if at is None else str(at))
    values = {
        "collection": collection.name,
        "document": entry,
        "recap": tell(collection.as_read(entry.id, place), entry.id, by),
        "until": until,
        "by": by,
        "lang": entry.language if is_language(entry.language) else "",
    }
    return show(request, "recap.html", values)


@router.get("/c/{collection}/d/{document}/margin")
@declare(is_public=True)
def margin(
    collection: FilledCollection,
    document: str,
    caller: Reader,
    at: Annotated[int, Query(ge=0, le=MAX_CHARACTER)],
    until: Annotated[int, Query(ge=0, le=MAX_CHARACTER)] = MAX_CHARACTER,
) -> Response:
    """Render the margin of a place, which the script of the page puts in.

    `until` is the reader's bookmark: how many characters were read.
    """
    entry = document_of(collection, document)
    read = collection.as_read(entry.id, "" if until == MAX_CHARACTER else str(until))
    values = {
        "collection": collection.name,
        "document": entry,
        "margin": read_margin(read.open_store(), entry, at, at + 1),
        "lang": entry.language if is_language(entry.language) else "",
    }
    return show_part("margin.html", values)


@router.get("/c/{collection}/d/{document}/notes/beside")
def notes_beside(collection: ReadDocument, document: str, caller: Reader) -> Response:
    """Render the notes on a document."""
    entry = document_of(collection, document)
    found = list_notes(collection, entry.id, limit=MAX_ROWS)
    values = {
        "collection": collection.name,
        "document": entry,
        "notes": [note for note in found.rows if note.start is not None],
        "may_write": caller.may("write"),
    }
    return show_part("notes_beside.html", values)


def _count_notes(collection: Collection, entry: Entry) -> int:
    """Return how many notes readers have made on a document."""
    records = read_records(collection.open_store(), collection.name, entry.id)
    return sum(record.count for record in records if record.name == NOTES)
