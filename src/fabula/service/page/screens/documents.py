"""The documents of a collection, and the start page, which leads to a collection."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.graph import TEXT
from fabula.graph.entries import Entry
from fabula.library.collection import Collection
from fabula.operations.documents import Order, find_documents
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Reader, State, VisibleCollection
from fabula.service.http.route_rules import declare
from fabula.service.page.rendering import show
from fabula.service.page.screens.adding import may_cost
from fabula.service.page.screens.managing import MESSAGES

router = APIRouter()
PAGE_SIZE = 24
"""Documents on one page."""


@router.get("/")
@declare(is_public=True)
def start(caller: Reader, state: State) -> Response:
    """Go to the usual collection, or to the first one that the caller may see."""
    name = state.default_collection(caller)
    return RedirectResponse(address("c", name) if name else "/admin", 307)


@router.get("/c/{collection}")
@declare(is_public=True)
def list_documents(
    request: Request,
    collection: VisibleCollection,
    caller: Reader,
    words: Annotated[str, Query(max_length=200)] = "",
    language: Annotated[str, Query(max_length=100)] = "",
    order: Order = "title",
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
    done: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Show the documents of a collection, filtered, sorted and paged."""
    begin = (page - 1) * PAGE_SIZE
    entries, counts = find_documents(collection, words, language, order, begin, PAGE_SIZE)
    matching = sum(fitting for name, (_, fitting) in counts.items() if language in ("", name))
    state = {"words": words, "language": language, "order": order}
    values = {
        "collection": collection.name,
        "books": _books(collection, entries),
        "count": sum(documents for documents, _ in counts.values()),
        "matching": matching,
        "languages": sorted({*counts, language} - {""}),
        "orders": get_args(Order),
        "page": page,
        "more": begin + len(entries) < matching,
        "state": state,
        "may_add": caller.may("write"),
        "may_cost": may_cost(collection),
        "message": MESSAGES.get(done, ""),
        **state,
    }
    return show(request, "documents.html", values)


def _books(collection: Collection, entries: list[Entry]) -> list[dict[str, Any]]:
    """Return the template's values of each document."""
    return [
        {
            "entry": book,
            "graphs": [name for name in sorted(book.graphs) if name != TEXT],
            "money": collection.settings.cost(book.usage).money,
            "unpriced": collection.settings.cost(book.usage).unpriced,
            "calls": sum(usage.calls for usage in book.usage.values()),
        }
        for book in entries
    ]
