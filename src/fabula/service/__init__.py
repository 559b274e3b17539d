"""Fabula as a service: an HTTP API, a page, MCP, and OpenAI's interface.

It uses `App` and `Collection`, as the command line does. A request passes through `observe`
(request id, log, metrics), `http.admission` (caller and limits), and a route of `api`, `page`,
`openai` or `mcp`. `core` does the work and knows no HTTP. `http.errors` responds to all errors.
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
from fabula.service.state import ServiceState

BASE = "/api/v1"


def make_service(app: App, clock: Callable[[], float] = time.time) -> FastAPI:
    """Return the service of an App, which stays its owner's to close.

    Args:
        app: The App.
        clock: Returns the time, in seconds since the epoch, by which dumps are due.

    """
    state = ServiceState(app, clock)
    mcp = make_mcp(state)
    mcp_routes = over_http(mcp).routes

    @asynccontextmanager
    async def lifespan(service: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(state.open())
            await stack.enter_async_context(mcp.session_manager.run())
            state.daily_dump.start(state.runner.paused)
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
    service.state.service_state = state
    for router in api.ROUTERS:
        service.include_router(router, prefix=BASE, dependencies=[Depends(refuse_unknown)])
    service.include_router(openai.router)
    service.include_router(health.router)
    # Not mounted: a mount answers at /mcp/, and redirects requests for /mcp to it.
    service.router.routes += mcp_routes
    page.add(service)
    errors.add(service)
    # The middleware that is added last sees a request first.
    dependencies.add(service, state)
    service.add_middleware(Watch, metrics=state.metrics)
    # FastAPI builds the parts of a route at its first request, which would have to wait for that.
    for route in service.routes:
        route.matches(
            {"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []}
        )
    return service
