"""From the top summaries of each aspect to their best members, level by level."""

from __future__ import annotations

from fabula.model import Filters, Hit
from fabula.queries import query
from fabula.retrieve.modes import Tools


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The tree traversal of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059), section 3.

    One statement: the best `width` tops of each aspect, then `depth` times the best `width` of
    what those at hand rest on. The best `k` of all that was kept on the way.
    """
    vector = tools.embed(question)
    with tools.path.step("top-down", f"width {tools.width}, depth {tools.depth}") as step:
        hits = tools.found(
            query("find_top_down"), vector, filters, width=tools.width, depth=tools.depth
        )
        step.found(hits, hits[: tools.k])
    return hits[: tools.k]
