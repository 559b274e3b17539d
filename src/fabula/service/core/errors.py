"""The errors that only the service raises, and how every error is described to a client.

A description has the members of a problem (RFC 9457); `fabula.service.http.errors` adds those that
belong to the request.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fabula.errors import (
    BadValue,
    BudgetSpent,
    Changed,
    Conflict,
    CorrectionRefused,
    DataError,
    FabulaError,
    Forbidden,
    InvalidPlace,
    LoadError,
    ModelError,
    NotFound,
    Refused,
    ServerError,
    SettingsError,
    SpaceError,
    StoreError,
    TextRefused,
    TooLarge,
)
from fabula.jobs.uploads import DiskFull

LOG = logging.getLogger("fabula.service")
STATUS: Mapping[type[FabulaError], int] = {
    SettingsError: 400,
    BadValue: 400,
    LoadError: 422,
    InvalidPlace: 422,
    DataError: 422,
    NotFound: 404,
    TooLarge: 413,
    SpaceError: 409,
    Changed: 409,
    Conflict: 409,
    DiskFull: 507,
    Forbidden: 403,
    CorrectionRefused: 409,
    Refused: 400,
    BudgetSpent: 402,
    ModelError: 502,
    ServerError: 503,
    StoreError: 503,
    FabulaError: 500,
}
"""The HTTP status of each class of errors; a subclass without an entry has that of its parent.

What a caller can mend has a class of its own: the rest is a fault of the service."""


class Problem(FabulaError):
    """A request that only the service has to refuse.

    Args:
        detail: The message, one or two sentences.
        headers: Headers of the response.
        extra: Further members of the problem's description.
    """

    status = 400
    """The HTTP status."""
    name = "bad-request"
    """The last part of the problem's type."""

    def __init__(
        self, detail: str, *, headers: Mapping[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(detail)
        self.headers = dict(headers or {})
        self.extra = extra


class Unauthorized(Problem):
    """The request has no key, session or token, or one that is not valid."""

    status, name = 401, "unknown-key"


class Misdirected(Problem):
    """The request names a host that is not this service."""

    status, name = 421, "misdirected"


class ClientLeft(Problem):
    """The client left before its request was complete; nobody gets the response.

    The status is the one that nginx writes into its log.
    """

    status, name = 499, "client-left"


class UnexpectedError(Problem):
    """An error in the service itself, whose traceback is in the log."""

    status, name = 500, "unexpected-error"

    def __init__(self, request_id: str) -> None:
        super().__init__(
            f"Unexpected error. The log of the service has the details under request {request_id}.",
            request_id=request_id,
        )


class NotNow(Problem):
    """A request that the client may send again later.

    Args:
        detail: The message.
        retry_after_seconds: When it may.
    """

    def __init__(self, detail: str, retry_after_seconds: float) -> None:
        super().__init__(detail, headers={"Retry-After": str(max(1, round(retry_after_seconds)))})


class TooManyRequests(NotNow):
    """The caller has sent more requests at once, or within a minute, than it may."""

    status, name = 429, "too-many"


class Unavailable(NotNow):
    """The service can't answer now, for example because Neo4j is down."""

    status, name = 503, "unavailable"


def status_of(error: FabulaError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, Problem):
        return error.status
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def describe_problem(error: FabulaError) -> dict[str, Any]:
    """Return the members of a problem (RFC 9457) that describe an error."""
    return {
        "type": f"/problems/{problem_name(error)}",
        "title": problem_name(error).replace("-", " ").capitalize(),
        "status": status_of(error),
        "detail": public_message(error),
        **(error.extra if isinstance(error, Problem) else {}),
        **({"state": error.state} if isinstance(error, Conflict) and error.state else {}),
    }


def public_message(error: FabulaError) -> str:
    """Return what any caller may read of an error.

    What model endpoints answer names addresses and settings, which are the operator's business: it
    is logged, and not returned.
    """
    if not isinstance(error, ModelError) or isinstance(error, BudgetSpent):
        return error.message
    LOG.warning("A model failed: %s", error)
    if isinstance(error, TextRefused):
        return "The model refused a text of this question or of its passages."
    return "The model did not answer this: ask again in a moment. The service's log has the reason."


def problem_name(error: FabulaError) -> str:
    """Return the last part of a problem's type, such as `not-found`."""
    return error.name if isinstance(error, Problem) else dash_words(type(error).__name__)


def dash_words(name: str) -> str:
    """Return a name in lower case with dashes: NotFound as not-found."""
    words = "".join(f" {letter}" if letter.isupper() else letter for letter in name).split()
    return "-".join(words).lower()


def describe_failure(error: FabulaError) -> str:
    """Return why a part of a question failed, without the addresses of servers."""
    # A SpaceError is about the collection, and names no server.
    if isinstance(error, ServerError | StoreError) and not isinstance(error, SpaceError):
        return "Its Neo4j server does not answer."
    return public_message(error)
