"""Turn errors into HTTP responses: problems (RFC 9457) for programs, a page for people."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from fabula.errors import FabulaError, ModelError, did_you_mean
from fabula.service.core.errors import (
    Problem,
    UnexpectedError,
    dash_words,
    describe_problem,
    problem_name,
    status_of,
)
from fabula.service.http.addresses import path_of
from fabula.service.http.parameters import find_fields

LOG = logging.getLogger("fabula.service")
RETRY_AFTER_SECONDS = 5
"""The Retry-After of a 503 when nothing says how long the cause will last."""
MAX_ERRORS = 20
"""How many faults of one request are listed."""
MAX_FAULT_CHARACTERS = 200
"""Length of the name of a field, and of the description of its fault."""
MAX_DEPTH = 8
"""How many levels of nested fields a pointer names."""


def body(error: FabulaError, request: Request) -> dict[str, Any]:
    """Return the `application/problem+json` body that describes the error of a request."""
    problem = describe_problem(error)
    members = {
        "instance": request.url.path,
        "request_id": getattr(request.state, "request_id", ""),
    }
    if path_of(request.scope).startswith("/v1/"):
        # Clients of the OpenAI API look for the error here.
        members["error"] = {
            "message": problem["detail"],
            "type": problem_name(error),
            "code": problem["status"],
        }
    return members | problem


ErrorPage = Callable[[Request, Mapping[str, Any], Mapping[str, str]], Response]
"""Renders an error as a page; the page sets it as `app.state.error_page`."""


def respond(error: FabulaError, request: Request) -> Response:
    """Return the response for an error: a problem for programs, a page for people."""
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
    """Return whether a path belongs to the page, and not to what programs call."""
    programs = ("/api/", "/v1/", "/mcp", "/metrics", "/livez", "/readyz", "/openapi.json")
    return not path_of(request.scope).startswith(programs)


def add_handlers(service: FastAPI) -> None:
    """Install the exception handlers of a service."""

    @service.exception_handler(FabulaError)
    def handle_fabula_error(request: Request, error: FabulaError) -> Response:
        if status_of(error) >= 500 and not isinstance(error, ModelError):
            LOG.warning("%s %s: %s", request.method, request.url.path, error)
        return respond(error, request)

    @service.exception_handler(RequestValidationError)
    def handle_invalid_request(request: Request, error: RequestValidationError) -> Response:
        faults = [
            {"pointer": _pointer(_place(fault)), "detail": _describe_fault(fault, request)}
            for fault in islice(error.errors(), MAX_ERRORS)
        ]
        first = faults[0] if faults else {"pointer": "", "detail": "the request can't be read"}
        end = "" if first["detail"].endswith("?") else "."
        problem = Problem(f"{first['pointer']}: {first['detail']}{end}", errors=faults)
        problem.status, problem.name = 422, "invalid"
        return respond(problem, request)

    @service.exception_handler(HTTPException)
    def handle_http_exception(request: Request, error: HTTPException) -> Response:
        detail = "There is nothing here." if error.status_code == 404 else f"{error.detail}."
        if error.status_code == 405:
            detail = (
                f"{request.method} is not possible at this address: /openapi.json lists each "
                "address with its methods."
            )
        problem = Problem(detail, headers=error.headers)
        problem.status, problem.name = error.status_code, dash_words(str(error.detail))
        return respond(problem, request)

    @service.exception_handler(Exception)
    def handle_unexpected(request: Request, error: Exception) -> Response:
        LOG.error("%s %s", request.method, request.url.path, exc_info=error)
        return respond(UnexpectedError(getattr(request.state, "request_id", "")), request)


def _describe_fault(fault: Mapping[str, Any], request: Request) -> str:
    """Return what is wrong with a field, or with a whole body, as the rest of a sentence."""
    kind, location = fault["type"], tuple(fault["loc"])
    if kind == "json_invalid":
        why = fault.get("ctx", {}).get("error", "it can't be parsed")
        place = f" at character {location[1]}" if len(location) > 1 else ""
        return f"not valid JSON: {why[:MAX_FAULT_CHARACTERS]}{place}"
    if location == ("body",) and (kind == "missing" or isinstance(fault["input"], bytes)):
        return "send JSON, with the header `Content-Type: application/json`"
    if kind == "extra_forbidden":
        known = find_fields(request, location[:-1])
        all_known = f"There are: {', '.join(known)}" if known else ""
        hint = did_you_mean(str(location[-1]), known, all_known)
        return f"there is no such field. {hint}" if hint else "there is no such field"
    return "is missing" if kind == "missing" else str(fault["msg"])[:MAX_FAULT_CHARACTERS]


def _place(fault: Mapping[str, Any]) -> Sequence[int | str]:
    """Return where a fault is; a body that can't be parsed is named as a whole."""
    location: Sequence[int | str] = fault["loc"]
    return location[:1] if fault["type"] == "json_invalid" else location


def _pointer(location: Sequence[int | str]) -> str:
    """Return where in a request a fault is. A client may name a field anything, at any depth."""
    names = [
        name if len(name) <= MAX_FAULT_CHARACTERS else f"{name[:MAX_FAULT_CHARACTERS]}…"
        for name in map(str, location)
    ]
    return "/" + "/".join(names[:MAX_DEPTH])
