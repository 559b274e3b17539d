"""The cookie of a browser's session."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request, Response

from fabula.service.core.sessions import COOKIE
from fabula.service.state import House


def keep_session(response: Response, cookie: str, request: Request, house: House) -> None:
    """Has a browser keep a session; one that it had ends, as it forgets that one's cookie."""
    if had := request.cookies.get(COOKIE):
        house.sessions.end(had)
    options = cookie_options(house.sessions.days, house.serving.url)
    response.set_cookie(value=cookie, **options)  # type: ignore[arg-type]


def cookie_options(days: int, url: str | None) -> Mapping[str, object]:
    """How a session's cookie is set."""
    return {
        "key": COOKIE,
        "max_age": days * 86_400,
        "httponly": True,
        "samesite": "lax",
        "secure": (url or "").startswith("https:"),
    }
