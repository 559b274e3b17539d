"""Details alone, by cosine: the most facts for few tokens."""

from __future__ import annotations

from dataclasses import replace

from fabula.model import Filters, Hit
from fabula.retrieve.modes import Mode, Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The nearest details that `filters` let through."""
    if filters.kinds and "detail" not in filters.kinds:
        return []
    return tools.nearest(question, replace(filters, kinds=("detail",)), tools.k)


MODE = Mode(retrieve, "details alone, by cosine: the most facts for few tokens", graph="aspects")
