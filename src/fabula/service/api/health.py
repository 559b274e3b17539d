"""What an orchestrator and Prometheus read: whether the service is alive and ready, and numbers."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from fabula.service.http.dependencies import AdminOfAll, TheHouse

router = APIRouter()


@router.get("/livez", include_in_schema=False)
async def livez() -> dict[str, str]:
    """That the process answers."""
    return {"status": "alive"}


@router.get("/readyz", include_in_schema=False)
async def readyz(house: TheHouse) -> Response:
    """Whether questions can be answered now; no model is asked. What is wrong is in the log."""
    wrong = await house.readiness.problem()
    status = {"status": "ready"} if not wrong else {"status": "not ready", "why": wrong}
    return JSONResponse(status, 503 if wrong else 200)


@router.get("/metrics", include_in_schema=False)
def metrics(house: TheHouse, caller: AdminOfAll) -> Response:
    """Numbers for Prometheus."""
    return Response(house.metrics.text(), media_type=CONTENT_TYPE_LATEST)
