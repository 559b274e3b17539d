"""Render screens: templates, the frame around them, security headers and static files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader
from starlette.types import Scope

from fabula.config.settings import Settings
from fabula.errors import StoreError
from fabula.graph.entries import Entry
from fabula.jobs.callers import Role
from fabula.library.drawing import pictures
from fabula.operations.choices import title_of
from fabula.operations.kit import find_operations, in_words
from fabula.service.http.addresses import address, below_root
from fabula.service.http.dependencies import caller_of, state_of
from fabula.text.locator import LocatorKind, name_labels
from fabula.text.stems import name_language

HERE = Path(__file__).parent


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content security policy of all screens: nothing inline, nothing from another host."""


HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
}


LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


YEAR_SECONDS = 31_536_000


WORDS_PER_TOKEN = 0.75
"""About; of prose in English."""


DEFAULT_NAME: str = Settings.model_fields["collection"].default
"""The name of a collection that nobody named."""


class Screen(NamedTuple):
    """A link of the navigation.

    Attributes:
        name: The text of the link.
        path: Its address; `{collection}` in it stands for the collection that is open.
        role: What a caller must be allowed to do to see it.
        needs_books: It is not shown in a collection without documents.
        for_members: It is not shown to visitors, who have not signed in.
        router: The routes of a screen that is made from operations.
    """

    name: str
    path: str
    role: Role = "read"
    needs_books: bool = False
    router: APIRouter | None = None
    for_members: bool = False


class Static(StaticFiles):
    """Static files; those requested with a hash of their content (`?v=`) are cached for a year."""

    def __init__(self) -> None:
        super().__init__(directory=HERE / "static")

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file; one without a hash in its address must be revalidated by its ETag."""
        response = await super().get_response(path, scope)
        is_versioned = b"v=" in scope["query_string"]
        response.headers["Cache-Control"] = (
            f"public, max-age={YEAR_SECONDS}, immutable" if is_versioned else "no-cache"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


templates = Jinja2Templates(
    env=Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, auto_reload=False)
)
"""They escape all values, because titles and texts come from books that nobody here wrote."""


def show(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Render a screen.

    Args:
        request: The request that it answers.
        template: The file name of its template.
        values: The template's values; without a `collection` the menu is that of the usual one.
        status: The HTTP status.
        headers: Further headers.
    """
    frame: dict[str, Any] = {"collection": "", "collections": [], "menu": [], "caller": None}
    # The page of a server error is rendered without the graph, which may be what failed.
    if hasattr(request.state, "caller") and status < 500:
        try:
            frame |= _frame(request, str(values.get("collection", "")))
        except StoreError:
            # A client error is shown without a menu; a screen can't be rendered without the graph.
            if status < 400:
                raise
    return templates.TemplateResponse(
        request, template, frame | dict(values), status, HEADERS | dict(headers or {})
    )


def render_part(template: str, values: Mapping[str, Any]) -> str:
    """Render a part of a screen, for an event of a stream."""
    return templates.get_template(template).render(values)


def show_part(template: str, values: Mapping[str, Any]) -> Response:
    """Return a part of a screen, which a script puts into the page."""
    return HTMLResponse(render_part(template, values), headers=HEADERS)


def _frame(request: Request, collection: str) -> dict[str, Any]:
    """Return the values of the frame around a screen: menu, collections and caller."""
    caller, state = caller_of(request), state_of(request)
    visible = state.visible_collections(caller)
    came_from = request.query_params.get("from", "")
    if not collection:
        collection = came_from if came_from in visible else state.default_collection(caller)

    def may_see(screen: Screen) -> bool:
        return (
            caller.may(screen.role)
            and not (caller.is_visitor and (screen.for_members or screen.path[:3] != "/c/"))
            and bool(collection or "{collection}" not in screen.path)
            and (collection in visible or not screen.needs_books)
        )

    def link(screen: Screen) -> tuple[str, str]:
        name = quote(collection, safe="")
        # A screen of no collection, as Jobs, keeps the menu of the one that it is opened from.
        back = "" if "{collection}" in screen.path or not name else f"?from={name}"
        return screen.name, below_root(screen.path.replace("{collection}", name) + back)

    menu = request.app.state.menu
    parts = [[link(screen) for screen in part if may_see(screen)] for part in menu]
    return {
        "collection": collection,
        "collections": visible,
        "menu": [part for part in parts if part],
        "caller": caller,
        # Somebody who has signed in is a visitor in a public collection that their key is not for.
        "is_signed_in": getattr(request.state, "is_signed_in", not caller.is_visitor),
        "here": request.url.path,
    }


def asset(name: str) -> str:
    """Return the address of a static file, which changes with its content."""
    return address("static", name, v=_digest_asset(name))


@cache
def _digest_asset(name: str) -> str:
    return hashlib.sha256((HERE / "static" / name).read_bytes()).hexdigest()[:12]


def one_line(text: str) -> str:
    """Return a text on one line, without control characters.

    Unicode's direction overrides are among them: they would reverse the words beside a title.
    """
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def name_library(collection: str) -> str:
    """Return what readers call a collection: one that nobody gave a name is the library."""
    return "the library" if collection == DEFAULT_NAME else one_line(collection)


def digest(text: str) -> str:
    """Return a short digest, so that a script can compare values without knowing them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_language(name: str) -> bool:
    """Return whether a book's language is a valid language tag for HTML's `lang`."""
    return bool(LANGUAGE.fullmatch(name))


def list_ways(collection: str, entry: Entry, q: str = "") -> list[tuple[str, str]]:
    """Return the names and the addresses of the screens of a book's graphs.

    Trees, people and the story so far have screens of their own. Another graph is shown by the
    picture that is drawn from it, or else by the operation of its name.
    """
    book = ("c", collection, "d", entry.id)
    found = {
        "aspects": ("Trees", address(*book, "trees", q=q)),
        "entities": ("People", address(*book, "entities", q=q)),
        "episodes": (title_of("episodes"), address(*book, "recap")),
    }
    for picture in pictures().values():
        for graph in picture.graphs[-1:]:
            found.setdefault(graph, (title_of(graph), address(*book, "pictures", picture.name)))
    for each in find_operations():
        if each.has_screen and each.has_collection:
            screen = address(
                "c", collection, each.group.lower(), tool=each.name, document=entry.id, run="true"
            )
            found.setdefault(each.name, (title_of(each.name), screen))
    return [way for graph, way in found.items() if graph in entry.graphs]


templates.env.globals |= {"asset": asset, "address": address, "ways": list_ways}


def show_labels(labels: str, kind: LocatorKind) -> str:
    """Return the labels of pages or lines as a citation has them, as "pp. 113-114"."""
    return one_line(name_labels(kind, labels))


def measure_length(tokens: int) -> str:
    """Return about how many words a text of some tokens has."""
    words = round(tokens * WORDS_PER_TOKEN)
    return f"{round(words, 2 - len(str(words))) if words > 99 else words:,} words"


templates.env.filters |= {
    "digest": digest,
    "is_language": is_language,
    "labels": show_labels,
    "language": name_language,
    "library": name_library,
    "line": one_line,
    "measure": measure_length,
    "title_of": title_of,
    "words": in_words,
}


templates.env.trim_blocks = True


templates.env.lstrip_blocks = True
