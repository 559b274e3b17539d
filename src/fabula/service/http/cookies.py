"""The cookie of a browser's session."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request, Response

from fabula.service.core.sessions import COOKIE
from fabula.service.state import ServiceState


def set_session_cookie(
    response: Response, cookie: str, request: Request, state: ServiceState
) -> None:
    """Set the cookie of a new session, and end the session that the browser had before."""
    if previous := request.cookies.get(COOKIE):
        state.sessions.end(previous)
    options = cookie_options(state.sessions.days, state.serving.url)
    response.set_cookie(value=cookie, **options)  # type: ignore[arg-type]


def cookie_options(days: int, url: str | None) -> Mapping[str, object]:
    """Return the options with which a session's cookie is set."""
    return {
        "key": COOKIE,
        "max_age": days * 86_400,
        "httponly": True,
        "samesite": "lax",
        "secure": (url or "").startswith("https:"),
    }
