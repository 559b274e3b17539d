"""Chunks alone, by cosine: what most systems do, and the baseline of the others."""

from __future__ import annotations

from dataclasses import replace

from fabula.model import Filters, Hit
from fabula.retrieve.modes import Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The nearest chunks that `filters` let through."""
    chunks = tuple(kind for kind in filters.kinds if kind == "chunk")
    return tools.nearest(question, replace(filters, kinds=chunks), tools.k)
