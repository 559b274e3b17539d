"""The shelf: the documents of a collection, and the way to the collection that is meant."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.app.collection import Collection
from fabula.graph import TEXT
from fabula.graph.entries import Entry
from fabula.service.core.views import money
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Reader, Shelf, TheHouse
from fabula.service.page.rendering import show
from fabula.store.rows import entry

router = APIRouter()
PAGE = 24
"""Documents of one page."""
Order = Literal["title", "author", "language", "length", "updated"]
ORDERS: tuple[Order, ...] = ("title", "author", "language", "length", "updated")
TALLEST = 16
"""Height of the tallest bar, in pixels."""


@router.get("/")
def start(caller: Reader, house: TheHouse) -> Response:
    """Goes to the collection that is meant, or to the first that the caller may see."""
    meant = house.usual(caller)
    return RedirectResponse(address("c", meant) if meant else "/house", 307)


@router.get("/c/{collection}")
def shelf(
    request: Request,
    collection: Shelf,
    caller: Reader,
    words: Annotated[str, Query(max_length=200)] = "",
    language: Annotated[str, Query(max_length=100)] = "",
    order: Order = "title",
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
    look: Literal["cards", "table"] = "cards",
) -> Response:
    """The documents of a collection."""
    asked = {"collection": collection.name, "words": words.strip().casefold()}
    rows = collection.store.rows(
        "core/find_shelf",
        **asked,
        language=language,
        order=order,
        skip=(page - 1) * PAGE,
        limit=PAGE + 1,
    )
    found = [entry(row) for row in rows[:PAGE]]
    counted = collection.store.rows("core/count_shelf", **asked)
    languages = {row["language"] for row in counted if row["language"]}
    fitting = [row["fitting"] for row in counted if language in ("", row["language"])]
    state = {"words": words, "language": language, "order": order, "look": look}
    values = {
        "collection": collection.name,
        "books": _books(collection, found),
        "count": sum(row["documents"] for row in counted),
        "fitting": sum(fitting),
        "languages": sorted(languages | {language} - {""}),
        "orders": ORDERS,
        "page": page,
        "more": len(rows) > PAGE,
        "state": state,
        "may_add": caller.may("write"),
        **state,
    }
    return show(request, "shelf.html", values)


def _books(collection: Collection, entries: list[Entry]) -> list[dict[str, Any]]:
    counts: dict[str, dict[str, int]] = {}
    asked = {"collection": collection.name, "documents": [one.id for one in entries]}
    for row in collection.store.rows("core/count_summaries", **asked):
        counts.setdefault(row["document"], {})[row["aspect"]] = row["summaries"]
    return [
        {
            "entry": one,
            "graphs": [name for name in sorted(one.graphs) if name != TEXT],
            "bars": _bars(one, counts.get(one.id, {})),
            **money(collection.settings, one.usage),
            "calls": sum(usage.calls for usage in one.usage.values()),
        }
        for one in entries
    ]


def _bars(entry: Entry, counts: dict[str, int]) -> list[tuple[str, int, float]]:
    """The summaries of each aspect: its name, how many, and how tall a bar."""
    made = entry.graphs.get("aspects")
    names = [name for name in (made.facts.get("aspects", []) if made else []) if name in counts]
    most = max(counts.values(), default=1)
    every = [*names, *(name for name in counts if name not in names)]
    return [(name, counts[name], max(2.0, TALLEST * counts[name] / most)) for name in every]
