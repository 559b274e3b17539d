"""Details alone, by cosine: the most facts for few tokens."""

from __future__ import annotations

from fabula.model import Filters, Hit
from fabula.retrieve.modes import Mode, Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The nearest details that `filters` let through."""
    return tools.nearest(question, filters, tools.k)


MODE = Mode(
    retrieve,
    "details alone, by cosine: the most facts for few tokens",
    graph="aspects",
    kinds=("detail",),
)
