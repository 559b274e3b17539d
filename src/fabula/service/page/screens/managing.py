"""Looking after a library: documents and collections are described, built, dropped and removed.

Whatever costs money or can't be undone has a screen of its own first, which says what it costs or
what goes. All forms work without scripts.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.ask.mode_runs import count_parts
from fabula.errors import BadValue, FabulaError, Forbidden
from fabula.graph import TEXT
from fabula.graph.entries import Entry
from fabula.graph.hits import Filters
from fabula.graph.installed import graph, graphs
from fabula.jobs.idempotency import Idempotency
from fabula.library.collection import Collection
from fabula.load.left_out import describe as describe_left_out
from fabula.models.prefixes import split_space_name
from fabula.operations.choices import lacks_model, title_of
from fabula.operations.documents import drop_graph, remove_document, show_document
from fabula.operations.exports import TEXT as TEXT_FORMAT
from fabula.operations.exports import list_export_formats
from fabula.operations.kit import find_operation
from fabula.operations.parameters import MAX_ROWS
from fabula.service.core.errors import Problem, status_of
from fabula.service.core.views import document_of
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Admin, Caller, FilledCollection, Reader, State, Writer
from fabula.service.page.cost import show_cost
from fabula.service.page.rendering import show
from fabula.service.state import ServiceState
from fabula.text.metadata import format_metadata, list_assignments
from fabula.text.names import collection_problem, source_name

router = APIRouter()
Line = Annotated[str, Form(max_length=500)]
GraphName = Annotated[str, Query(max_length=200)]
GraphField = Annotated[str, Form(max_length=200)]
Work = Literal["build", "renew", "reembed"]
MESSAGES = {
    "described": "The description was changed.",
    "dropped": "The graph was dropped.",
    "removed": "The document was removed.",
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


@router.get("/c/{collection}/manage/remove")
def confirm_removal_of_all(
    request: Request, collection: FilledCollection, caller: Admin
) -> Response:
    """Say what goes with a collection, and ask for its name."""
    return show(request, "confirm.html", _removal_of_all(collection))


@router.post("/c/{collection}/manage/remove")
def remove_collection(
    request: Request, state: State, collection: FilledCollection, caller: Admin, name: Line = ""
) -> Response:
    """Begin the job that removes all documents of a collection."""
    if name.strip() != collection.name:
        values = _removal_of_all(collection)
        values["reason"] = "That is not the name of this collection: nothing was removed."
        return show(request, "confirm.html", values, 400)
    job = state.run_operation(caller, find_operation("remove-collection"), collection, {})
    return RedirectResponse(address("jobs", job.id), 303)


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


@router.post("/c/{collection}/d/{document}/manage/description")
def describe(
    request: Request,
    state: State,
    collection: FilledCollection,
    document: str,
    caller: Writer,
    title: Line = "",
    author: Line = "",
    published: Annotated[str, Form(max_length=100)] = "",
    meta: Annotated[str, Form(max_length=20_000)] = "",
    questions: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Change the title, author, date and metadata of a document, and whether it is asked."""
    entry = document_of(collection, document)
    given = {"title": title, "author": author, "published": published}
    typed = [line.strip() for line in meta.splitlines() if line.strip()]
    changes = {"document": entry.id, **given, "meta": typed, "questions": questions}
    try:
        state.run_operation(caller, find_operation("edit"), collection, changes)
    except BadValue as error:
        values = _document_values(collection, entry.id, caller)
        values |= {"reason": error.message, "entered": {**given, "meta": meta}}
        return show(request, "manage_document.html", values, status_of(error))
    to = address("c", collection.name, "d", entry.id, "manage", done="described")
    return RedirectResponse(to, 303)


@router.get("/c/{collection}/d/{document}/manage/remove")
def confirm_removal(
    request: Request, collection: FilledCollection, document: str, caller: Writer
) -> Response:
    """Say what goes with a document."""
    entry = document_of(collection, document)
    values = {
        "collection": collection.name,
        "heading": "Remove",
        "subject": entry.title,
        "losses": remove_document(collection, entry.id, dry_run=True).losses,
        "stays": "Conversations keep their answers, whose links to this document lead nowhere then."
        " To have it back, add its file again; replies in the cache are not paid for twice.",
        "action": address("c", collection.name, "d", entry.id, "manage", "remove"),
        "button": "Remove this document",
        "back": address("c", collection.name, "d", entry.id, "manage"),
    }
    return show(request, "confirm.html", values)


@router.post("/c/{collection}/d/{document}/manage/remove")
def remove(state: State, collection: FilledCollection, document: str, caller: Writer) -> Response:
    """Remove a document at once."""
    entry = document_of(collection, document)
    state.run_operation(caller, find_operation("remove"), collection, {"document": entry.id})
    return RedirectResponse(address("c", collection.name, done="removed"), 303)


# Graphs of a document, or of the whole collection


