"""Import a layer of annotations. What else is done with them are operations."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import Job
from fabula.jobs.start import ImportOptions, begin_import
from fabula.service.api.jobs import respond_accepted
from fabula.service.http.dependencies import FilledCollection, State, Writer, document_of
from fabula.service.http.multipart import read_file
from fabula.service.http.parameters import Key
from fabula.service.http.route_rules import declare

router = APIRouter(tags=["annotations"])
LayerName = Annotated[str, Query(min_length=1, max_length=200, description="the name of the layer")]
FormatName = Annotated[
    str,
    Query(
        max_length=50,
        description="webannotation, webannotation-utf16, booknlp, brat, catma, kindle, tei, "
        "uima or webanno-tsv; what has several files is a zip of them",
    ),
]


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
    upload = await read_file(request, state.uploads, layer)
    idempotency = Idempotency.of(key, caller, request.url.path, repr((upload.sha256, choice)))

    def begin() -> Response:
        return respond_accepted(
            begin_import(state.jobs, caller, collection, entry, upload, choice, idempotency)
        )

    return await to_thread.run_sync(begin)
