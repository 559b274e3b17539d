"""The text, export and pictures of a document."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response

from fabula.service.core.views import ShownText, document_of, read_text, version_of
from fabula.service.http import files
from fabula.service.http.admission import refuse_cross_site_question
from fabula.service.http.dependencies import FilledCollection, ReadDocument, Reader, State
from fabula.service.http.etags import not_modified, respond_text_with_etag, respond_with_etag
from fabula.service.http.files import MEDIA, Drawn, Format, Kind
from fabula.service.http.route_rules import declare
from fabula.service.http.streams import accepts

router = APIRouter(tags=["documents"])


def _file_responses(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a route that answers with a file."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"content": dict.fromkeys((MEDIA[kind] for kind in kinds), binary)}}


Place = Annotated[int, Query(ge=0, le=10**9)]


@router.get(
    "/collections/{collection}/documents/{document}/text",
    summary="A document's text",
    response_model=ShownText,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
@declare(is_public=True)
def show_text(
    request: Request,
    collection: ReadDocument,
    caller: Reader,
    document: str,
    start: Place = 0,
    end: Place | None = None,
) -> Response:
    """Return the cleaned text, or its characters from `start` up to `end`, with the places where
    sections and chunks begin. With `until`, text, chunks, sections and `length` end there. A
    request that accepts `text/plain` gets the text alone. The response has an ETag.
    """
    entry = document_of(collection, document)
    as_text = accepts(request.headers.get("accept", ""), "text/plain")
    version = version_of(entry, start, end, as_text, collection.store.until)
    if same := not_modified(request, version):
        return same
    view = read_text(collection, entry, start, end)
    if as_text:
        return respond_text_with_etag(view.text, "text/plain; charset=utf-8", version)
    return respond_with_etag(view, version)


@router.get(
    "/collections/{collection}/documents/{document}/export",
    summary="A document's graph as a file",
    response_class=FileResponse,
    responses=_file_responses("jsonl", "graphml", "ttl", "nt"),
)
@declare(is_public=True)
def export_document(
    state: State,
    collection: ReadDocument,
    caller: Reader,
    document: str,
    format: Format = "jsonl",
) -> Response:
    """Return a document's nodes and relationships without embeddings, as JSON lines or GraphML; or
    its facts, events and discourse relations as RDF. With `until`, they are those of the text up to
    there.
    """
    entry = document_of(collection, document)
    return files.export(state, collection, caller, entry, format)


@router.get(
    "/collections/{collection}/export",
    summary="A collection's graph as a file",
    response_class=FileResponse,
    responses=_file_responses("jsonl", "graphml", "ttl", "nt"),
)
@declare(is_public=True)
def export_collection(
    state: State, collection: FilledCollection, caller: Reader, format: Format = "jsonl"
) -> Response:
    """Return the nodes and relationships without embeddings, as JSON lines or GraphML; or the
    facts, events and discourse relations as RDF.
    """
    return files.export(state, collection, caller, None, format)


@router.get(
    "/collections/{collection}/documents/{document}/plot.{kind}",
    summary="A picture of a document",
    response_class=Response,
    responses=_file_responses("html", "svg", "png"),
)
@declare(is_public=True)
def plot_document(
    request: Request,
    state: State,
    collection: ReadDocument,
    caller: Reader,
    document: str,
    kind: Kind,
    drawn: Annotated[
        Drawn,
        Query(
            description="what to draw; all but the trees need a graph that the document may lack"
        ),
    ] = "trees",
    question: Annotated[
        str, Query(max_length=2000, description="a question whose passages are highlighted")
    ] = "",
) -> Response:
    """Return a picture as an interactive page, an SVG or a PNG."""
    refuse_cross_site_question(request, question)
    entry = document_of(collection, document)
    return files.draw(state, collection, caller, entry, kind, drawn, question.strip())
