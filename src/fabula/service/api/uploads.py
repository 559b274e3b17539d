"""Add documents, as files that arrive with the request or as a text, or estimate their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.jobs.estimates import Estimate
from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import Item, Job
from fabula.jobs.start import IngestOptions, begin_ingest, estimate, text_item
from fabula.jobs.uploads import Upload, label
from fabula.operations.shown_answer import format_json
from fabula.service.api.jobs import respond_accepted
from fabula.service.core.errors import Problem
from fabula.service.http.dependencies import Caller, State, VisibleCollection, Writer
from fabula.service.http.multipart import MEDIA_TYPE, read_form
from fabula.service.http.parameters import Key
from fabula.service.http.route_rules import declare
from fabula.service.state import ServiceState

if TYPE_CHECKING:
    from fabula.library.collection import Collection

router = APIRouter(tags=["documents"])
GRAPHS = (
    "the graphs to build of each document, such as 'aspects,entities', or one by one; if left out, "
    "those of the setting `graphs`"
)
Graphs = Annotated[list[str] | None, Query(description=GRAPHS)]
Batch = Annotated[bool, Query(description="ask models by batches: half the price, within a day")]
Meta = Annotated[
    tuple[Annotated[str, Field(max_length=4000)], ...],
    Query(max_length=100, description="a field of all documents as name=value; may be repeated"),
]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class UploadedFile(BaseModel):
    """A file that was uploaded for an estimate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: Sha256
    name: str = Field(min_length=1, max_length=1000)


class NewDocuments(BaseModel):
    """A text to add as a document, files that were uploaded before, or both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str | None = Field(None, min_length=1)
    source: str = Field(
        "",
        max_length=500,
        description="where the text comes from; a text with the same source replaces it",
    )
    title: str = Field("", max_length=500)
    author: str = Field("", max_length=500)
    language: str = Field("", max_length=35)
    graphs: list[str] | None = Field(None, max_length=50, description=GRAPHS)
    uploads: list[UploadedFile] = Field(default_factory=list, max_length=2000)


def _describe_text() -> dict[str, Any]:
    """Return the schema of NewDocuments without references, which OpenAPI can't resolve here."""
    schema = NewDocuments.model_json_schema()
    schema["properties"]["uploads"]["items"] = schema.pop("$defs")["UploadedFile"]
    return schema


BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            MEDIA_TYPE: {
                "schema": {
                    "type": "object",
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                        },
                        "graphs": {"type": "string", "description": GRAPHS},
                    },
                }
            },
            "application/json": {"schema": _describe_text()},
        },
    }
}
"""The body of a request with documents, of two media types. FastAPI can't derive it from a route
that reads the body while it arrives."""


def _begin(
    request: Request,
    state: ServiceState,
    collection: Collection,
    caller: Caller,
    items: list[Item],
    uploads: list[Upload],
    choice: IngestOptions,
    dry_run: bool,
    key: str | None,
) -> Response:
    """Begin the job that ingests documents, or answer what it would cost."""
    idempotency = Idempotency.of(key, caller, request.url.path, repr((items, choice)))
    if dry_run:
        state.uploads.lend(caller, uploads)
        with state.large_task_limit.hold(caller.id, "an estimate"):
            expected = estimate(state.uploads, collection, items, choice, files=uploads)
        return Response(format_json(expected), media_type="application/json")
    return respond_accepted(
        begin_ingest(state.jobs, caller, collection, items, choice, idempotency)
    )


