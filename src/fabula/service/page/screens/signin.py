"""Signing in with a key, a link that works once or at an OpenID provider, and signing out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.errors import NotFound
from fabula.service.core.errors import Unauthorized, Unavailable
from fabula.service.core.openid_grants import NoGrant
from fabula.service.core.sessions import COOKIE
from fabula.service.http.addresses import address, local_path
from fabula.service.http.admission import address_of
from fabula.service.http.cookies import set_session_cookie
from fabula.service.http.dependencies import State, state_of
from fabula.service.http.openid_login import COOKIE as LOGIN_COOKIE
from fabula.service.http.openid_login import LOGIN_SECONDS, OpenIDLogin
from fabula.service.page.rendering import show

router = APIRouter()
CALLBACK = "/signin/openid/callback"
"""The path that the OpenID provider leads back to; it has to be registered there."""
MAX_PATH_CHARACTERS = 1000
"""A longer path is not gone back to after signing in at the provider."""


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
def show_form(
    request: Request,
    to: str = "/",
    left: Annotated[bool, Query(description="the person has just signed out")] = False,
) -> Response:
    """Show the form for a key, and the way to sign in at the OpenID provider if there is one."""
    values = {"to": local_path(to), "error": ""} | _provider_values(request)
    login = _login_of(request)
    if left and login:
        values["sign_out_there"] = login.sign_out_address(f"{_base_of(request)}/signin")
    return show(request, "signin.html", values)


@router.get("/signin/openid")
def begin_openid(request: Request, to: str = "/") -> Response:
    """Lead to the form of the OpenID provider."""
    login = _login_or_refuse(request)
    # The cookie has the path, and browsers drop a cookie of more than 4 kB.
    path = local_path(to) if len(to) <= MAX_PATH_CHARACTERS else "/"
    try:
        place, cookie = login.begin(f"{_base_of(request)}{CALLBACK}", path)
    except Unavailable as error:
        return _refuse_openid(request, error.message, error.status, path)
    response = RedirectResponse(place, 303)
    response.set_cookie(
        LOGIN_COOKIE,
        cookie,
        max_age=LOGIN_SECONDS,
        path=address("signin"),
        httponly=True,
        samesite="lax",
        secure=_base_of(request).startswith("https:"),
    )
    return response


@router.get(CALLBACK)
def finish_openid(request: Request, state: State) -> Response:
    """Sign in who has come back from the OpenID provider, and go to where they wanted to go."""
    login = _login_or_refuse(request)
    try:
        claims, to = login.finish(
            dict(request.query_params),
            request.cookies.get(LOGIN_COOKIE, ""),
            f"{_base_of(request)}{CALLBACK}",
        )
        cookie = state.sessions.sign_in_by_claims(claims)
    except Unauthorized as error:
        state.guess_limit.take(address_of(request))
        return _refuse_openid(request, error.message, 401)
    except NoGrant as error:
        return _refuse_openid(request, str(error), 403)
    except Unavailable as error:
        return _refuse_openid(request, error.message, error.status)
    response = RedirectResponse(local_path(to), 303)
    set_session_cookie(response, cookie, request, state, state.serving.oidc_hours)
    response.delete_cookie(LOGIN_COOKIE, path=address("signin"))
    return response


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
        values = {"to": local_path(to), "error": error} | _provider_values(request)
        return show(request, "signin.html", values, 401)
    response = RedirectResponse(local_path(to), 303)
    set_session_cookie(response, cookie, request, state)
    return response


@router.post("/signout")
def sign_out(request: Request, state: State) -> Response:
    """End the session of this browser."""
    if cookie := request.cookies.get(COOKIE):
        state.sessions.end(cookie)
    left = "?left=true" if _login_of(request) else ""
    response = RedirectResponse(f"/signin{left}", 303)
    response.delete_cookie(COOKIE)
    return response


def _login_of(request: Request) -> OpenIDLogin | None:
    login: OpenIDLogin | None = request.app.state.openid_login
    return login


def _login_or_refuse(request: Request) -> OpenIDLogin:
    if login := _login_of(request):
        return login
    raise NotFound("This service has no OpenID provider to sign in at.")


def _provider_values(request: Request) -> dict[str, str]:
    """Return the values of the template that tell of the OpenID provider; none without one."""
    if _login_of(request) is None:
        return {}
    return {"provider": state_of(request).serving.oidc_name}


def _refuse_openid(request: Request, reason: str, status: int, to: str = "/") -> Response:
    """Show why signing in at the provider did not work, with the form: a key may do instead."""
    values = {"to": to, "error": reason} | _provider_values(request)
    response = show(request, "signin.html", values, status)
    response.delete_cookie(LOGIN_COOKIE, path=address("signin"))
    return response


def _base_of(request: Request) -> str:
    """Return the address of this service as people type it, without a slash at its end."""
    return (state_of(request).serving.url or str(request.base_url)).rstrip("/")
