"""Annotations and notes of documents: list, import, export and remove them."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import Job
from fabula.jobs.start import ImportOptions, begin_import
from fabula.service.api.jobs import respond_accepted
from fabula.service.core import annotation_layers
from fabula.service.core.annotation_layers import (
    AnnotationLayerView,
    AnnotationView,
    NoteView,
)
from fabula.service.core.views import document_of
from fabula.service.http.dependencies import FilledCollection, ReadDocument, Reader, State, Writer
from fabula.service.http.multipart import Body
from fabula.service.http.parameters import Key, ReadUntil
from fabula.service.http.route_rules import declare
from fabula.text.names import file_name

router = APIRouter(tags=["annotations"])
LayerName = Annotated[str, Query(min_length=1, max_length=200, description="the name of the layer")]
FormatName = Annotated[
    str,
    Query(
        max_length=50,
        description="webannotation, booknlp, catma or tei; what has several files is a zip of them",
    ),
]
Words = Annotated[
    str,
    Query(max_length=1000, description="words that a note, its tag or its quotation must all have"),
]


class NewNote(BaseModel):
    """A note on words of a document, or without a `body` a highlight."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quote: str = Field(
        "", max_length=20_000, description="the words, as the text has them but for white space"
    )
    at: str = Field(
        "", max_length=50, description="characters as 120-340; needed where the words stand twice"
    )
    body: str = Field("", max_length=20_000, description="the note")
    tag: str = Field("", max_length=200, description="a tag")


class EditedNote(BaseModel):
    """What of a note is changed; what is left out stays."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    body: str | None = Field(
        None, max_length=20_000, description="its new text; '' makes it a highlight"
    )
    tag: str | None = Field(None, max_length=200, description="its new tag; '' for none")


@router.get(
    "/collections/{collection}/documents/{document}/annotations",
    summary="List the layers of annotations of a document",
)
def list_layers(
    collection: ReadDocument, caller: Reader, document: str
) -> list[AnnotationLayerView]:
    """List the layers that were imported, and that of notes."""
    return annotation_layers.list_layers(collection, document_of(collection, document))


@router.get(
    "/collections/{collection}/documents/{document}/annotations/layers/{layer}",
    summary="List the annotations of a layer",
)
def list_annotations(
    collection: ReadDocument,
    caller: Reader,
    document: str,
    layer: str,
    first: Annotated[int, Query(ge=0, le=10**9, description="how many to leave out")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="how many to return at most")] = 100,
) -> list[AnnotationView]:
    """List annotations in text order, with their places in the document's present text."""
    entry = document_of(collection, document)
    return annotation_layers.list_annotations(collection, entry, layer, first, limit)


@router.post(
    "/collections/{collection}/documents/{document}/annotations/import",
    status_code=202,
    summary="Import annotations",
    response_model=Job,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/ld+json": {"schema": {"type": "object"}},
                "application/zip": {"schema": {"type": "string", "format": "binary"}},
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            },
        }
    },
)
@declare(takes_files=True)
async def import_annotations(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Writer,
    document: str,
    layer: LayerName,
    format: FormatName = "webannotation",
    build: Annotated[bool, Query(description="whether the job also builds the graph")] = True,
    key: Key = None,
) -> Response:
    """Start a job that keeps the annotations of the body as a layer of the document; a layer of the
    same name is replaced. Each is looked for where the file says, and then by its words. What has
    several files, as BookNLP's, is a zip of them. The `result` of the job's item counts them.
    """
    choice = ImportOptions(layer, format, build)
    choice.refuse()
    entry = await to_thread.run_sync(document_of, collection, document)
    upload = await Body(request).file(state.uploads, layer)
    idempotency = Idempotency.of(key, caller, request.url.path, repr((upload.sha256, choice)))

    def begin() -> Response:
        return respond_accepted(
            begin_import(state.jobs, caller, collection, entry, upload, choice, idempotency)
        )

    return await to_thread.run_sync(begin)