@router.post(
    "/collections/{collection}/documents",
    status_code=202,
    summary="Add documents",
    response_model=Job,
    openapi_extra=BODY,
    responses={200: {"model": Estimate, "description": "With dry_run: the expected cost."}},
)
@declare(takes_files=True)
async def add_documents(
    request: Request,
    state: State,
    collection: VisibleCollection,
    caller: Writer,
    graphs: Graphs = None,
    rebuild: bool = False,
    batch: Batch = False,
    meta: Meta = (),
    dry_run: bool = False,
    key: Key = None,
) -> Response:
    """Start a job that reads files or a text, and builds their graphs.

    A file with the name of a document replaces that document, unless it is the same file. ZIP
    archives are unpacked. Send several files in one form. With `dry_run` the cost is estimated, and
    the files are stored for 24 hours: the request that adds them then names them in `uploads`, and
    need not send them again.
    """
    items, uploads, body_graphs = await _receive(request, state, caller)
    choice = IngestOptions(_choose_graphs(graphs, body_graphs), rebuild, batch, meta)
    received = (request, state, collection, caller, items, uploads)
    return await to_thread.run_sync(_begin, *received, choice, dry_run, key)


@router.post(
    "/collections/{collection}/documents/{document}/append",
    status_code=202,
    summary="Continue a document",
    response_model=Job,
    openapi_extra=BODY,
    responses={200: {"model": Estimate, "description": "With dry_run: the expected cost."}},
)
@declare(takes_files=True)
async def append_to_document(
    request: Request,
    state: State,
    collection: VisibleCollection,
    caller: Writer,
    document: str,
    batch: Batch = False,
    dry_run: bool = False,
    key: Key = None,
) -> Response:
    """Start a job that continues a document with the texts of files, in their order.

    Places in its text stay what they were, and only what the new text changes is made. It takes
    what adds documents takes, but no graphs: those of the document are brought up to date.
    """
    items, uploads, graphs = await _receive(request, state, caller)
    if graphs:
        raise Problem("A document is continued with the graphs that it has: name none.")
    entry = await to_thread.run_sync(collection.document, document)
    choice = IngestOptions((), batch=batch, onto=entry.id)
    received = (request, state, collection, caller, items, uploads)
    return await to_thread.run_sync(_begin, *received, choice, dry_run, key)


async def _receive(
    request: Request, state: ServiceState, caller: Caller
) -> tuple[list[Item], list[Upload], list[str] | None]:
    """Read a body as it arrives: the documents, their files, and the graphs it names, if any."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == MEDIA_TYPE:
        form = await read_form(request, state.uploads)
        if unknown := sorted(form.fields.keys() - {"graphs"}):
            raise Problem(
                f"The form has an unknown field {unknown[0]!r}. The only field that is not a file "
                "is graphs."
            )
        uploads, graphs = form.uploads, form.fields.get("graphs")
        items = await to_thread.run_sync(state.uploads.items, uploads)
        return items, uploads, None if graphs is None else [graphs]
    if kind != "application/json":
        problem = Problem(f"Send the request as {MEDIA_TYPE}, or as application/json.")
        problem.status, problem.name = 415, "unsupported-media-type"
        raise problem
    try:
        new = NewDocuments.model_validate_json(await request.body())
    except ValidationError as error:
        errors = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(errors) from error
    return *await to_thread.run_sync(_find_items, state, caller, new), new.graphs


def _choose_graphs(
    address_names: list[str] | None, body_names: list[str] | None
) -> tuple[str, ...] | None:
    """Return the graphs that a request names in its address or its body; None if it names none."""
    by_address, by_body = (
        [name.strip() for value in values or () for name in value.split(",") if name.strip()]
        for values in (address_names, body_names)
    )
    if by_address and by_body and by_address != by_body:
        raise Problem("The address and the body name different graphs: name them once.")
    return tuple(dict.fromkeys(by_address or by_body)) or None


def _find_items(
    state: ServiceState, caller: Caller, new: NewDocuments
) -> tuple[list[Item], list[Upload]]:
    """Return the documents of a JSON body, and the uploaded files that they are in."""
    state.uploads.refuse_unlent(caller, (file.sha256 for file in new.uploads))
    uploads = [
        Upload(file.sha256, state.uploads.path(file.sha256).stat().st_size, label(file.name))
        for file in new.uploads
    ]
    items = state.uploads.items(uploads)
    if new.text is not None:
        facts = {"title": new.title, "author": new.author, "language": new.language}
        items.append(text_item(state.uploads, new.text, new.source, **facts))
    return items, uploads
