"""Lists in pages: each page has an opaque cursor for the next one."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from fabula.graph.nesting import load_json
from fabula.service.core.errors import Problem

Value = TypeVar("Value")


class Page(BaseModel, Generic[Value]):
    """A page of a list; `next` is the cursor of the next page, null at the end."""

    model_config = ConfigDict(frozen=True)

    items: list[Value]
    next: str | None


def read_cursor(cursor: str, *kinds: type) -> tuple[Any, ...] | None:
    """Return the values that a cursor was made of; None for the first page.

    Args:
        cursor: The cursor; '' for the first page.
        kinds: The types of the values.

    Raises:
        Problem: The text is not a cursor of such a list.

    """
    if not cursor:
        return None
    try:
        place = load_json(base64.urlsafe_b64decode(cursor.encode("ascii")).decode())
    except (binascii.Error, ValueError):
        place = None
    if not isinstance(place, list) or [type(value) for value in place] != list(kinds):
        raise Problem(f"after={cursor[:40]!r} is not the `next` of a page of this list.")
    return tuple(place)


def make_cursor(*place: str | int) -> str:
    """Return the cursor of the place at which a page ended."""
    text = json.dumps(place, ensure_ascii=True, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode("ascii")


def take_page(values: Iterable[Value], limit: int) -> tuple[Sequence[Value], bool]:
    """Return the first `limit` values, and whether there are more."""
    first = list(islice(values, limit + 1))
    return first[:limit], len(first) > limit
