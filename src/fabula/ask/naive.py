"""The mode `naive`: chunks alone, by cosine. Most systems do this; it is the baseline here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.graph.hits import Filters, Hit

if TYPE_CHECKING:
    from fabula.graph.mode import Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the chunks of highest cosine with the question, within the filters."""
    return tools.nearest(question, filters, tools.k)
