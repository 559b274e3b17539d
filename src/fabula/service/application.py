"""The service as one application: its routes, its middleware and its state."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI

from fabula.config.serving import Serving
from fabula.library import App
from fabula.service import api, openai, page
from fabula.service.api import health
from fabula.service.http import dependencies, errors
from fabula.service.http.openid_login import OpenIDLogin
from fabula.service.http.parameters import refuse_unknown
from fabula.service.mcp import make_mcp, over_http
from fabula.service.observe.requests import RequestLog
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
            state.daily_dump.start(state.runner.pause)
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
    service.state.openid_login = _make_openid_login(app, state.serving)
    for router in api.list_routers():
        service.include_router(router, prefix=BASE, dependencies=[Depends(refuse_unknown)])
    service.include_router(openai.router)
    service.include_router(health.router)
    # Not mounted: a mount answers at /mcp/, and redirects requests for /mcp to it.
    service.router.routes += mcp_routes
    page.add(service)
    errors.add_handlers(service)
    # The middleware that is added last sees a request first.
    dependencies.add_middleware(service, state)
    service.add_middleware(RequestLog, metrics=state.metrics)
    # FastAPI builds the parts of a route at its first request, which would have to wait for that.
    for route in service.routes:
        route.matches(
            {"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []}
        )
    return service


def _make_openid_login(app: App, serving: Serving) -> OpenIDLogin | None:
    """Return the sign-in at the OpenID provider of the settings; None if they name no client."""
    if not (serving.oidc_issuer and serving.oidc_client_id):
        return None
    # Processes at one graph share these secrets, so that each can read what another has signed.
    if serving.oidc_client_secret:
        key = serving.oidc_client_secret.get_secret_value().encode()
    elif password := app.settings.neo4j_password.get_secret_value():
        # Anybody is given a signed cookie, and could guess a weak password by it: each guess has to
        # cost much.
        key = hashlib.scrypt(
            password.encode(), salt=b"fabula sign-in", n=2**15, r=8, p=1, maxmem=2**26
        )
    else:
        key = secrets.token_bytes(32)
    return OpenIDLogin(serving, key)
