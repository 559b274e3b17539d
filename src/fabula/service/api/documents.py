"""A document: its text, its outline, its pictures, its export."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response

from fabula.service.core import passages
from fabula.service.core.passages import OutlineView
from fabula.service.core.views import TextView, document_of, read_text, version_of
from fabula.service.http import files
from fabula.service.http.admission import refuse_led
from fabula.service.http.dependencies import Reader, Stocked, TheHouse
from fabula.service.http.etags import answered, answered_as, unchanged
from fabula.service.http.files import MEDIA, Drawn, Format, Kind
from fabula.service.http.streams import wants

router = APIRouter(tags=["documents"])


def _told_as(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of a route that answers with a file."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"content": dict.fromkeys((MEDIA[one] for one in kinds), binary)}}


Place = Annotated[int, Query(ge=0, le=10**9)]


@router.get(
    "/collections/{collection}/documents/{document}/text",
    summary="A document's own text",
    response_model=TextView,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def show_text(
    request: Request,
    shelf: Stocked,
    caller: Reader,
    document: str,
    start: Place = 0,
    end: Place | None = None,
) -> Response:
    """All of it, cleaned as it was taken in, or from character `start` to before `end`; where
    sections and chunks begin. Plain text to who accepts that; with an ETag.
    """
    entry = document_of(shelf, document)
    as_text = wants(request.headers.get("accept", ""), "text/plain")
    version = version_of(entry, start, end, as_text)
    if same := unchanged(request, version):
        return same
    view = read_text(shelf, entry, start, end)
    if as_text:
        return answered_as(view.text, "text/plain; charset=utf-8", version)
    return answered(view, version)


@router.get(
    "/collections/{collection}/documents/{document}/outline",
    summary="A document's summaries as trees",
)
def show_outline(
    shelf: Stocked,
    caller: Reader,
    document: str,
    aspect: Annotated[str, Query(max_length=200, description="this one alone")] = "",
    level: Annotated[int, Query(ge=1, le=99, description="the lowest that is told")] = 1,
) -> list[OutlineView]:
    """A tree an aspect, from the top down, each summary with the passages that it rests on."""
    return passages.outline(shelf, document_of(shelf, document), aspect, level)


@router.get(
    "/collections/{collection}/documents/{document}/export",
    summary="A document's graph as a file",
    response_class=FileResponse,
    responses=_told_as("jsonl", "graphml"),
)
def export_document(
    house: TheHouse, shelf: Stocked, caller: Reader, document: str, format: Format = "jsonl"
) -> Response:
    """Its nodes and relationships, without embeddings: JSON lines, or GraphML."""
    return files.export(house, shelf, caller, document_of(shelf, document), format)


@router.get(
    "/collections/{collection}/export",
    summary="A collection's graph as a file",
    response_class=FileResponse,
    responses=_told_as("jsonl", "graphml"),
)
def export_collection(
    house: TheHouse, shelf: Stocked, caller: Reader, format: Format = "jsonl"
) -> Response:
    """All nodes and relationships, without embeddings: JSON lines, or GraphML."""
    return files.export(house, shelf, caller, None, format)


@router.get(
    "/collections/{collection}/documents/{document}/plot.{kind}",
    summary="A picture of a document",
    response_class=Response,
    responses=_told_as("html", "svg", "png"),
)
def plot_document(
    request: Request,
    house: TheHouse,
    shelf: Stocked,
    caller: Reader,
    document: str,
    kind: Kind,
    drawn: Annotated[
        Drawn, Query(description="its trees; or, where it has them, its entities or its story")
    ] = "trees",
    question: Annotated[
        str, Query(max_length=2000, description="what is found for it is highlighted")
    ] = "",
) -> Response:
    """A page to explore, an SVG or a PNG."""
    refuse_led(request, question)
    entry = document_of(shelf, document)
    return files.draw(house, shelf, caller, entry, kind, drawn, question.strip())
