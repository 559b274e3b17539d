"""Signing in with a key, and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from fabula.service.core.sessions import COOKIE
from fabula.service.http.admission import address_of
from fabula.service.http.cookies import set_session_cookie
from fabula.service.http.dependencies import State
from fabula.service.page.rendering import show

router = APIRouter()


@router.get("/signin")
def signin(request: Request, to: str = "/") -> Response:
    """The form for a key."""
    return show(request, "signin.html", {"to": _own(to), "wrong": ""})


@router.post("/signin")
def sign_in(
    request: Request,
    state: State,
    key: Annotated[str, Form(max_length=300)] = "",
    to: Annotated[str, Form(max_length=4000)] = "/",
) -> Response:
    """Signs in, and goes on to where one was going."""
    cookie = state.sessions.sign_in(key)
    if cookie is None:
        state.guess_limit.take(address_of(request))
        wrong = "That key is not valid: it is unknown, revoked or expired."
        return show(request, "signin.html", {"to": _own(to), "wrong": wrong}, 401)
    response = RedirectResponse(_own(to), 303)
    set_session_cookie(response, cookie, request, state)
    return response


@router.post("/signout")
def sign_out(request: Request, state: State) -> Response:
    """Ends the session of this browser."""
    if cookie := request.cookies.get(COOKIE):
        state.sessions.end(cookie)
    response = RedirectResponse("/signin", 303)
    response.delete_cookie(COOKIE)
    return response


def _own(to: str) -> str:
    """A path of ours to go on to: nobody is sent elsewhere by what stands in a link."""
    is_path = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if is_path else "/"
