"""The removal of a collection.

No route creates a collection: it exists as soon as it has a document.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import Job
from fabula.service.api.jobs import respond_accepted
from fabula.service.http.dependencies import Admin, FilledCollection, State
from fabula.service.http.parameters import Key

router = APIRouter(tags=["collections"])


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
