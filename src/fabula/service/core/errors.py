"""The errors that only a service raises, and how every error is described to a client.

A description has the members of a problem of RFC 9457; the HTTP border adds those of the request.
"""

from __future__ import annotations

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


class Unauthorized(Problem):
    """Nobody knows who asks: no key, or none that is good."""

    status, name = 401, "unknown-key"


class Misdirected(Problem):
    """Whoever was meant, it is not this service."""

    status, name = 421, "misdirected"


class Forbidden(Problem):
    """Who asks may not do that."""

    status, name = 403, "forbidden"


class Conflict(Problem):
    """It is in the way of what is there."""

    status, name = 409, "conflict"


class BodyTooLarge(Problem):
    """More bytes than are taken."""

    status, name = 413, "too-large"


class TooManyRequests(Problem):
    """More at once, or in a minute, than a key may ask; `after` seconds it may again."""

    status, name = 429, "too-many"

    def __init__(self, detail: str, after: float) -> None:
        super().__init__(detail, headers={"Retry-After": str(max(1, round(after)))})


class UnexpectedError(Problem):
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


def describe_problem(error: FabulaError) -> dict[str, Any]:
    """Return the members of a problem (RFC 9457) that describe an error."""
    return {
        "type": f"/problems/{problem_name(error)}",
        "title": problem_name(error).replace("-", " ").capitalize(),
        "status": status_of(error),
        "detail": error.message,
        **(error.extra if isinstance(error, Problem) else {}),
    }


def problem_name(error: FabulaError) -> str:
    """Return the last part of a problem's type, as `not-found`."""
    return error.name if isinstance(error, Problem) else dashed(type(error).__name__)


def dashed(name: str) -> str:
    """NotFound as not-found, 'Method Not Allowed' as method-not-allowed."""
    words = "".join(f" {one}" if one.isupper() else one for one in name).split()
    return "-".join(words).lower()
