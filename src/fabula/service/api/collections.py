"""Collections and their documents: list, change, remove.

No route creates a collection: it exists as soon as it has a document.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import NotFound
from fabula.service.api.jobs import JobView, respond_accepted
from fabula.service.core.errors import Problem
from fabula.service.core.idempotency import Idempotency
from fabula.service.core.paging import Page, make_cursor, read_cursor, take_page
from fabula.service.core.views import (
    CollectionView,
    DocumentView,
    SettledView,
    document_of,
    version_of,
)
from fabula.service.http.dependencies import Admin, FilledCollection, Reader, State, Writer
from fabula.service.http.etags import not_modified, respond_with_etag
from fabula.service.http.parameters import After, Key, Limit
from fabula.text.folding import fold_name
from fabula.text.names import quote_name

router = APIRouter(tags=["collections"])
Include = Annotated[
    list[Literal["layers", "stale"]],
    Query(description="further fields: passages by layer, and graphs that are out of date"),
]


class CollectionWhole(CollectionView):
    """A collection with the graphs that belong to the collection as a whole."""

    settled: list[SettledView]


class DocumentChange(BaseModel):
    """A new title or author of a document; fields that are left out stay as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str | None = Field(None, min_length=1, max_length=500)
    author: str | None = Field(None, max_length=500)


@router.get("/collections", summary="List collections")
def list_collections(
    state: State, caller: Reader, limit: Limit = 50, after: After = ""
) -> Page[CollectionView]:
    """List the collections that your key may see, by name."""
    [begin] = read_cursor(after, str) or ("",)
    spaces = [
        space
        for space in state.app.store.spaces()
        if space.documents and caller.may_see(space.collection) and space.collection > begin
    ]
    page, more = take_page(sorted(spaces, key=lambda space: space.collection), limit)
    next = make_cursor(page[-1].collection) if more else None
    return Page(items=[CollectionView.of(space) for space in page], next=next)


@router.get("/collections/{collection}", summary="A collection")
def show_collection(collection: FilledCollection, caller: Reader) -> CollectionWhole:
    """Return the size of a collection, the values of its filters, and its own graphs."""
    space = collection.space()
    if space is None:
        raise NotFound(f"There is no collection {quote_name(collection.name)}.")
    settled = [SettledView.of_settled(graph) for graph in collection.settled()]
    return CollectionWhole(**CollectionView.of(space).model_dump(), settled=settled)


@router.delete(
    "/collections/{collection}",
    status_code=202,
    summary="Remove a collection",
    response_model=JobView,
)
def remove_collection(
    request: Request, state: State, collection: FilledCollection, caller: Admin, key: Key = None
) -> Response:
    """Start a job that removes all documents of a collection."""
    idempotency = Idempotency.of(key, caller, request.url.path, "")
    return respond_accepted(state.jobs.add(caller, collection.name, "remove", [], {}, idempotency))


@router.get("/collections/{collection}/documents", summary="List documents")
def list_documents(
    collection: FilledCollection,
    caller: Reader,
    include: Include = [],  # noqa: B006  FastAPI copies it
    limit: Limit = 50,
    after: After = "",
) -> Page[DocumentView]:
    """List the documents of a collection by title."""
    title, id = read_cursor(after, str, str) or ("", "")
    entries = collection.store.documents(collection.name, limit + 1, (title, id))
    page, more = take_page(entries, limit)
    items = [
        DocumentView.of(
            entry,
            collection.settings,
            collection.store.layers(collection.name, entry.id) if "layers" in include else None,
            collection.stale(entry) if "stale" in include else None,
        )
        for entry in page
    ]
    next = make_cursor(fold_name(page[-1].title), page[-1].id) if more else None
    return Page(items=items, next=next)


@router.get(
    "/collections/{collection}/documents/{document}",
    summary="A document",
    response_model=DocumentView,
)
def show_document(
    request: Request,
    collection: FilledCollection,
    caller: Reader,
    document: str,
    include: Include = [],  # noqa: B006  FastAPI copies it
) -> Response:
    """Return a document with its graphs and their cost. The response has an ETag."""
    entry = document_of(collection, document)
    stale = collection.stale(entry) if "stale" in include else None
    version = version_of(entry, sorted(include), stale)
    if same := not_modified(request, version):
        return same
    layers = collection.store.layers(collection.name, entry.id) if "layers" in include else None
    return respond_with_etag(DocumentView.of(entry, collection.settings, layers, stale), version)


@router.patch(
    "/collections/{collection}/documents/{document}",
    summary="Change a document's title or author",
    response_model=DocumentView,
)
def change_document(
    state: State,
    collection: FilledCollection,
    caller: Writer,
    document: str,
    change: DocumentChange,
) -> Response:
    """Change the title or author of a document.

    The change is lost when its file is added again with another text, or rebuilt: then title and
    author are those of the file.
    """
    entry = document_of(collection, document)
    title = entry.title if change.title is None else change.title.strip()
    author = entry.author if change.author is None else change.author.strip()
    if not title:
        raise Problem("The title is empty: give it at least one character.")
    if not collection.store.set_description(entry, title, author):
        raise NotFound(f"The document {quote_name(document)} has been removed.")
    state.audit.record(
        caller, "change document", f"{collection.name}/{entry.id}", title=title, author=author
    )
    changed = document_of(collection, document)
    return respond_with_etag(
        DocumentView.of(changed, collection.settings), version_of(changed, [], None)
    )


@router.delete(
    "/collections/{collection}/documents/{document}",
    status_code=204,
    summary="Remove a document",
)
def remove_document(
    state: State, collection: FilledCollection, caller: Writer, document: str
) -> None:
    """Remove a document and its graphs at once, even while a graph of it is being built."""
    entry = document_of(collection, document)
    collection.store.remove(collection.name, entry.id)
    state.audit.record(
        caller, "remove document", f"{collection.name}/{entry.id}", title=entry.title
    )
