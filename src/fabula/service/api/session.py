"""Signing in and out of the page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from fabula.service.core.errors import Unauthorized
from fabula.service.core.sessions import COOKIE
from fabula.service.http.admission import address_of
from fabula.service.http.cookies import set_session_cookie
from fabula.service.http.dependencies import State

router = APIRouter(tags=["session"])


class SignIn(BaseModel):
    """A key, or the token of a sign-in link."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field("", max_length=300)
    token: str = Field("", max_length=300)


@router.post("/session", status_code=204, summary="Sign in")
def sign_in(body: SignIn, state: State, response: Response, request: Request) -> None:
    """Begin a session of a browser, and set its cookie."""
    cookie = state.sessions.enter(body.token) if body.token else state.sessions.sign_in(body.key)
    if cookie is None:
        state.guess_limit.take(address_of(request))
        raise Unauthorized("That key is not valid: it is unknown, revoked or expired.")
    set_session_cookie(response, cookie, request, state)


@router.delete("/session", status_code=204, summary="Sign out")
def sign_out(state: State, response: Response, request: Request) -> None:
    """End the session of a browser."""
    if cookie := request.cookies.get(COOKIE):
        state.sessions.end(cookie)
    response.delete_cookie(COOKIE)
