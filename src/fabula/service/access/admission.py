"""The door: who asks, from where, how often; decided before a request's body is read."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula.errors import FabulaError
from fabula.service.access.caller import Caller
from fabula.service.access.keys import PREFIX
from fabula.service.access.limits import Window
from fabula.service.access.openid import OpenID
from fabula.service.access.sessions import COOKIE
from fabula.service.problems import (
    Elsewhere,
    Forbidden,
    TooBig,
    Unknown,
    is_for_people,
    respond,
)

if TYPE_CHECKING:
    from fabula.service.house import House

OPEN = ("/livez", "/readyz", "/enter", "/signin", "/api/v1/session", "/openapi.json")
"""What is answered to anybody; /static is, too."""
SAFE = ("GET", "HEAD", "OPTIONS")
QUESTIONS = (
    *("/ask", "/ask/answer", "/ask/passages", "/search", "/compare"),
    "/v1/chat/completions",
)
"""Ends of paths that ask a question, or several."""
UPLOADS = ("/documents", "/estimate", "/add")
"""Ends of paths that take files, and write them as they arrive."""
MOST = 4 * 2**20
"""Bytes of any other body: it is held, and parsed by the one thread that answers everybody."""
MOST_OF_STRANGERS = 2**16
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Of all that says nothing else."""
YEAR = "max-age=31536000"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Admission:
    """Lets in those who may; pure ASGI, as streams pass it."""

    def __init__(self, app: ASGIApp, house: House) -> None:
        serving = house.serving
        self._app, self._house, self._serving = app, house, serving
        self._requests = Window(serving.requests_a_minute)
        self._openid = OpenID(serving) if serving.oidc_issuer else None
        self._headers = dict(HEADERS)
        if (serving.url or "").startswith("https:"):
            self._headers["Strict-Transport-Security"] = YEAR
        self._hosts = {host.lower() for host in serving.hosts}
        if named := urlsplit(serving.url or "").hostname:
            self._hosts.add(named)
        if is_loopback(serving.host):
            self._hosts |= LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what may pass, or says why it may not."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        request = Request(scope)

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._refuse_host(request)
            caller = await to_thread.run_sync(self._find, request, limiter=self._house.door)
            name = caller.id if caller else f"from {address_of(request)}"
            # What is refused counts, too: it was looked up who asks.
            self._requests.take(name)
            if caller is not None:
                scope.setdefault("state", {})["caller"] = caller
            elif not is_open(scope["path"]):
                await self._refuse_unknown(request)(scope, receive, send_on)
                return
            self._refuse_forged(request)
            most = self._most(caller, scope["path"])
            _refuse_large(request, most)
            asks = caller is not None and scope["path"].endswith(QUESTIONS)
            under_way = self._house.questions if asks else self._house.requests
            with under_way.one(name):
                await self._app(scope, _counting(receive, most, scope["path"]), send_on)
        except FabulaError as error:
            # What routes refuse is said by the service itself: this is the door's own.
            await respond(error, request)(scope, receive, send_on)

    def _find(self, request: Request) -> Caller | None:
        """Who asks; None where nothing says so. Raises Unknown for what says it wrongly."""
        bearer = request.headers.get("authorization", "")
        if bearer:
            try:
                return self._bearer(bearer)
            except Unknown:
                # Behind a proxy others have the same address: a key that holds is let in.
                self._house.guesses.take(address_of(request))
                raise
        if cookie := request.cookies.get(COOKIE):
            return self._house.sessions.find(cookie)
        return None

    def _bearer(self, told: str) -> Caller:
        kind, _, token = told.partition(" ")
        token = token.strip()
        found = None
        if kind.lower() == "bearer" and token.startswith(PREFIX):
            found = self._house.keys.find(token)
        elif kind.lower() == "bearer" and self._openid:
            found = self._openid.find(token)
        if found is None:
            raise Unknown(
                "That key is not good: it is unknown, revoked or expired.",
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        return found

    def _refuse_unknown(self, request: Request) -> ASGIApp:
        """Where whoever is not known is sent."""
        if is_for_people(request) and request.method in SAFE:
            path = request.url.path
            if request.url.query:
                path += f"?{request.url.query}"
            return RedirectResponse(f"/signin?to={quote(path, safe='')}", 303)
        return respond(
            Unknown(
                "That takes a key: send it as `Authorization: Bearer fab_...`.",
                headers={"WWW-Authenticate": "Bearer"},
            ),
            request,
        )

    def _refuse_host(self, request: Request) -> None:
        """Raises Elsewhere for a name that is not ours: another's page may have it point here."""
        host = host_of(request.headers.get("host", ""))
        if host in self._hosts:
            return
        try:
            # A number can't be made to point elsewhere; behind loopback there is no other.
            ipaddress.ip_address(host)
            known = not is_loopback(self._serving.host)
        except ValueError:
            known = False
        if not known:
            raise Elsewhere(
                "This service does not answer to that name: add it to the setting serve.hosts."
            )

    def _refuse_forged(self, request: Request) -> None:
        """Raises Forbidden for what another site has a browser do, with the browser's cookie.

        By what browsers say of themselves, as Datasette does it: Sec-Fetch-Site, else Origin.
        """
        if request.method in SAFE or request.headers.get("authorization"):
            return
        site = request.headers.get("sec-fetch-site")
        origin = request.headers.get("origin")
        if site is not None:
            good = site in ("same-origin", "none")
        elif origin is not None:
            good = urlsplit(origin).netloc == request.headers.get("host", "")
        else:
            good = True  # no browser
        if not good:
            raise Forbidden("That came from another site's page.")

    def _most(self, caller: Caller | None, path: str) -> int:
        """Bytes that a request's body may have."""
        if caller is None:
            return MOST_OF_STRANGERS
        most = self._serving.upload_bytes
        return most if path.endswith(UPLOADS) else min(most, MOST)


def _refuse_large(request: Request, most: int) -> None:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise TooBig(f"{_too_large(request.url.path, most)}.")


def _too_large(path: str, most: int) -> str:
    """Return why a body is refused, and what to do where it has files in it."""
    if path.endswith(UPLOADS):
        return (
            f"A request may have {most / 1e6:,.0f} MB (serve.max_upload_mb): send the files in "
            "several"
        )
    return f"The body of this request may have {most:,} bytes at most"


def _counting(receive: Receive, most: int, path: str) -> Receive:
    """Counts what arrives, whatever its length was said to be."""
    arrived = 0

    async def receive_on() -> Message:
        nonlocal arrived
        message = await receive()
        if message["type"] == "http.request":
            arrived += len(message.get("body", b""))
            if arrived > most:
                raise HTTPException(413, _too_large(path, most))
        return message

    return receive_on


def address_of(request: Request) -> str:
    """Where a request is from; '' where nothing tells."""
    return request.client.host if request.client else ""


def is_from_elsewhere(request: Request) -> bool:
    """Whether a page of another site led a browser here, with the browser's cookie."""
    if request.headers.get("authorization"):
        return False
    return request.headers.get("sec-fetch-site", "") in ("cross-site", "same-site")


def refuse_led(request: Request, question: str) -> None:
    """Raises Forbidden where another site's page would have a browser ask, and its key pay."""
    if question.strip() and is_from_elsewhere(request):
        raise Forbidden("Another site's page led here: nothing is asked for that.")


def is_open(path: str) -> bool:
    """Whether a path is answered to anybody."""
    return path in OPEN or path.startswith("/static/")


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """The name or the number in a Host header, without a port; '' for none."""
    try:
        return (urlsplit(f"//{header}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def cookie_options(days: int, url: str | None) -> Mapping[str, object]:
    """How a session's cookie is set."""
    return {
        "key": COOKIE,
        "max_age": days * 86_400,
        "httponly": True,
        "samesite": "lax",
        "secure": (url or "").startswith("https:"),
    }
