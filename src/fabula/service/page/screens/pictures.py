"""A book's graphs as pictures, and trees and entities also as lists that link to its text."""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.graph.entries import Entry
from fabula.library.collection import Collection
from fabula.library.drawing import find_picture, pictures, refuse_without
from fabula.operations.choices import title_of
from fabula.operations.corrections import find_corrections
from fabula.operations.entities import entities as list_entities
from fabula.operations.passages import OutlinedSummary, outline
from fabula.service.http.admission import is_cross_site, refuse_cross_site_question
from fabula.service.http.dependencies import ReadDocument, Reader, State, document_of
from fabula.service.http.files import Drawn, picture
from fabula.service.http.route_rules import declare
from fabula.service.page.reached import describe_reached
from fabula.service.page.rendering import HEADERS, is_language, show

router = APIRouter()
MAX_ENTITIES = 500
"""Entities in the list."""
Words = Annotated[str, Query(max_length=20_000)]


@router.get("/c/{collection}/d/{document}/trees")
@declare(is_public=True)
def trees(
    request: Request,
    collection: ReadDocument,
    document: str,
    caller: Reader,
    q: Words = "",
) -> Response:
    """Show the trees of a book as a picture and as an outline."""
    entry = document_of(collection, document)
    refuse_without(entry, "aspects", "tree")
    order = {name: at for at, name in enumerate(entry.graphs["aspects"].facts.get("aspects", []))}
    below: dict[str, list[OutlinedSummary]] = {}
    found = outline(collection, entry.id, members=True)
    for summary in sorted(found.rows, key=attrgetter("start", "id")):
        below.setdefault(summary.above, []).append(summary)
    tops = groupby(sorted(below.get("", ()), key=attrgetter("aspect")), key=attrgetter("aspect"))
    trees = [(aspect, [*summaries]) for aspect, summaries in tops]
    trees.sort(key=lambda tree: order.get(tree[0], len(order)))
    values = _shared_values(request, collection, entry, "trees", q)
    values |= {"outline": trees, "below": below}
    return show(request, "trees.html", values)


@router.get("/c/{collection}/d/{document}/entities")
@declare(is_public=True)
def entities(
    request: Request,
    collection: ReadDocument,
    document: str,
    caller: Reader,
    q: Words = "",
    type: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show the people, places and other entities of a book as a network and as a list."""
    entry = document_of(collection, document)
    refuse_without(entry, "entities", "network")
    listed = list_entities(collection, entry.id, type, limit=MAX_ENTITIES)
    values = _shared_values(request, collection, entry, "entities", q) | {
        "entities": listed.rows,
        "more": listed.total > MAX_ENTITIES,
        "type": type,
        "types": listed.types,
        # They name those who made them.
        "corrections": [] if caller.is_visitor else find_corrections(collection, entry),
        "may_write": caller.may("write"),
    }
    return show(request, "entities.html", values)


@router.get("/c/{collection}/d/{document}/pictures/{drawn}")
@declare(is_public=True)
def show_picture(
    request: Request, collection: ReadDocument, document: str, caller: Reader, drawn: Drawn
) -> Response:
    """Show a picture of a book that no other screen has, such as that of its events."""
    entry = document_of(collection, document)
    kind = find_picture(drawn)
    for graph in kind.graphs:
        refuse_without(entry, graph, drawn)
    values = _shared_values(request, collection, entry, f"pictures/{drawn}", "")
    values |= {"drawn": drawn, "name": title_of((drawn, *kind.graphs)[-1]), "about": kind.about}
    return show(request, "picture.html", values)


@router.get("/c/{collection}/d/{document}/pictures/{drawn}/frame")
@declare(is_public=True)
def draw_picture(
    request: Request,
    state: State,
    collection: ReadDocument,
    document: str,
    drawn: Drawn,
    caller: Reader,
    q: Words = "",
) -> Response:
    """Return a picture as a page for the frame."""
    refuse_cross_site_question(request, q)
    entry = document_of(collection, document)
    return _frame(picture(state, collection, caller, entry, "html", drawn, q.strip()))


def _shared_values(
    request: Request, collection: Collection, entry: Entry, screen: str, q: str
) -> dict[str, Any]:
    """Return the values that both templates need."""
    lang = entry.language if is_language(entry.language) else ""
    if is_cross_site(request):
        # The picture would ask the question, and the caller's key would pay for it.
        q = ""
    return {
        "collection": collection.name,
        "document": entry,
        "q": q.strip(),
        "lang": lang,
        "is_drawn": bool(pictures()),
    } | describe_reached(collection, entry, screen, q=q.strip())


def _frame(content: bytes) -> Response:
    """Return a picture for our frame; its policy allows only its own scripts and styles."""
    policy = (
        f"default-src 'none'; style-src {_hashes(content, b'style')}; "
        f"script-src {_hashes(content, b'script')}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'; sandbox allow-scripts"
    )
    headers = HEADERS | {"Content-Security-Policy": policy}
    return Response(content, media_type="text/html", headers=headers)


def _hashes(content: bytes, element: bytes) -> str:
    """Return the sources of a policy that allow the inline elements of that name."""
    # All of them are ours, because the book's text in the picture is escaped.
    bodies = re.findall(b"<%b>(.*?)</%b>" % (element, element), content, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(body).digest()).decode() for body in bodies)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
