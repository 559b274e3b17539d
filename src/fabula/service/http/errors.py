"""What goes wrong, as RFC 9457 says it: our errors' own sentences, with real status codes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from fabula.errors import FabulaError
from fabula.service.core.errors import (
    Problem,
    TooBig,
    dashed,
    describe_problem,
    message,
    problem_name,
    status_of,
)

LOG = logging.getLogger("fabula.service")
RETRY_AFTER_SECONDS = 5
"""When a client is to come again where Neo4j failed and nothing tells how long that lasts."""
MAX_ERRORS = 20
"""Faults of one request that are told."""
MAX_PART = 200
"""Characters of the name of a field, or of what is wrong with it."""
MAX_PARTS = 8
"""Fields within one another that are named."""


def body(error: FabulaError, request: Request) -> dict[str, Any]:
    """Return the `application/problem+json` body that describes the error of a request."""
    members = {
        "instance": request.url.path,
        "request_id": getattr(request.state, "request_id", ""),
    }
    if request.url.path.startswith("/v1/"):
        # Where clients of OpenAI's look.
        members["error"] = {
            "message": message(error),
            "type": problem_name(error),
            "code": status_of(error),
        }
    return members | describe_problem(error)


ErrorPage = Callable[[Request, Mapping[str, Any], Mapping[str, str]], Response]
"""Draws a page that tells a person what went wrong; `state.error_page` of the service."""


def respond(error: FabulaError, request: Request) -> Response:
    """The response that says an error: as JSON to programs, as a page to a browser's reader."""
    headers = error.headers if isinstance(error, Problem) else {}
    status = status_of(error)
    if status == 503:
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} | headers
    if is_for_people(request):
        draw: ErrorPage = request.app.state.error_page
        return draw(request, body(error, request), headers)
    return JSONResponse(
        body(error, request), status, headers, media_type="application/problem+json"
    )


def is_for_people(request: Request) -> bool:
    """Whether a person looks at what is answered: all but what programs call."""
    programs = ("/api/", "/v1/", "/mcp", "/metrics", "/livez", "/readyz", "/openapi.json")
    return not request.url.path.startswith(programs)


def add(service: FastAPI) -> None:
    """Has a service say all that goes wrong in this way."""

    @service.exception_handler(FabulaError)
    def ours(request: Request, error: FabulaError) -> Response:
        if status_of(error) >= 500:
            LOG.warning("%s %s: %s", request.method, request.url.path, error)
        return respond(error, request)

    @service.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        wrong = [
            {"pointer": _point(one["loc"]), "detail": one["msg"][:MAX_PART]}
            for one in islice(error.errors(), MAX_ERRORS)
        ]
        first = wrong[0] if wrong else {"pointer": "", "detail": "the request can't be read"}
        problem = Problem(f"{first['pointer']}: {first['detail']}.", errors=wrong)
        problem.status, problem.name = 422, "invalid"
        return respond(problem, request)

    @service.exception_handler(HTTPException)
    def theirs(request: Request, error: HTTPException) -> Response:
        said = "There is nothing here." if error.status_code == 404 else f"{error.detail}."
        if error.status_code == 413:
            # The door counts what arrives, and FastAPI lets no other error of a body pass.
            return respond(TooBig(said), request)
        problem = Problem(said, headers=error.headers)
        problem.status, problem.name = error.status_code, dashed(str(error.detail))
        return respond(problem, request)

    @service.exception_handler(Exception)
    def unforeseen(request: Request, error: Exception) -> Response:
        LOG.error("%s %s", request.method, request.url.path, exc_info=error)
        problem = Problem("Something went wrong that nobody foresaw; the log tells of it.")
        problem.status, problem.name = 500, "unforeseen"
        return respond(problem, request)


def _point(place: Sequence[int | str]) -> str:
    """Return where in a request something is: a client may call a field anything, at any depth."""
    parts = [part if len(part) <= MAX_PART else f"{part[:MAX_PART]}…" for part in map(str, place)]
    return "/" + "/".join(parts[:MAX_PARTS])
