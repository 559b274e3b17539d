"""Lists page by page: each page has a cursor for the next, which only the service reads."""

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

Item = TypeVar("Item")
Value = TypeVar("Value")


class Page(BaseModel, Generic[Item]):
    """Some of a list, and where what follows begins: null at the end."""

    model_config = ConfigDict(frozen=True)

    items: list[Item]
    next: str | None


def begin_after(cursor: str, *kinds: type) -> tuple[Any, ...] | None:
    """What a cursor was made of, values of such types; None for the first page.

    Raises Problem for one that we never gave.
    """
    if not cursor:
        return None
    try:
        place = load_json(base64.urlsafe_b64decode(cursor.encode("ascii")).decode())
    except (binascii.Error, ValueError):
        place = None
    if not isinstance(place, list) or [type(one) for one in place] != list(kinds):
        raise Problem(f"after={cursor[:40]!r} is no `next` of a page of this list.")
    return tuple(place)


def cursor(*place: str | int) -> str:
    """Where a page ended, to be given back."""
    written = json.dumps(place, ensure_ascii=True, separators=(",", ":"))
    return base64.urlsafe_b64encode(written.encode()).decode("ascii")


def take(found: Iterable[Value], limit: int) -> tuple[Sequence[Value], bool]:
    """The first `limit`, and whether there are more."""
    some = list(islice(found, limit + 1))
    return some[:limit], len(some) > limit
