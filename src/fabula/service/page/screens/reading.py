"""Reading: the text of a book with its citations highlighted, and summaries in the margin."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.app.reading import MAX_PLACE
from fabula.service.core.views import END_OF_TEXT, document_of
from fabula.service.http.dependencies import FilledCollection, Reader
from fabula.service.page.book import read_margin, read_page
from fabula.service.page.rendering import is_language, show, show_part

router = APIRouter()
Spans = Annotated[str, Query(max_length=4000)]
MAX_QUESTION = 500
"""Characters of the question that led here; each link on the page repeats it."""


@router.get("/c/{collection}/d/{document}")
def read(
    request: Request,
    collection: FilledCollection,
    document: str,
    caller: Reader,
    chars: Spans = "",
    also: Spans = "",
    passage: Annotated[str, Query(max_length=200)] = "",
    section: Annotated[int | None, Query(ge=0, le=END_OF_TEXT)] = None,
    at: Annotated[str, Query(max_length=MAX_PLACE)] = "",
    q: Annotated[str, Query(max_length=20_000)] = "",
) -> Response:
    """Show a book at a place."""
    entry = document_of(collection, document)
    page = read_page(
        collection.store, entry, chars=chars, also=also, passage=passage, section=section, at=at
    )
    values = {
        "collection": collection.name,
        "page": page,
        "lang": entry.language if is_language(entry.language) else "",
        "q": q[:MAX_QUESTION],
    }
    return show(request, "read.html", values)


@router.get("/c/{collection}/d/{document}/margin")
def margin(
    request: Request,
    collection: FilledCollection,
    document: str,
    caller: Reader,
    at: Annotated[int, Query(ge=0, le=END_OF_TEXT)],
) -> Response:
    """Render the margin of a place, which the script of the page puts in."""
    entry = document_of(collection, document)
    values = {
        "collection": collection.name,
        "document": entry,
        "margin": read_margin(collection.store, entry, at, at + 1),
        "lang": entry.language if is_language(entry.language) else "",
    }
    return show_part(request, "margin.html", values)
