"""What goes wrong, as RFC 9457 says it: our errors' own sentences, with real status codes."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from fabula.errors import (
    BadValue,
    BudgetSpent,
    Changed,
    DataError,
    FabulaError,
    LoadError,
    ModelError,
    NotFound,
    Refused,
    ServerError,
    SettingsError,
    SpaceError,
    StoreError,
    TooLarge,
)

LOG = logging.getLogger("fabula.service")
STATUS: Mapping[type[FabulaError], int] = {
    SettingsError: 400,
    BadValue: 400,
    LoadError: 422,
    DataError: 422,
    NotFound: 404,
    TooLarge: 413,
    SpaceError: 409,
    Changed: 409,
    Refused: 400,
    BudgetSpent: 402,
    ModelError: 502,
    ServerError: 503,
    StoreError: 503,
    FabulaError: 400,
}
"""An error has the status of its nearest kind."""
RETRY_AFTER_SECONDS = 5
"""When a client is to come again where Neo4j failed and nothing tells how long that lasts."""
MAX_ERRORS = 20
"""Faults of one request that are told."""
MAX_PART = 200
"""Characters of the name of a field, or of what is wrong with it."""
MAX_PARTS = 8
"""Fields within one another that are named."""


IN_A_SERVICE = (
    (r" \(FABULA_[A-Z_]+\)", ""),
    (r"`fabula list` shows them:", "There are:"),
    (
        (
            r"run `fabula ingest BOOK --collection .+?`, or choose another with --collection; "
            r"`fabula list --all` shows all"
        ),
        "add documents to it, or name another collection",
    ),
    (
        r"run `fabula build (\S+)(?: \S+)? --collection .+?`, or choose another --mode",
        r"have \1 built (POST .../build), or choose another mode",
    ),
    (r"run `fabula build (\S+)`", r"have \1 built (POST .../build)"),
    (r"`fabula build (\S+) \S+` makes it", r"have \1 built (POST .../build)"),
    (
        (
            r"Set FABULA_EMBEDDING_MODEL=(\S+), or run `fabula reembed .+?`, or use another "
            r"--collection"
        ),
        (
            r"Have the service started with the embedding model \1, or the collection embedded "
            r"again (POST .../reembed), or name another collection"
        ),
    ),
    (
        r"run `fabula reembed [^`]+` to go on with it, or give it up with `fabula reembed [^`]+`",
        "begin that again (POST .../reembed) to go on with it",
    ),
    (r"`fabula cypher --list` shows them", "GET /api/v1/queries lists them"),
    (r"`fabula keys list` has them", "GET /api/v1/keys lists them"),
    (r"Run the (?:same )?command again", "Try again"),
    (r"run the (?:same )?command again", "try again"),
    (
        (
            r"set FABULA_NEO4J_HEAP=1g, or more than it is now, and run `fabula db stop`; of a "
            r"server of your own raise server.memory.heap.max_size"
        ),
        "whoever runs the service can do that (FABULA_NEO4J_HEAP)",
    ),
)
"""What messages advise at a command line, and what they say to who asks over HTTP."""


class Problem(FabulaError):
    """What only a service has to refuse; `extra` are further members of what it says."""

    status = 400
    name = "bad-request"

    def __init__(
        self, detail: str, *, headers: Mapping[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(detail)
        self.headers = dict(headers or {})
        self.extra = extra


class Unknown(Problem):
    """Nobody knows who asks: no key, or none that is good."""

    status, name = 401, "unknown-key"


class Elsewhere(Problem):
    """Whoever was meant, it is not this service."""

    status, name = 421, "misdirected"


class Forbidden(Problem):
    """Who asks may not do that."""

    status, name = 403, "forbidden"


class Conflict(Problem):
    """It is in the way of what is there."""

    status, name = 409, "conflict"


class TooBig(Problem):
    """More bytes than are taken."""

    status, name = 413, "too-large"


class TooMany(Problem):
    """More at once, or in a minute, than a key may ask; `after` seconds it may again."""

    status, name = 429, "too-many"

    def __init__(self, detail: str, after: float) -> None:
        super().__init__(detail, headers={"Retry-After": str(max(1, round(after)))})


class Unexpected(Problem):
    """An error of ours, whose trace is in the log."""

    status, name = 500, "unexpected"


class Unavailable(Problem):
    """Neo4j can't be asked now; `after` seconds it may be again."""

    status, name = 503, "unavailable"

    def __init__(self, detail: str, after: float) -> None:
        super().__init__(detail, headers={"Retry-After": str(max(1, round(after)))})


def status_of(error: FabulaError) -> int:
    """The HTTP status of an error."""
    if isinstance(error, Problem):
        return error.status
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def message(error: FabulaError) -> str:
    """Return what an error says, without what only helps at a command line."""
    told = str(error)
    for pattern, instead in IN_A_SERVICE:
        told = re.sub(pattern, instead, told)
    return told


def body(error: FabulaError, request: Request | None = None) -> dict[str, Any]:
    """An error as `application/problem+json` says it."""
    status = status_of(error)
    name = error.name if isinstance(error, Problem) else _dashed(type(error).__name__)
    said: dict[str, Any] = {
        "type": f"/problems/{name}",
        "title": name.replace("-", " ").capitalize(),
        "status": status,
        "detail": message(error),
    }
    if request is not None:
        said["instance"] = request.url.path
        said["request_id"] = getattr(request.state, "request_id", "")
    if request is not None and request.url.path.startswith("/v1/"):
        # Where clients of OpenAI's look.
        said["error"] = {"message": message(error), "type": name, "code": status}
    return said | (error.extra if isinstance(error, Problem) else {})


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
        problem.status, problem.name = error.status_code, _dashed(str(error.detail))
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


def _dashed(name: str) -> str:
    """NotFound as not-found, 'Method Not Allowed' as method-not-allowed."""
    words = "".join(f" {one}" if one.isupper() else one for one in name).split()
    return "-".join(words).lower()