@router.get(
    "/collections/{collection}/documents/{document}/annotations/export",
    summary="What is marked in a document as a file",
    response_class=Response,
    responses={200: {"content": {"application/ld+json": {"schema": {"type": "object"}}}}},
)
def export_annotations(
    state: State,
    collection: ReadDocument,
    caller: Reader,
    document: str,
    format: FormatName = "webannotation",
    what: Annotated[
        list[str] | None,
        Query(
            max_length=50,
            description="entities, quotations, events, or names of layers; all if none is given",
        ),
    ] = None,
) -> Response:
    """Return what the graphs found in a document and what was annotated in it."""
    entry = document_of(collection, document)
    with state.large_task_limit.hold(caller.id):
        stem = file_name(entry.title, entry.id)
        content, media, end = annotation_layers.export_layers(
            collection, entry, format, what or (), stem
        )
    return _file(content, media, f"{stem}{end}")


def _file(content: str | bytes, media: str, name: str) -> Response:
    shown = name.encode("ascii", "ignore").decode()
    headers = {
        "Content-Disposition": f'attachment; filename="{shown}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, media_type=media, headers=headers)


@router.delete(
    "/collections/{collection}/documents/{document}/annotations/layers/{layer}",
    status_code=204,
    summary="Remove a layer of annotations",
)
def remove_annotations(
    state: State, collection: FilledCollection, caller: Writer, document: str, layer: str
) -> None:
    """Remove a layer with all its annotations; a job builds the graph without it."""
    entry = document_of(collection, document)
    annotation_layers.remove_layer(state.jobs, state.audit, caller, collection, entry, layer)


@router.get("/collections/{collection}/notes", summary="List or search notes")
def list_notes(
    collection: FilledCollection, caller: Reader, words: Words = "", until: ReadUntil = ""
) -> list[NoteView]:
    """List the notes on all documents of a collection, by whomever they are: everybody who may read
    the collection sees them. `until` is a place in the only document of a collection.
    """
    return annotation_layers.list_notes(collection.as_read("", until), "", words)


@router.get(
    "/collections/{collection}/documents/{document}/notes", summary="List a document's notes"
)
def list_notes_of_document(
    collection: ReadDocument,
    caller: Reader,
    document: str,
    words: Words = "",
) -> list[NoteView]:
    """List the notes on a document, in text order, by whomever they are."""
    return annotation_layers.list_notes(collection, document_of(collection, document).id, words)


@router.post(
    "/collections/{collection}/documents/{document}/notes",
    status_code=201,
    summary="Add a note or a highlight",
)
def add_note(
    collection: FilledCollection, caller: Writer, document: str, body: NewNote
) -> AnnotationView:
    """Keep a note on words of a document. Everybody who may read the collection sees it, with the
    name of the caller. It can be asked once the graph of annotations is built again.
    """
    entry = document_of(collection, document)
    return annotation_layers.add_note(
        caller, collection, entry, body.quote, body.body, body.at, body.tag
    )


@router.patch(
    "/collections/{collection}/documents/{document}/notes/{note}", summary="Change a note"
)
def edit_note(
    collection: FilledCollection, caller: Writer, document: str, note: str, body: EditedNote
) -> NoteView:
    """Change the text or the tag of a note; its words stay, and the name of who made it. Who may
    write to the collection may also change notes of others.
    """
    entry = document_of(collection, document)
    return annotation_layers.edit_note(collection, entry, note, body.body, body.tag)


@router.delete(
    "/collections/{collection}/documents/{document}/notes/{note}",
    status_code=204,
    summary="Remove a note",
)
def remove_note(collection: FilledCollection, caller: Writer, document: str, note: str) -> None:
    """Remove a note by its id; who may write to the collection may also remove notes of others."""
    annotation_layers.remove_note(collection, document_of(collection, document), note)
