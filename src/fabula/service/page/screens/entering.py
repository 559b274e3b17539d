"""The link that signs a browser in, once."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from fabula.service.core.errors import Unknown
from fabula.service.core.sessions import COOKIE
from fabula.service.http.admission import address_of
from fabula.service.http.cookies import keep_session
from fabula.service.http.dependencies import TheHouse

router = APIRouter()


@router.get("/enter")
def enter(request: Request, house: TheHouse, token: str = "") -> Response:
    """Signs in, and goes on to the shelf; what only looks at the link does not use it up."""
    if request.headers.get("sec-fetch-mode", "navigate") != "navigate" or (
        "prefetch" in request.headers.get("sec-purpose", "")
    ):
        return Response(status_code=204)
    cookie = house.sessions.enter(token)
    if cookie is None:
        had = request.cookies.get(COOKIE)
        if had and house.sessions.find(had):
            return RedirectResponse("/", 303)
        house.guesses.take(address_of(request))
        raise Unknown(
            "That link is not good any more: it works once, for 15 minutes. fabula keys link "
            "prints another one."
        )
    response = RedirectResponse("/", 303)
    keep_session(response, cookie, request, house)
    return response