@router.get("/c/{collection}/manage/{work}")
@router.get("/c/{collection}/d/{document}/manage/{work}")
def show_work(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Writer,
    work: Work,
    document: str = "",
    name: GraphName = "",
    rebuild: bool = False,
) -> Response:
    """Say what a job would ask of models and cost, before it begins."""
    entry = document_of(collection, document) if document else None
    values = _work_values(entry, work, name, rebuild=rebuild)
    expected = state.estimate_work(caller, find_operation(work), collection, values)
    return show_cost(
        request,
        state,
        caller,
        collection,
        expected,
        work=work,
        document=entry,
        graph=graph(name) if work == "build" else None,
        rebuild=rebuild,
        outcomes=[each for each in expected.items if each.error][:20],
        unchanged=bool(expected.items)
        and all(each.status == "unchanged" for each in expected.items),
        embeds_by=collection.settings.embedding_model,
        hidden={"name": name, "rebuild": str(rebuild).lower()},
        action=_manage_address(collection, entry, work),
        back=_manage_address(collection, entry),
    )


@router.post("/c/{collection}/manage/{work}")
@router.post("/c/{collection}/d/{document}/manage/{work}")
def begin(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Writer,
    work: Work,
    document: str = "",
    name: GraphField = "",
    rebuild: Annotated[bool, Form()] = False,
    by_batch: Annotated[bool, Form()] = False,
    once: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    """Begin the job of a cost that was shown; a form that is sent twice begins it once."""
    entry = document_of(collection, document) if document else None
    # What was chosen is a part of the key: another choice after "Back" is another job.
    choice = f"{once} {name} {rebuild} {by_batch}"
    key = Idempotency.of(choice, caller, request.url.path, "") if once else None
    values = _work_values(entry, work, name, rebuild=rebuild)
    values |= {"batch": True} if by_batch else {}
    job = state.run_operation(caller, find_operation(work), collection, values, idempotency=key)
    return RedirectResponse(address("jobs", job.id), 303)


@router.get("/c/{collection}/drop")
@router.get("/c/{collection}/d/{document}/drop")
def confirm_drop(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Writer,
    name: GraphName,
    document: str = "",
) -> Response:
    """Say which graphs go with a graph."""
    entry = document_of(collection, document) if document else None
    dropped = drop_graph(collection, name, entry.id if entry else None, dry_run=True)
    owners = sum(bool(row.document) for row in dropped.rows)
    if entry:
        losses = [f"the graph {name} of this document"]
    else:
        noun = "document" if owners == 1 else "documents"
        losses = [f"the graph {name} of {owners:,} {noun}" if owners else f"the graph {name}"]
    if dropped.dependents:
        losses.append(f"{', '.join(dropped.dependents)}, built on it")
    values = {
        "collection": collection.name,
        "heading": f"Drop {name} from",
        "subject": entry.title if entry else collection.name,
        "losses": losses,
        "stays": "The text and the other graphs stay. Building the graph again asks models for what"
        " is not in the cache of replies.",
        "action": address("c", collection.name, "d", entry.id, "drop")
        if entry
        else address("c", collection.name, "drop"),
        "hidden": {"name": name},
        "button": "Drop the graph",
        "back": _manage_address(collection, entry),
    }
    return show(request, "confirm.html", values)


@router.post("/c/{collection}/drop")
@router.post("/c/{collection}/d/{document}/drop")
def drop(
    state: State,
    collection: FilledCollection,
    caller: Writer,
    name: GraphField,
    document: str = "",
) -> Response:
    """Remove a graph, and those that were built on it."""
    entry = document_of(collection, document) if document else None
    given = {"graph": name, "document": entry.id if entry else None}
    state.run_operation(caller, find_operation("drop"), collection, given)
    return RedirectResponse(f"{_manage_address(collection, entry)}?done=dropped", 303)


def _work_values(entry: Entry | None, work: Work, name: str, *, rebuild: bool) -> dict[str, Any]:
    """Return the parameters of the operation that a screen of work is about."""
    if work == "build":
        return {"graph": name, "documents": [entry.id] if entry else [], "rebuild": rebuild}
    if entry is not None:
        raise Problem("This is done for the whole collection, and not for a document.")
    return {}


def _manage_address(collection: Collection, entry: Entry | None, *more: str) -> str:
    place = ("d", entry.id) if entry else ()
    return address("c", collection.name, *place, "manage", *more)


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


def _removal_of_all(collection: Collection) -> dict[str, Any]:
    count = collection.open_store().count(collection.name)[0]
    return {
        "collection": collection.name,
        "heading": "Remove the collection",
        "subject": collection.name,
        "losses": [
            f"{count:,} document{'s' if count != 1 else ''} with all graphs",
            "the corrections of names",
            "the conversations about it, of all readers",
        ],
        "stays": "This can't be undone.",
        "typed": True,
        "action": address("c", collection.name, "manage", "remove"),
        "button": "Remove the collection",
        "back": address("c", collection.name, "manage"),
    }
