"""The screens, a module each."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import APIRouter

from fabula.service.http.dependencies import Role
from fabula.service.page.screens import (
    adding,
    asking,
    entering,
    house,
    jobs,
    pictures,
    queries,
    reading,
    shelf,
    signing,
)


class Screen(NamedTuple):
    """A link of the navigation; a path with `{collection}` is of the collection one is in.

    One that `needs_books` is not linked to from a collection without any.
    """

    name: str
    path: str
    role: Role = "read"
    needs_books: bool = False


SCREENS: tuple[Screen, ...] = (
    Screen("Shelf", "/c/{collection}"),
    Screen("Ask", "/c/{collection}/ask", needs_books=True),
    Screen("Compare", "/c/{collection}/compare", needs_books=True),
    Screen("Add", "/c/{collection}/add", role="write"),
    Screen("Jobs", "/jobs"),
    Screen("Queries", "/queries?collection={collection}", needs_books=True),
    Screen("House", "/house"),
)
"""In the order of the navigation."""
ROUTERS: tuple[APIRouter, ...] = (
    entering.router,
    signing.router,
    shelf.router,
    asking.router,
    reading.router,
    pictures.router,
    adding.router,
    jobs.router,
    queries.router,
    house.router,
)
