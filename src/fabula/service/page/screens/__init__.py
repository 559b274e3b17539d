"""The screens of the page, one module each, and the menu."""

from __future__ import annotations

from fastapi import APIRouter

from fabula.service.page.rendering import Screen
from fabula.service.page.screens import (
    adding,
    admin,
    asking,
    correcting,
    documents,
    jobs,
    managing,
    pictures,
    reading,
    signin,
)

READING: tuple[Screen, ...] = (
    Screen("Library", "/c/{collection}"),
    Screen("Ask", "/c/{collection}/ask", needs_books=True),
)
"""The first of the menu, before those that are made from operations."""
RUNNING: tuple[Screen, ...] = (
    Screen("Add", "/c/{collection}/add", role="write"),
    Screen("Jobs", "/jobs"),
    Screen("Settings", "/admin"),
)
"""The second part of the menu."""
ROUTERS: tuple[APIRouter, ...] = (
    signin.router,
    documents.router,
    asking.router,
    reading.router,
    pictures.router,
    correcting.router,
    managing.router,
    adding.router,
    jobs.router,
    admin.router,
)
