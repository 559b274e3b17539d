"""The link that signs a browser in, once."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from fabula.service.core.errors import Unauthorized
from fabula.service.core.sessions import COOKIE
from fabula.service.http.admission import address_of
from fabula.service.http.cookies import set_session_cookie
from fabula.service.http.dependencies import State

router = APIRouter()


@router.get("/enter")
def enter(request: Request, state: State, token: str = "") -> Response:
    """Signs in, and goes on to the shelf; what only looks at the link does not use it up."""
    if request.headers.get("sec-fetch-mode", "navigate") != "navigate" or (
        "prefetch" in request.headers.get("sec-purpose", "")
    ):
        return Response(status_code=204)
    cookie = state.sessions.enter(token)
    if cookie is None:
        had = request.cookies.get(COOKIE)
        if had and state.sessions.find(had):
            return RedirectResponse("/", 303)
        state.guess_limit.take(address_of(request))
        raise Unauthorized(
            "That link is not good any more: it works once, for 15 minutes. fabula keys link "
            "prints another one."
        )
    response = RedirectResponse("/", 303)
    set_session_cookie(response, cookie, request, state)
    return response
