"""The mode `collapsed`: chunks, summaries and details compete in one ranking by cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.graph.hits import Filters, Hit

if TYPE_CHECKING:
    from fabula.graph.mode import Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the passages of highest cosine with the question, of all levels at once.

    This is the collapsed-tree retrieval of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059, section
    3).
    """
    return tools.nearest(question, filters, tools.k)
