"""How a screen is drawn: a template, what its frame shows, and headers that keep it to itself."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates
from starlette.types import Scope

from fabula.errors import StoreError
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import caller_of, house_of

HERE = Path(__file__).parent


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing inline, nothing from another host."""


HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
}


LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


YEAR = 31_536_000


class Static(StaticFiles):
    """Files that a screen names by what is in them, and may therefore be kept for ever."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file; one that is not named by what is in it is asked for again, by its ETag."""
        response = await super().get_response(path, scope)
        kept = (
            f"public, max-age={YEAR}, immutable" if b"v=" in scope["query_string"] else "no-cache"
        )
        response.headers["Cache-Control"] = kept
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


templates = Jinja2Templates(HERE / "templates")
"""Autoescaped: all texts are a stranger's."""


def show(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A screen. `values` name the `collection` that it is of; without one it is the usual one."""
    framed: dict[str, Any] = {"collection": "", "collections": [], "screens": [], "caller": None}
    # Of what is out of order nothing is asked, only to say so.
    if hasattr(request.state, "caller") and status < 500:
        try:
            framed |= _frame(request, str(values.get("collection", "")))
        except StoreError:
            # An error is told all the same; a screen can't be drawn without the graph.
            if status < 400:
                raise
    return templates.TemplateResponse(
        request, template, framed | dict(values), status, HEADERS | dict(headers or {})
    )


def show_part(request: Request, template: str, values: Mapping[str, Any]) -> Response:
    """A part of a screen, for its script to put in its place."""
    return templates.TemplateResponse(request, template, dict(values), headers=HEADERS)


def _frame(request: Request, collection: str) -> dict[str, Any]:
    caller, house = caller_of(request), house_of(request)
    there = house.collections(caller)
    collection = collection or house.usual(caller)
    links = [
        {"name": one.name, "url": one.path.replace("{collection}", quote(collection, safe=""))}
        for one in request.app.state.screens
        if caller.may(one.role)
        and (collection or "{collection}" not in one.path)
        and (collection in there or not one.needs_books)
    ]
    return {
        "collection": collection,
        "collections": there,
        "screens": links,
        "caller": caller,
        "here": request.url.path,
    }


@cache
def asset(name: str) -> str:
    """The address of a static file, which changes with what is in it."""
    found = hashlib.sha256((HERE / "static" / name).read_bytes()).hexdigest()
    return f"/static/{name}?v={found[:12]}"


def one_line(text: str) -> str:
    """A text on one line, without signs that turn around the words that stand beside it."""
    return " ".join("".join(one for one in text if one.isprintable() or one.isspace()).split())


def digest(text: str) -> str:
    """Return a short digest, by which a page tells two things apart and shows neither."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_language(name: str) -> bool:
    """Whether HTML may call a text's language so: a book may say anything."""
    return bool(LANGUAGE.fullmatch(name))


templates.env.globals |= {"asset": asset, "address": address}


templates.env.filters |= {"line": one_line, "digest": digest, "is_language": is_language}


templates.env.trim_blocks = True


templates.env.lstrip_blocks = True
