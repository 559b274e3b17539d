"""The question's aspects are found first, and their trees count for more."""

from __future__ import annotations

from dataclasses import replace

from fabula.model import Filters, Hit
from fabula.retrieve.modes import Tools

AHEAD = 0.05
"""How much cosine a summary of the question's aspects is ahead of the others."""
DEPTH = 4
"""Times `k` passages are looked at."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The `k` best by cosine, summaries of the question's aspects some way ahead."""
    with tools.path.step("route") as step:
        chosen = tools.guide.route(question, tools.aspects)
        step.note = ", ".join(sorted(chosen)) or "no aspect"
    hits = tools.nearest(question, filters, DEPTH * tools.k)
    with tools.path.step("weigh", f"{AHEAD} ahead") as step:
        weighed = [
            replace(hit, score=hit.score + AHEAD) if hit.aspect in chosen else hit for hit in hits
        ]
        weighed.sort(key=lambda hit: (-hit.score, hit.id))
        step.found(weighed, weighed[: tools.k])
    return weighed[: tools.k]
