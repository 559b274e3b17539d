"""Fabula for a room of people and for other programs: HTTP, a page to read in, MCP.

All of it stands on `App` and `Collection`, as the command line does. A request passes, from the
outside in: a request id and the log (`watch`), who asks and how often (`access`), and a route of
`api`, `page`, `openai` or `mcp`. What goes wrong is said by `problems` alone.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI

from fabula.app import App
from fabula.service import api, openai, page
from fabula.service.api import health
from fabula.service.http import dependencies, errors
from fabula.service.http.parameters import refuse_unknown
from fabula.service.mcp import make_mcp, over_http
from fabula.service.observe.requests import Watch
from fabula.service.state import House

BASE = "/api/v1"


def make_service(app: App, clock: Callable[[], float] = time.time) -> FastAPI:
    """The service over an App, which stays its maker's to close.

    `clock` tells the time by which dumps fall due, in seconds since the epoch.
    """
    house = House(app, clock)
    assistants = make_mcp(house)
    mcp_routes = over_http(assistants).routes

    @asynccontextmanager
    async def lifespan(service: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(house.open())
            await stack.enter_async_context(assistants.session_manager.run())
            house.daily_dump.start(house.runner.paused)
            yield

    service = FastAPI(
        title="Fabula",
        version=version("fabula"),
        summary="Graph RAG for long narrative texts",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    service.state.house = house
    for router in api.ROUTERS:
        service.include_router(router, prefix=BASE, dependencies=[Depends(refuse_unknown)])
    service.include_router(openai.router)
    service.include_router(health.router)
    # Not mounted: a mount answers at /mcp/, and sends whoever asks at /mcp there.
    service.router.routes += mcp_routes
    page.add(service)
    errors.add(service)
    # The last that is added is the first that a request meets.
    dependencies.add(service, house)
    service.add_middleware(Watch, metrics=house.metrics)
    # FastAPI makes what routes need when a request first comes by them; none is to wait for that.
    for route in service.routes:
        route.matches(
            {"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []}
        )
    return service
