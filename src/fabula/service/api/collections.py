"""Collections and their documents: list, change, remove.

No route creates a collection: it exists as soon as it has a document.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import NotFound
from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import Job
from fabula.service.api.jobs import respond_accepted
from fabula.service.core import library_changes
from fabula.service.core.library_changes import DroppedView, change_description
from fabula.service.core.paging import Page, make_cursor, read_cursor, take_page
from fabula.service.core.public_content import public_entry, public_record
from fabula.service.core.views import (
    CollectionGraphView,
    CollectionView,
    DocumentView,
    document_of,
    version_of,
)
from fabula.service.http.dependencies import Admin, FilledCollection, Reader, State, Writer
from fabula.service.http.etags import not_modified, respond_with_etag
from fabula.service.http.parameters import After, Key, Limit
from fabula.service.http.route_rules import declare
from fabula.text.folding import fold_name
from fabula.text.names import quote_name

router = APIRouter(tags=["collections"])
Include = Annotated[
    list[Literal["layers", "stale"]],
    Query(description="further fields: passages by layer, and graphs that are out of date"),
]

GraphName = Annotated[str, Path(max_length=200)]
DryRun = Annotated[bool, Query(description="only return what would be removed")]


class CollectionWhole(CollectionView):
    """A collection with the graphs that belong to the collection as a whole."""

    settled: list[CollectionGraphView]


class DocumentChange(BaseModel):
    """A new title, author or date of a document; fields that are left out stay as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str | None = Field(None, min_length=1, max_length=500)
    author: str | None = Field(None, max_length=500)
    published: str | None = Field(None, max_length=100, description="the date or year of the text")


@router.get("/collections", summary="List collections")
def list_collections(
    state: State, caller: Reader, limit: Limit = 50, after: After = ""
) -> Page[CollectionView]:
    """List the collections that your key may see, by name."""
    [begin] = read_cursor(after, str) or ("",)
    spaces = [space for space in state.spaces(caller) if space.collection > begin]
    page, more = take_page(spaces, limit)
    next = make_cursor(page[-1].collection) if more else None
    collections = [state.app.collection(space.collection) for space in page]
    items = [
        CollectionView.of(space, len(collection.documents()))
        for space, collection in zip(page, collections, strict=True)
    ]
    return Page(items=items, next=next)


@router.get("/collections/{collection}", summary="A collection")
@declare(is_public=True)
def show_collection(collection: FilledCollection, caller: Reader) -> CollectionWhole:
    """Return the size of a collection, the values of its filters, and its own graphs."""
    space = collection.space()
    if space is None:
        raise NotFound(f"There is no collection {quote_name(collection.name)}.")
    graphs = collection.collection_graphs()
    if caller.is_visitor:
        graphs = [replace(graph, record=public_record(graph.record)) for graph in graphs]
    view = CollectionView.of(space, len(collection.documents()))
    views = [CollectionGraphView.of_graph(graph) for graph in graphs]
    return CollectionWhole(**view.model_dump(), settled=views)


@router.delete(
    "/collections/{collection}",
    status_code=202,
    summary="Remove a collection",
    response_model=Job,
)
def remove_collection(
    request: Request, state: State, collection: FilledCollection, caller: Admin, key: Key = None
) -> Response:
    """Start a job that removes all documents of a collection."""
    idempotency = Idempotency.of(key, caller, request.url.path, "")
    return respond_accepted(state.jobs.add(caller, collection.name, "remove", [], {}, idempotency))


@router.get("/collections/{collection}/documents", summary="List documents")
@declare(is_public=True)
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
            public_entry(entry) if caller.is_visitor else entry,
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
@declare(is_public=True)
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
    version = version_of(entry, sorted(include), stale, *(["visitor"] if caller.is_visitor else []))
    if same := not_modified(request, version):
        return same
    layers = collection.store.layers(collection.name, entry.id) if "layers" in include else None
    shown = public_entry(entry) if caller.is_visitor else entry
    return respond_with_etag(DocumentView.of(shown, collection.settings, layers, stale), version)


@router.patch(
    "/collections/{collection}/documents/{document}",
    summary="Change a document's title, author or date",
    response_model=DocumentView,
)
def change_document(
    state: State,
    collection: FilledCollection,
    caller: Writer,
    document: str,
    change: DocumentChange,
) -> Response:
    """Change the title, author or date of a document.

    The change is lost when its file is added again with another text, or rebuilt: then all three
    are those of the file.
    """
    entry = document_of(collection, document)
    change_description(state.audit, caller, collection, entry, **change.model_dump())
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
    library_changes.remove_document(state.audit, caller, collection, entry)


@router.delete(
    "/collections/{collection}/documents/{document}/graphs/{graph}",
    summary="Remove a graph from a document",
)
def drop_graph(
    state: State,
    collection: FilledCollection,
    caller: Writer,
    document: str,
    graph: GraphName,
    dry_run: DryRun = False,
) -> list[DroppedView]:
    """Remove a graph, and the graphs that were built on it, from a document. The text and other
    graphs stay.
    """
    entry = document_of(collection, document)
    return library_changes.drop_graph(state.audit, caller, collection, graph, entry.id, dry=dry_run)


@router.delete(
    "/collections/{collection}/graphs/{graph}",
    summary="Remove a graph from all documents",
)
def drop_graph_of_all(
    state: State,
    collection: FilledCollection,
    caller: Writer,
    graph: GraphName,
    dry_run: DryRun = False,
) -> list[DroppedView]:
    """Remove a graph, and the graphs that were built on it, from all documents of a collection and
    from the collection itself.
    """
    return library_changes.drop_graph(state.audit, caller, collection, graph, dry=dry_run)
