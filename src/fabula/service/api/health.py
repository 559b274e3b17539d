"""The service seen from outside: health, metrics, logs, traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from fabula.service.http.dependencies import AdminOfAll, TheHouse
from fabula.service.observe.requests import Watch

if TYPE_CHECKING:
    from fabula.service.state import House

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


def add(service: FastAPI, house: House) -> None:
    """Gives each request an id, logs and counts it."""
    house.metrics.watch("state", lambda: _limits(house))
    house.metrics.watch("state", lambda: {"fabula_jobs": house.jobs.count()})
    house.metrics.watch("state", lambda: {"fabula_kept": asdict(house.app.store.kept())})
    service.add_middleware(Watch, metrics=house.metrics)


def _limits(house: House) -> Mapping[str, Mapping[str, float]]:
    """What the model's limiter has learned."""
    told = house.app.kit.limits()
    return {"fabula_model_limits": told} if told else {}
