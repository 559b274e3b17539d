"""The cookie of a browser's session."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request, Response

from fabula.service.core.sessions import COOKIE
from fabula.service.state import ServiceState


def set_session_cookie(
    response: Response, cookie: str, request: Request, state: ServiceState, hours: int = 0
) -> None:
    """Set the cookie of a new session, and end the session that the browser had before.

    The session lasts some hours, or if they are 0 the days of the setting.
    """
    if previous := request.cookies.get(COOKIE):
        state.sessions.end(previous)
    # A proxy that is trusted says that the browser came by https, also without `serve.url`.
    url = state.serving.url or str(request.base_url)
    options = dict(cookie_options(state.sessions.days, url))
    if hours:
        options["max_age"] = hours * 3600
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
