"""Looking after a library: documents and collections are described, built, dropped and removed.

What is done with them are operations, whose screens say first what it costs or what goes.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.ask.mode_runs import count_parts
from fabula.errors import FabulaError, Forbidden
from fabula.graph import TEXT
from fabula.graph.hits import Filters
from fabula.graph.installed import graphs
from fabula.library.collection import Collection
from fabula.load.left_out import describe as describe_left_out
from fabula.models.prefixes import split_space_name
from fabula.operations.choices import lacks_model, title_of
from fabula.operations.documents import show_document
from fabula.operations.exports import TEXT as TEXT_FORMAT
from fabula.operations.exports import list_export_formats
from fabula.operations.kit import find_operation
from fabula.operations.parameters import MAX_ROWS
from fabula.service.core.errors import Problem, status_of
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import (
    Caller,
    FilledCollection,
    Reader,
    State,
    Writer,
    document_of,
)
from fabula.service.page.rendering import show
from fabula.service.state import ServiceState
from fabula.text.metadata import format_metadata, list_assignments
from fabula.text.names import collection_problem, source_name

router = APIRouter()
Line = Annotated[str, Form(max_length=500)]
MESSAGES = {
    "edit-document": "The description was changed.",
    "drop-graph": "The graph was dropped.",
    "remove-document": "The document was removed.",
}
"""What a screen says after a change, by the parameter `done` of its address."""


# Collections


@router.get("/collections")
def list_collections(request: Request, state: State, caller: Reader) -> Response:
    """Show the collections that the caller may see, and a form for another one."""
    return show(request, "collections.html", _collections(state, caller))


@router.post("/collections")
def make_collection(request: Request, state: State, caller: Writer, name: Line = "") -> Response:
    """Lead to a new collection, which exists once it has a document."""
    name = " ".join(name.split())
    try:
        if fault := collection_problem(name):
            raise Problem(f"The name of a collection {fault}.")
        if not caller.may_see(name):
            raise Forbidden(
                "Your key is for certain collections, and this is none of them. An administrator "
                "can make a key for it."
            )
    except FabulaError as error:
        values = _collections(state, caller) | {"reason": error.message, "entered": name}
        return show(request, "collections.html", values, status_of(error))
    return RedirectResponse(address("c", name), 303)


@router.get("/c/{collection}/manage")
def manage_collection(
    request: Request,
    collection: FilledCollection,
    caller: Reader,
    done: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Show what a collection has, and what can be done with it as a whole."""
    installed = graphs()
    by_name = {each.graph: each for each in collection.collection_graphs()}
    of_documents = [name for name, method in installed.items() if method.build]
    counts = count_parts(collection.open_store(), set(of_documents), Filters(collection.name))
    space = collection.space()
    model = split_space_name(space.model)[0] if space else ""
    values = {
        "collection": collection.name,
        "space": space,
        "count": len(collection.documents()),
        "embedded_by": model,
        "embeds_by": collection.settings.embedding_model,
        "graphs": [
            {
                "name": name,
                "title": title_of(name),
                "about": installed[name].about,
                "documents": counts.get(name, 0),
                "lacks_model": lacks_model(collection, name),
            }
            for name in of_documents
        ],
        "own_graphs": [
            {
                "name": name,
                "title": title_of(name),
                "about": method.about,
                "needs": method.rests_on,
                "record": by_name[name].record if name in by_name else None,
                "stale": by_name[name].stale if name in by_name else (),
                "lacks_model": lacks_model(collection, name),
            }
            for name, method in installed.items()
            if method.build_collection
        ],
        "files": _list_downloads(collection),
        "may_write": caller.may("write"),
        "may_remove": caller.may("admin"),
        "message": MESSAGES.get(done, ""),
    }
    return show(request, "manage_collection.html", values)


# A document


@router.get("/c/{collection}/d/{document}/manage")
def manage_document(
    request: Request,
    collection: FilledCollection,
    document: str,
    caller: Reader,
    done: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Show the facts, graphs and files of a document, and forms to change it."""
    entry = document_of(collection, document)
    values = _document_values(collection, entry.id, caller) | {"message": MESSAGES.get(done, "")}
    return show(request, "manage_document.html", values)


def _document_values(collection: Collection, id: str, caller: Caller) -> dict[str, Any]:
    """Return the values of the template of a document's screen."""
    document = show_document(collection, id)
    installed = graphs()
    rows = []
    for name in [name for name, method in installed.items() if method.build]:
        record = document.graphs.get(name)
        rows.append(
            {
                "name": name,
                "title": title_of(name),
                "about": installed[name].about,
                "needs": [each for each in installed[name].rests_on if each not in document.graphs],
                "record": record,
                "stale": document.stale.get(name, ()),
                "lacks_model": lacks_model(collection, name),
                "cost": collection.settings.cost(record.usage) if record else None,
                "calls": sum(used.calls for used in record.usage.values()) if record else 0,
            }
        )
    return {
        "collection": collection.name,
        "document": document,
        "source": source_name(document.source),
        "left_out": describe_left_out(document.left_out),
        "graphs": rows,
        "fields": [(name, format_metadata(document.metadata[name])) for name in document.metadata],
        "meta": "\n".join(list_assignments(document.metadata)),
        "stale_text": document.stale.get(TEXT, ()),
        "files": _list_downloads(collection, document.id),
        "may_write": caller.may("write"),
    }


def _list_downloads(collection: Collection, document: str = "") -> list[tuple[str, str, str]]:
    """Return the address of each file that can be downloaded, its format and what it is."""
    place = ("api", "v1", "collections", collection.name, "export")
    return [
        (address(*place, document=document, format=name), name, each.about)
        for name, each in list_export_formats().items()
        if document or name != TEXT_FORMAT
    ]


def _collections(state: ServiceState, caller: Caller) -> dict[str, Any]:
    found = state.run_operation(caller, find_operation("collections"), None, {"limit": MAX_ROWS})
    return {
        "rows": [(row, split_space_name(row.embedding_model)[0]) for row in found.rows],
        "may_write": caller.may("write"),
    }
