"""Pictures of a document."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.library.drawing import refuse_undrawable
from fabula.service.http.admission import refuse_cross_site_question
from fabula.service.http.dependencies import ReadDocument, Reader, State, document_of
from fabula.service.http.files import MEDIA, SANDBOX_POLICY, Drawn, Kind, picture
from fabula.service.http.route_rules import declare

router = APIRouter(tags=["documents"])
BINARY = {"schema": {"type": "string", "format": "binary"}}


@router.get(
    "/collections/{collection}/documents/{document}/plot.{kind}",
    summary="A picture of a document",
    response_class=Response,
    responses={200: {"content": dict.fromkeys(MEDIA.values(), BINARY)}},
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
    refuse_undrawable(f"picture.{kind}")
    content = picture(state, collection, caller, entry, kind, drawn, question.strip())
    headers = {"Content-Security-Policy": SANDBOX_POLICY, "Cache-Control": "private, no-cache"}
    return Response(content, media_type=MEDIA[kind], headers=headers)
