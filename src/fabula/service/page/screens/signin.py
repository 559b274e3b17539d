"""Signing in with a key or with a link that works once, and signing out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from fabula.service.core.errors import Unauthorized
from fabula.service.core.sessions import COOKIE
from fabula.service.http.admission import address_of
from fabula.service.http.cookies import set_session_cookie
from fabula.service.http.dependencies import State
from fabula.service.page.rendering import show

router = APIRouter()


@router.get("/enter")
def enter(request: Request, state: State, token: str = "") -> Response:
    """Sign in by the token of a link, and go to the first screen.

    Requests that only preview or prefetch the link do not use up its token.
    """
    if request.headers.get("sec-fetch-mode", "navigate") != "navigate" or (
        "prefetch" in request.headers.get("sec-purpose", "")
    ):
        return Response(status_code=204)
    cookie = state.sessions.enter(token)
    if cookie is None:
        current = request.cookies.get(COOKIE)
        if current and state.sessions.find(current):
            return RedirectResponse("/", 303)
        state.guess_limit.take(address_of(request))
        raise Unauthorized(
            "This link is no longer valid: it works once, within 15 minutes. "
            "`fabula keys link` prints a new one."
        )
    response = RedirectResponse("/", 303)
    set_session_cookie(response, cookie, request, state)
    return response


@router.get("/signin")
def show_form(request: Request, to: str = "/") -> Response:
    """Show the form for a key."""
    return show(request, "signin.html", {"to": _local_path(to), "error": ""})


@router.post("/signin")
def sign_in(
    request: Request,
    state: State,
    key: Annotated[str, Form(max_length=300)] = "",
    to: Annotated[str, Form(max_length=4000)] = "/",
) -> Response:
    """Sign in by a key, and go to the address that the person wanted to open."""
    cookie = state.sessions.sign_in(key)
    if cookie is None:
        state.guess_limit.take(address_of(request))
        error = "That key is not valid: it is unknown, revoked or expired."
        return show(request, "signin.html", {"to": _local_path(to), "error": error}, 401)
    response = RedirectResponse(_local_path(to), 303)
    set_session_cookie(response, cookie, request, state)
    return response


@router.post("/signout")
def sign_out(request: Request, state: State) -> Response:
    """End the session of this browser."""
    if cookie := request.cookies.get(COOKIE):
        state.sessions.end(cookie)
    response = RedirectResponse("/signin", 303)
    response.delete_cookie(COOKIE)
    return response


def _local_path(to: str) -> str:
    """Return the path to go to after signing in, or "/" for an address outside this service.

    Otherwise a link to the form could send people to another site after they have signed in.
    """
    is_path = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if is_path else "/"
