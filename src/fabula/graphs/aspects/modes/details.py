"""Details alone, by cosine: the most facts for few tokens."""

from __future__ import annotations

from dataclasses import replace

from fabula.model import Filters, Hit
from fabula.retrieve.modes import Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The nearest details that `filters` let through."""
    details = tuple(kind for kind in filters.kinds if kind == "detail")
    return tools.nearest(question, replace(filters, kinds=details), tools.k)
