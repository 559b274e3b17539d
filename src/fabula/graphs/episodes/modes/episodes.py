"""The mode `episodes`: episodes by cosine and by words, none of which lies within another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabula.ask import hybrid
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools

CANDIDATES_PER_HIT = 3
"""Candidates for each hit: an episode that lies within a better one, or around it, is left out."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the best `k` episodes, each of a stretch of its own, best first."""
    wider = replace(tools, k=CANDIDATES_PER_HIT * tools.k, options=hybrid.Options())
    hits = hybrid.retrieve(question, filters, wider)
    with tools.trace.step("apart", "episodes within or around a better one are left out") as step:
        kept = take_apart(hits)[: tools.k]
        step.record(hits, kept)
    return kept


def take_apart(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that share no character with a better one."""
    kept: list[Hit] = []
    for hit in hits:
        if not any(
            hit.document == other.document and hit.start < other.end and other.start < hit.end
            for other in kept
        ):
            kept.append(hit)
    return kept
