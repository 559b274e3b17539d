"""Trees and entities: a book's graphs as pictures, and as lists that lead into its text."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.app.collection import Collection
from fabula.graph.entries import Entry
from fabula.plot.reading import DISCOURSE, NETWORK, refuse_without
from fabula.service.core.passages import outline
from fabula.service.core.views import document_of
from fabula.service.http.admission import is_from_elsewhere, refuse_led
from fabula.service.http.dependencies import Reader, Stocked, TheHouse
from fabula.service.http.files import picture
from fabula.service.page.rendering import HEADERS, is_language, show

router = APIRouter()
MOST_LISTED = 500
"""Entities of a list."""
Words = Annotated[str, Query(max_length=20_000)]


@router.get("/c/{collection}/d/{document}/trees")
def trees(
    request: Request, collection: Stocked, document: str, caller: Reader, q: Words = ""
) -> Response:
    """The trees of a book: the picture, and the outline of the same."""
    entry = document_of(collection, document)
    refuse_without(entry, "aspects", "tree")
    order = {name: at for at, name in enumerate(entry.graphs["aspects"].facts.get("aspects", []))}
    trees = sorted(outline(collection, entry), key=lambda one: order.get(one.aspect, len(order)))
    return show(request, "trees.html", _told(request, collection, entry, q) | {"outline": trees})


@router.get("/c/{collection}/d/{document}/trees/picture")
def trees_picture(
    request: Request,
    house: TheHouse,
    collection: Stocked,
    document: str,
    caller: Reader,
    q: Words = "",
) -> Response:
    """The picture of the trees, a page of its own."""
    refuse_led(request, q)
    entry = document_of(collection, document)
    return _framed(picture(house, collection, caller, entry, "html", "trees", q.strip()))


@router.get("/c/{collection}/d/{document}/entities")
def entities(
    request: Request,
    collection: Stocked,
    document: str,
    caller: Reader,
    q: Words = "",
    type: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Who and what a book is about: the network, and the list."""
    entry = document_of(collection, document)
    refuse_without(entry, NETWORK, "network")
    asked = {"collection": collection.name, "document": entry.id, "limit": MOST_LISTED + 1}
    rows = collection.store.rows("entities/find_cast", **asked, type=type)
    every = rows if not type else collection.store.rows("entities/find_cast", **asked, type="")
    return show(
        request,
        "entities.html",
        _told(request, collection, entry, q)
        | {
            "cast": rows[:MOST_LISTED],
            "more": len(rows) > MOST_LISTED,
            "type": type,
            "types": sorted({row["type"] for row in every}),
            "has_story": DISCOURSE in entry.graphs,
        },
    )


@router.get("/c/{collection}/d/{document}/entities/picture")
def entities_picture(
    request: Request,
    house: TheHouse,
    collection: Stocked,
    document: str,
    caller: Reader,
    q: Words = "",
) -> Response:
    """The picture of the network, a page of its own."""
    refuse_led(request, q)
    entry = document_of(collection, document)
    return _framed(picture(house, collection, caller, entry, "html", "network", q.strip()))


def _told(request: Request, collection: Collection, entry: Entry, q: str) -> dict[str, Any]:
    lang = entry.language if is_language(entry.language) else ""
    if is_from_elsewhere(request):
        q = ""  # the picture would ask it
    return {"collection": collection.name, "document": entry, "q": q.strip(), "lang": lang}


def _framed(content: bytes) -> Response:
    """A plot's page for a frame of ours: it may do what it brings, by its hashes, and no more."""
    policy = (
        f"default-src 'none'; style-src {_hashes(content, b'style')}; "
        f"script-src {_hashes(content, b'script')}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'; sandbox allow-scripts"
    )
    headers = HEADERS | {"Content-Security-Policy": policy}
    return Response(content, media_type="text/html", headers=headers)


def _hashes(content: bytes, element: bytes) -> str:
    """What allows the elements of that name, and no others: a book's own words are escaped."""
    found = re.findall(b"<%b>(.*?)</%b>" % (element, element), content, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(one).digest()).decode() for one in found)
    return " ".join(f"'sha256-{one}'" for one in digests)
