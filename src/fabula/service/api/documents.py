"""Pictures of a document."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.service.core.views import document_of
from fabula.service.http import files
from fabula.service.http.admission import refuse_cross_site_question
from fabula.service.http.dependencies import ReadDocument, Reader, State
from fabula.service.http.files import MEDIA, Drawn, Kind
from fabula.service.http.route_rules import declare

router = APIRouter(tags=["documents"])


def _file_responses(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a route that answers with a file."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"content": dict.fromkeys((MEDIA[kind] for kind in kinds), binary)}}


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
