"""Collections, and the documents in them: to list, to change, to remove.

There is no route that makes a collection: it is there as soon as a document is.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import NotFound
from fabula.service.api.jobs import JobView, accepted
from fabula.service.core.errors import Problem
from fabula.service.core.idempotency import Idempotency
from fabula.service.core.paging import Page, begin_after, cursor, take
from fabula.service.core.views import (
    CollectionView,
    DocumentView,
    SettledView,
    document_of,
    version_of,
)
from fabula.service.http.dependencies import Admin, Reader, Stocked, TheHouse, Writer
from fabula.service.http.etags import answered, unchanged
from fabula.service.http.parameters import After, Key, Limit
from fabula.text.names import quoted

router = APIRouter(tags=["collections"])
Include = Annotated[
    list[Literal["layers", "stale"]],
    Query(description="what else is told: passages by layer, and what would be made anew"),
]


class CollectionWhole(CollectionView):
    """A collection, with the graphs that belong to itself and to no document of it."""

    settled: list[SettledView]


class Change(BaseModel):
    """What a document is called from now on; what is left out stays."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str | None = Field(None, min_length=1, max_length=500)
    author: str | None = Field(None, max_length=500)


@router.get("/collections", summary="The collections that you may see")
def list_collections(
    house: TheHouse, caller: Reader, limit: Limit = 50, after: After = ""
) -> Page[CollectionView]:
    """By name."""
    [begin] = begin_after(after, str) or ("",)
    spaces = [
        space
        for space in house.app.store.spaces()
        if space.documents and caller.may_see(space.collection) and space.collection > begin
    ]
    some, more = take(sorted(spaces, key=lambda one: one.collection), limit)
    next = cursor(some[-1].collection) if more else None
    return Page(items=[CollectionView.of(one) for one in some], next=next)


@router.get("/collections/{collection}", summary="A collection")
def show_collection(shelf: Stocked, caller: Reader) -> CollectionWhole:
    """How much is in it, what its passages may be searched by, and its own graphs."""
    space = shelf.space()
    if space is None:
        raise NotFound(f"There is no collection {quoted(shelf.name)}.")
    settled = [SettledView.made(one) for one in shelf.settled()]
    return CollectionWhole(**CollectionView.of(space).model_dump(), settled=settled)


@router.delete(
    "/collections/{collection}",
    status_code=202,
    summary="Remove a collection",
    response_model=JobView,
)
def remove_collection(
    request: Request, house: TheHouse, shelf: Stocked, caller: Admin, key: Key = None
) -> Response:
    """Begins a job that removes all its documents."""
    once = Idempotency.of(key, caller, request.url.path, "")
    return accepted(house.jobs.add(caller, shelf.name, "remove", [], {}, once))


@router.get("/collections/{collection}/documents", summary="The documents of a collection")
def list_documents(
    shelf: Stocked,
    caller: Reader,
    include: Include = [],  # noqa: B006  FastAPI copies it
    limit: Limit = 50,
    after: After = "",
) -> Page[DocumentView]:
    """By title."""
    title, id = begin_after(after, str, str) or ("", "")
    found = shelf.store.documents(shelf.name, limit + 1, (title, id))
    some, more = take(found, limit)
    items = [
        DocumentView.of(
            one,
            shelf.settings,
            shelf.store.layers(shelf.name, one.id) if "layers" in include else None,
            shelf.stale(one) if "stale" in include else None,
        )
        for one in some
    ]
    next = cursor(some[-1].title.casefold(), some[-1].id) if more else None
    return Page(items=items, next=next)


@router.get(
    "/collections/{collection}/documents/{document}",
    summary="A document",
    response_model=DocumentView,
)
def show_document(
    request: Request,
    shelf: Stocked,
    caller: Reader,
    document: str,
    include: Include = [],  # noqa: B006  FastAPI copies it
) -> Response:
    """What it is, its graphs, and what they cost; with an ETag."""
    entry = document_of(shelf, document)
    stale = shelf.stale(entry) if "stale" in include else None
    version = version_of(entry, sorted(include), stale)
    if same := unchanged(request, version):
        return same
    layers = shelf.store.layers(shelf.name, entry.id) if "layers" in include else None
    return answered(DocumentView.of(entry, shelf.settings, layers, stale), version)


@router.patch(
    "/collections/{collection}/documents/{document}",
    summary="Call a document otherwise",
    response_model=DocumentView,
)
def change_document(
    house: TheHouse, shelf: Stocked, caller: Writer, document: str, change: Change
) -> Response:
    """Gives it another title or author. They stay until its file comes in with another text, or is
    built anew: then they are what the file says.
    """
    entry = document_of(shelf, document)
    title = entry.title if change.title is None else change.title.strip()
    author = entry.author if change.author is None else change.author.strip()
    if not title:
        raise Problem("A title has a letter at least.")
    if not shelf.store.describe(entry, title, author):
        raise NotFound(f"There is no document {quoted(document)} any more.")
    house.audit.note(
        caller, "change document", f"{shelf.name}/{entry.id}", title=title, author=author
    )
    now = document_of(shelf, document)
    return answered(DocumentView.of(now, shelf.settings), version_of(now, [], None))


@router.delete(
    "/collections/{collection}/documents/{document}",
    status_code=204,
    summary="Remove a document",
)
def remove_document(house: TheHouse, shelf: Stocked, caller: Writer, document: str) -> None:
    """Takes it and all its graphs out, at once, whatever is being built of it."""
    entry = document_of(shelf, document)
    shelf.store.remove(shelf.name, entry.id)
    house.audit.note(caller, "remove document", f"{shelf.name}/{entry.id}", title=entry.title)
