"""Details alone, by cosine: the most facts for few tokens."""

from __future__ import annotations

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the details of highest cosine with the question."""
    return tools.nearest(question, filters, tools.k)


MODE = Mode(
    retrieve,
    "details alone, by cosine: the most facts for few tokens",
    graph="aspects",
    kinds=("detail",),
    sentence="Answers from short statements of detail, and uses few tokens.",
)
