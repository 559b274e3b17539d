"""Signing in and out of the page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from fabula.service.core.errors import Unknown
from fabula.service.core.sessions import COOKIE
from fabula.service.http.admission import address_of
from fabula.service.http.cookies import keep_session
from fabula.service.http.dependencies import TheHouse

router = APIRouter(tags=["session"])


class SignIn(BaseModel):
    """A key, or the token of a link; one of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field("", max_length=300)
    token: str = Field("", max_length=300)


@router.post("/session", status_code=204)
def sign_in(told: SignIn, house: TheHouse, response: Response, request: Request) -> None:
    """Begins a session of a browser: sets its cookie."""
    cookie = house.sessions.enter(told.token) if told.token else house.sessions.sign_in(told.key)
    if cookie is None:
        house.guesses.take(address_of(request))
        raise Unknown("That key is not good: it is unknown, revoked or expired.")
    keep_session(response, cookie, request, house)


@router.delete("/session", status_code=204)
def sign_out(house: TheHouse, response: Response, request: Request) -> None:
    """Ends the session of a browser."""
    if cookie := request.cookies.get(COOKIE):
        house.sessions.end(cookie)
    response.delete_cookie(COOKIE)
