"""The door: who asks, from where, how often; decided before a request's body is read."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula.errors import FabulaError
from fabula.graph.nesting import find_excess
from fabula.service.core.callers import Caller
from fabula.service.core.errors import Elsewhere, Forbidden, Problem, TooBig, Unavailable, Unknown
from fabula.service.core.keys import PREFIX
from fabula.service.core.rate_limits import Window
from fabula.service.core.sessions import COOKIE
from fabula.service.http.errors import is_for_people, respond
from fabula.service.http.openid import OpenID
from fabula.text.names import has_control, quoted

if TYPE_CHECKING:
    from fabula.service.state import House


OPEN = ("/livez", "/readyz", "/enter", "/signin", "/api/v1/session", "/openapi.json")
"""What is answered to anybody; /static is, too."""


HEALTH = ("/livez", "/readyz")


SIGN_IN = "/signin"


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


FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
"""Kinds of bodies that hold no JSON."""


BREAKS = "\t\n\r\u2028\u2029"
"""What a question may have of the characters that no name has."""


MAX_PARAMETERS = 200
"""Parameters that an address may have."""


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
            await self._admit(request, receive, send_on)
        except FabulaError as error:
            # What routes refuse is said by the service itself: this is the door's own.
            await respond(error, request)(scope, receive, send_on)

    async def _admit(self, request: Request, receive: Receive, send: Send) -> None:
        scope = request.scope
        self._refuse_host(request)
        _refuse_two_lengths(request)
        if needs_no_graph(request):
            await self._app(scope, receive, send)
            return
        with self._house.maintenance.count_request():
            await self._admit_counted(request, receive, send)

    async def _admit_counted(self, request: Request, receive: Receive, send: Send) -> None:
        scope = request.scope
        if outage := self._house.neo4j.outage():
            raise Unavailable(outage.reason, outage.retry_after)
        caller, name = await self._identify(request)
        if caller is not None:
            scope.setdefault("state", {})["caller"] = caller
        elif not is_open(scope["path"]):
            await self._refuse_unknown(request)(scope, receive, send)
            return
        self._refuse_forged(request)
        _refuse_unprintable(request)
        most = self._most(caller, scope["path"])
        _refuse_large(request, most)
        asks = caller is not None and scope["path"].endswith(QUESTIONS)
        under_way = self._house.questions if asks else self._house.requests
        receive = _counting(receive, most, scope["path"])
        if caller is None:
            # A slow body of a stranger's holds no place of those at the same address.
            receive = await _receive_whole(receive)
        with under_way.one(name):
            if _holds_json(request):
                receive = await self._read_json(receive)
            await self._app(scope, receive, send)

    async def _identify(self, request: Request) -> tuple[Caller | None, str]:
        """Return who asks, and the name by which that one's requests are counted.

        Raises TooMany, and Unknown for a key that does not hold.
        """
        address = address_of(request)
        if request.scope["path"] == SIGN_IN:
            # The form tells who signs in, and a right key is let in whatever a neighbour at the
            # same address does: wrong ones alone are counted, by the route.
            return None, f"signing in from {address}"
        caller = await to_thread.run_sync(self._find, request, limiter=self._house.door)
        name = caller.id if caller else f"from {address}"
        # What is refused counts, too: it was looked up who asks.
        self._requests.take(name)
        return caller, name

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

    async def _read_json(self, receive: Receive) -> Receive:
        """Read the whole body before anything parses it, and pass it on in one piece.

        Raises Problem where it is nested too deep. It is held in any case, and is small.
        """
        messages = await _receive_all(receive)
        if messages[-1]["type"] != "http.request":
            return _hand_over(messages, receive)
        body = b"".join(message.get("body", b"") for message in messages)
        if excess := await to_thread.run_sync(find_excess, body, limiter=self._house.door):
            raise Problem(f"The JSON of this request {excess}.")
        return _hand_over([{"type": "http.request", "body": body, "more_body": False}], receive)

    def _most(self, caller: Caller | None, path: str) -> int:
        """Bytes that a request's body may have."""
        if caller is None:
            return MOST_OF_STRANGERS
        most = self._serving.upload_bytes
        return most if path.endswith(UPLOADS) else min(most, MOST)


def _refuse_two_lengths(request: Request) -> None:
    """Raise Problem for a body whose length is told in two ways, and have the connection closed.

    A proxy may believe the other one, and take for a second request what is part of this one's
    body (RFC 9112, section 6.1).
    """
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        raise Problem(
            "A request has a Content-Length or a Transfer-Encoding, and not both.",
            headers={"Connection": "close"},
        )


async def _receive_whole(receive: Receive) -> Receive:
    """Wait for the whole body, which is a stranger's and small, and return what hands it over."""
    return _hand_over(await _receive_all(receive), receive)


async def _receive_all(receive: Receive) -> list[Message]:
    """Return all messages of a body. Raises TooBig for one that is too large."""
    messages: list[Message] = []
    try:
        while not messages or messages[-1].get("more_body"):
            messages.append(await receive())
    except HTTPException as error:
        raise TooBig(f"{error.detail}.") from error
    return messages


def _hand_over(messages: Sequence[Message], receive: Receive) -> Receive:
    """Return what hands over messages that came already, and then the others."""
    waiting = iter(messages)

    async def receive_on() -> Message:
        return next(waiting, None) or await receive()

    return receive_on


def _holds_json(request: Request) -> bool:
    """Whether a request has a body that its route will read as JSON, whole.

    Files and long texts are read as they arrive; the model of a text that comes as JSON is flat,
    and pydantic's parser, which alone reads it, has a limit of its own.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_upload = request.scope["path"].endswith(UPLOADS)
    return request.method not in SAFE and kind not in FORMS and not is_upload


def _refuse_unprintable(request: Request) -> None:
    """Raises Problem for control characters in an address, and for too many parameters.

    No name has such a character; a question may have line breaks and tabs.
    """
    if has_control(request.scope["path"]):
        raise Problem("The path has a control character in it, and no name has one.")
    try:
        given = parse_qsl(
            request.scope["query_string"].decode("latin-1"),
            keep_blank_values=True,
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError as error:
        raise Problem(f"An address may have {MAX_PARAMETERS} parameters.") from error
    for name, value in given:
        if has_control(name) or has_control(value, BREAKS):
            raise Problem(f"The parameter {quoted(name)} has a control character in it.")


def _refuse_large(request: Request, most: int) -> None:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise TooBig(f"{_too_large(request.scope['path'], most)}.")


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


def needs_no_graph(request: Request) -> bool:
    """Whether a request is answered without Neo4j, whoever sends it, and is not counted.

    These cost next to nothing: health checks, static files and the form to sign in.
    """
    path = request.scope["path"]
    return (
        path in HEALTH
        or path.startswith("/static/")
        or (path == SIGN_IN and request.method in ("GET", "HEAD"))
    )


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
