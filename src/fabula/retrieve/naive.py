"""Chunks alone, by cosine: what most systems do, and the baseline of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fabula.model import Filters, Hit

if TYPE_CHECKING:
    from fabula.retrieve.modes import Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The nearest chunks that `filters` let through."""
    if filters.kinds and "chunk" not in filters.kinds:
        return []
    return tools.nearest(question, replace(filters, kinds=("chunk",)), tools.k)
