"""A screen in the navigation of the page."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import APIRouter

from fabula.jobs.callers import Role


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
