"""Admission: identify the caller of a request and apply the limits, before its body is read."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula.config.serving import Serving
from fabula.errors import FabulaError, Forbidden, TooLarge
from fabula.graph.nesting import find_excess
from fabula.jobs.callers import VISITOR_ID, Caller, Quotas
from fabula.operations.keys import PREFIX
from fabula.service.core.caller_limits import RequestLimit
from fabula.service.core.errors import ClientLeft, Misdirected, Problem, Unauthorized, Unavailable
from fabula.service.core.sessions import COOKIE
from fabula.service.http.addresses import path_of
from fabula.service.http.errors import is_for_people, respond
from fabula.service.http.openid import OpenID
from fabula.service.http.route_rules import RouteRules, RouteTable
from fabula.text.names import has_control, quote_name

if TYPE_CHECKING:
    from fabula.service.state import ServiceState


OPEN_PATHS = (
    *("/livez", "/readyz", "/enter", "/signin", "/api/v1/session", "/openapi.json"),
    *("/signin/openid", "/signin/openid/callback"),
)
"""The paths that anybody may request; /static is another one."""
HEALTH_PATHS = ("/livez", "/readyz")
SIGN_IN_PATH = "/signin"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
MAX_STRANGER_BODY_BYTES = 2**16
"""The largest body of a request without a valid key."""
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
"""The content types of bodies that are not JSON."""
ALLOWED_CONTROLS = "\t\n\r\u2028\u2029"
"""The control characters that a value may have, such as line breaks in a question."""
MAX_PARAMETERS = 200
"""How many query parameters a request may have."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""The headers of responses that do not set their own."""
HSTS = "max-age=31536000"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Admission:
    """Middleware that admits requests; pure ASGI, as BaseHTTPMiddleware would hold up streams."""

    def __init__(self, app: ASGIApp, state: ServiceState, routes: RouteTable) -> None:
        serving = state.serving
        self._app, self._state, self._serving, self._routes = app, state, serving, routes
        self._requests = RequestLimit(serving.requests_a_minute)
        self._openid = OpenID(serving) if serving.oidc_issuer else None
        self._visitor = _make_visitor(serving) if serving.public else None
        self._visits = RequestLimit(serving.public_requests_a_minute)
        self._headers = dict(HEADERS)
        if (serving.url or "").startswith("https:"):
            self._headers["Strict-Transport-Security"] = HSTS
        self._hosts = {host.lower() for host in serving.hosts}
        if named := urlsplit(serving.url or "").hostname:
            self._hosts.add(named)
        if is_loopback(serving.host):
            self._hosts |= LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or respond with the reason why it is refused."""
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
            # The exception handlers of the service see errors of routes, and not of middleware.
            await respond(error, request)(scope, receive, send_on)

    async def _admit(self, request: Request, receive: Receive, send: Send) -> None:
        scope = request.scope
        self._refuse_host(request)
        _refuse_two_lengths(request)
        if needs_no_neo4j(request):
            await self._app(scope, receive, send)
            return
        with self._state.maintenance.count_request():
            await self._admit_counted(request, receive, send)

    async def _admit_counted(self, request: Request, receive: Receive, send: Send) -> None:
        scope = request.scope
        if outage := self._state.neo4j.outage():
            raise Unavailable(outage.reason, outage.retry_after)
        rules, collection = self._routes.find(scope)
        caller, name = await self._identify(request, collection if rules.is_public else None)
        if caller is not None:
            scope.setdefault("state", {})["caller"] = caller
        elif not is_open(path_of(scope)):
            await self._refuse_unknown(request)(scope, receive, send)
            return
        self._refuse_forged(request)
        _refuse_unprintable(request)
        max_bytes, too_large = self._limit_size(caller, rules)
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > max_bytes:
            raise TooLarge(too_large)
        limit = self._state.question_limit if rules.is_question else self._state.request_limit
        receive = _limit_body(receive, max_bytes, too_large)
        if caller is None:
            # Read before the request counts: slow bodies must not use up their address's limit.
            receive = _pass_on(await Request(scope, receive).body(), receive)
        with limit.hold(name):
            # An upload is not held here, and its JSON is flat: pydantic's parser, which alone reads
            # it, has a limit of nesting of its own.
            if not rules.takes_files:
                receive = await self._read_small(request, receive)
            await self._app(scope, receive, send)

    async def _identify(self, request: Request, public: str | None) -> tuple[Caller | None, str]:
        """Return the caller, None for a stranger, and the name that requests are counted by."""
        address = address_of(request)
        if path_of(request.scope) == SIGN_IN_PATH:
            # The form itself says who signs in. A valid key must be accepted whatever others at the
            # same address do, so only wrong keys are counted, by the route.
            return None, f"signing in from {address}"
        caller = await to_thread.run_sync(
            self._find, request, limiter=self._state.admission_threads
        )
        name = caller.id if caller else f"from {address}"
        if self._visitor and self._is_visit(public, caller):
            if caller is None:
                # Counted by the address, so that one visitor can't use up the others' share.
                self._visits.take(name)
            request.state.is_signed_in = caller is not None
            caller = self._visitor
        # Requests that are refused later count, too: their caller was looked up in Neo4j.
        self._requests.take(name)
        return caller, name

    def _is_visit(self, public: str | None, caller: Caller | None) -> bool:
        """Return whether a request is a visitor's: it only reads a public collection."""
        # It is '' for a visitors' route that names no collection, and None for any other route.
        if not public:
            return public == "" and caller is None
        # Whoever has signed in is a visitor, too, in a public collection that their key is not for.
        return public in self._serving.public and not (caller and caller.may_see(public))

    def _find(self, request: Request) -> Caller | None:
        """Return the caller; None without a key, token or session."""
        bearer = request.headers.get("authorization", "")
        if bearer:
            try:
                return self._bearer(bearer)
            except Unauthorized:
                # Only wrong keys count: behind a proxy, others have the same address.
                self._state.guess_limit.take(address_of(request))
                raise
        if cookie := request.cookies.get(COOKIE):
            return self._state.sessions.find(cookie)
        return None

    def _bearer(self, header: str) -> Caller:
        scheme, _, token = header.partition(" ")
        token = token.strip()
        caller = None
        if scheme.lower() == "bearer" and token.startswith(PREFIX):
            caller = self._state.keys.find(token)
        elif scheme.lower() == "bearer" and self._openid:
            caller = self._openid.find(token)
        if caller is None:
            raise Unauthorized(
                "That key is not valid: it is unknown, revoked or expired.",
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        return caller

    def _refuse_unknown(self, request: Request) -> ASGIApp:
        """Return the response to a request without a valid key: the form to sign in, or a 401."""
        if is_for_people(request) and request.method in SAFE_METHODS:
            path = request.url.path
            if request.url.query:
                path += f"?{request.url.query}"
            return RedirectResponse(f"/signin?to={quote(path, safe='')}", 303)
        return respond(
            Unauthorized(
                "This needs a key: send it as `Authorization: Bearer fab_...`.",
                headers={"WWW-Authenticate": "Bearer"},
            ),
            request,
        )

    def _refuse_host(self, request: Request) -> None:
        """Raise Misdirected for a host name that is not ours."""
        # A page of another site may let its own name resolve to this machine (DNS rebinding).
        host = host_of(request.headers.get("host", ""))
        if host in self._hosts:
            return
        try:
            # An address can't be rebound, unlike a name. A service on loopback has no others.
            ipaddress.ip_address(host)
            is_known = not is_loopback(self._serving.host)
        except ValueError:
            is_known = False
        if not is_known:
            raise Misdirected(
                "This service does not answer to that host name: add it to the setting serve.hosts."
            )

    def _refuse_forged(self, request: Request) -> None:
        """Raise Forbidden for a request that another site made a browser send with our cookie."""
        if request.method in SAFE_METHODS or request.headers.get("authorization"):
            return
        # Browsers say so themselves, so no token in forms is needed; Datasette does the same.
        site = request.headers.get("sec-fetch-site")
        origin = request.headers.get("origin")
        if site is not None:
            is_own = site in ("same-origin", "none")
        elif origin is not None:
            is_own = urlsplit(origin).netloc == request.headers.get("host", "")
        else:
            is_own = True  # not a browser
        if not is_own:
            raise Forbidden("This request came from a page of another site.")

    async def _read_small(self, request: Request, receive: Receive) -> Receive:
        """Read the whole body, which is small, and return what passes it on in one piece."""
        body = await Request(request.scope, receive).body()
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if body and media_type not in FORMS:
            threads = self._state.admission_threads
            if excess := await to_thread.run_sync(find_excess, body, limiter=threads):
                raise Problem(f"The JSON of this request {excess}.")
        return _pass_on(body, receive)

    def _limit_size(self, caller: Caller | None, rules: RouteRules) -> tuple[int, str]:
        """Return how many bytes the body may have, and the message for a larger one."""
        max_bytes = self._serving.upload_bytes
        if caller is not None and rules.takes_files:
            return max_bytes, (
                f"A request may have {max_bytes / 1e6:,.0f} MB (serve.max_upload_mb): send the "
                "files in several requests."
            )
        small = MAX_STRANGER_BODY_BYTES if caller is None else min(max_bytes, rules.max_body_bytes)
        return small, f"The body of this request may have {small:,} bytes at most."


def _refuse_two_lengths(request: Request) -> None:
    """Raise Problem, and close the connection, for a body whose length is given in two ways."""
    # A proxy may use the other one, and take a part of this body for a second request (RFC 9112).
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        raise Problem(
            "A request may have a Content-Length or a Transfer-Encoding, but not both.",
            headers={"Connection": "close"},
        )


def _pass_on(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body that came already, and then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_on() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_on


def _refuse_unprintable(request: Request) -> None:
    """Raise Problem for control characters in an address, and for too many query parameters."""
    if has_control(request.scope["path"]):
        raise Problem("The path has a control character in it, which no name may have.")
    try:
        parameters = parse_qsl(
            request.scope["query_string"].decode("latin-1"),
            keep_blank_values=True,
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError as error:
        raise Problem(f"An address may have {MAX_PARAMETERS} parameters at most.") from error
    for name, value in parameters:
        if has_control(name) or has_control(value, ALLOWED_CONTROLS):
            raise Problem(f"The parameter {quote_name(name)} has a control character in it.")


def _limit_body(receive: Receive, max_bytes: int, too_large: str) -> Receive:
    """Return a `receive` that raises TooLarge, or ClientLeft if the client leaves too early."""
    arrived, is_whole = 0, False

    async def receive_on() -> Message:
        nonlocal arrived, is_whole
        message = await receive()
        if message["type"] == "http.request":
            # A client may send more than its Content-Length, or none.
            arrived += len(message.get("body", b""))
            if arrived > max_bytes:
                raise TooLarge(too_large)
            is_whole = not message.get("more_body")
        elif not is_whole:
            raise ClientLeft("The client left before the whole request had arrived.")
        return message

    return receive_on


def address_of(request: Request) -> str:
    """Return the address of a request's client; '' if it is not known."""
    return request.client.host if request.client else ""


def is_cross_site(request: Request) -> bool:
    """Return whether a page of another site led a browser here, which sent its cookie."""
    if request.headers.get("authorization"):
        return False
    return request.headers.get("sec-fetch-site", "") in ("cross-site", "same-site")


def refuse_cross_site_question(request: Request, question: str) -> None:
    """Raise Forbidden if a page of another site would make a browser ask, at its key's expense."""
    if question.strip() and is_cross_site(request):
        raise Forbidden("A page of another site led here, so the question is not asked.")


def needs_no_neo4j(request: Request) -> bool:
    """Return whether a request is answered without Neo4j and without limits.

    These are health checks, static files and the form to sign in, which cost next to nothing.
    """
    path = path_of(request.scope)
    return (
        path in HEALTH_PATHS
        or path.startswith("/static/")
        or (path == SIGN_IN_PATH and request.method in ("GET", "HEAD"))
    )


def is_open(path: str) -> bool:
    """Return whether anybody may request a path."""
    return path in OPEN_PATHS or path.startswith("/static/")


def _make_visitor(serving: Serving) -> Caller:
    """Return the caller for all who have not signed in, at the public collections."""
    quotas = Quotas(tokens_a_day=serving.public_tokens_a_day or None)
    return Caller(VISITOR_ID, "a visitor", "read", frozenset(serving.public), quotas)


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """Return the name or address in a Host header, without the port; '' if there is none."""
    try:
        return (urlsplit(f"//{header}").hostname or "").rstrip(".")
    except ValueError:
        return ""
