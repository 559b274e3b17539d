"""The errors that only a service raises, and how every error is described to a client.

A description has the members of a problem of RFC 9457; the HTTP border adds those of the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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


def describe_problem(error: FabulaError) -> dict[str, Any]:
    """Return the members of a problem (RFC 9457) that describe an error."""
    return {
        "type": f"/problems/{problem_name(error)}",
        "title": problem_name(error).replace("-", " ").capitalize(),
        "status": status_of(error),
        "detail": message(error),
        **(error.extra if isinstance(error, Problem) else {}),
    }


def problem_name(error: FabulaError) -> str:
    """Return the last part of a problem's type, as `not-found`."""
    return error.name if isinstance(error, Problem) else dashed(type(error).__name__)


def dashed(name: str) -> str:
    """NotFound as not-found, 'Method Not Allowed' as method-not-allowed."""
    words = "".join(f" {one}" if one.isupper() else one for one in name).split()
    return "-".join(words).lower()
