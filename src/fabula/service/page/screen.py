"""A screen in the navigation of the page, and those that other packages bring."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter

from fabula.graph.installed import load
from fabula.jobs.callers import Role

GROUP = "fabula.pages"
"""The group of entry points by which a package brings a screen of its own, a `Screen`."""


class Screen(NamedTuple):
    """A link of the navigation.

    Attributes:
        name: The text of the link.
        path: Its address; `{collection}` in it stands for the collection that is open.
        role: What a caller must be allowed to do to see it.
        needs_books: It is not shown in a collection without documents.
        for_members: It is not shown to visitors, who have not signed in.
        router: The routes of a screen that another package brings; they are added to the page's.
        folder: Where that package has the screen's `templates` and `static` files, in folders of
            these names; their names differ from those of all others.
    """

    name: str
    path: str
    role: Role = "read"
    needs_books: bool = False
    router: APIRouter | None = None
    for_members: bool = False
    folder: Path | None = None


@cache
def find_screens() -> Sequence[Screen]:
    """Return the screens that other packages bring, by the names of their entry points.

    Raises:
        SettingsError: A package's screen can't be loaded.
    """
    return [load(entry) for entry in sorted(entry_points(group=GROUP))]
