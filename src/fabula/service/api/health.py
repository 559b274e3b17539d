"""Routes for orchestrators and Prometheus: liveness, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from fabula.service.http.dependencies import AdminOfAll, State

router = APIRouter()


@router.get("/livez", include_in_schema=False)
async def livez() -> dict[str, str]:
    """Report that the process answers requests."""
    return {"status": "alive"}


@router.get("/readyz", include_in_schema=False)
async def readyz(state: State) -> Response:
    """Report whether questions can be answered now. No model is called; details are in the log."""
    if problem := await state.readiness.problem():
        return JSONResponse({"status": "not ready", "why": problem}, 503)
    return JSONResponse({"status": "ready"})


@router.get("/metrics", include_in_schema=False)
def metrics(state: State, caller: AdminOfAll) -> Response:
    """Return metrics in the format of Prometheus."""
    return Response(state.metrics.text(), media_type=CONTENT_TYPE_LATEST)
