"""The cookie of a browser's session."""

from __future__ import annotations

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
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=3600 * (hours or 24 * state.serving.session_days),
        httponly=True,
        samesite="lax",
        secure=url.startswith("https:"),
    )
