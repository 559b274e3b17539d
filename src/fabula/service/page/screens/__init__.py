"""The screens, a module each."""

from __future__ import annotations

from fastapi import APIRouter

from fabula.service.page.screen import Screen
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
