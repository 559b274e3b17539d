"""Addresses on this service, which may be below a path of a proxy's address (`serve.url`)."""

from __future__ import annotations

from contextvars import ContextVar
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ROOT: ContextVar[str] = ContextVar("root", default="")
"""The path below which the service of this request is; '' for none."""


def address(*parts: str, **query: str | int | None) -> str:
    """Return the path of a page as browsers ask for it, with its parts and parameters escaped.

    Parameters that are None or '' are left out.
    """
    path = below_root("/" + "/".join(quote(part, safe="") for part in parts))
    parameters = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(parameters)}" if parameters else path


def below_root(path: str) -> str:
    """Return a path of this service as browsers ask for it."""
    return _ROOT.get() + path


def local_path(to: str) -> str:
    """Return the path to go to after something was done, or "/" for one outside this service."""
    # Otherwise a link to a form could send people to another site once they have sent it.
    is_path = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if is_path else "/"


def path_of(scope: Scope) -> str:
    """Return the path of a request as the routes of this service have it."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def origin_of(url: str) -> str:
    """Return an address without its path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class BelowPath:
    """Middleware of a service below a path, whether the proxy passes that path on or takes it away.

    Args:
        app: The service.
        root: The path of `serve.url`, without a slash at its end.
    """

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._app, self._root = app, root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with the whole path, and let redirects lead below the root."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        root = self._root

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                to = headers.get("location", "")
                if to.startswith("/") and not _is_below(to, root):
                    headers["location"] = root + to
            await send(message)

        if not _is_below(scope["path"], root):
            raw = quote(root).encode() + scope.get("raw_path", scope["path"].encode())
            scope = {**scope, "path": root + scope["path"], "raw_path": raw}
        _ROOT.set(root)
        await self._app({**scope, "root_path": root}, receive, send_on)


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")
