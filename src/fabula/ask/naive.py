"""Chunks alone, by cosine: what most systems do, and the baseline of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.graph.hits import Filters, Hit

if TYPE_CHECKING:
    from fabula.graph.mode import Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The nearest chunks that `filters` let through."""
    return tools.nearest(question, filters, tools.k)
