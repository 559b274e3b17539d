"""Down the trees from the best summary at hand, wherever it is, as long as that can pay.

Plain top-down goes down level by level and keeps as many on each. Here every passage found stays
at hand, the best summaries are opened next, and no two that rest on the same chunks. A rule says
when to stop: one more opening must be able to reach the 20th best found so far, if it gains what
openings of this question gained. What was found is ranked by meaning and by words, as in hybrid.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from fabula.ask.fusion import by_scores
from fabula.ask.words import by_words
from fabula.graph.hits import Filters, Hit, read_hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.queries import query
from fabula.graphs.aspects.ids import summary_id
from fabula.text.document import Vector

USUAL_GAINS = (0.1, 0.1, 0.1)
"""Cosine that a passage's best member is ahead of it, before any was opened."""
ENOUGH = 20
"""The rank to reach: a longer list than an answer needs, so that the best are certain."""
WORDS = 0.7
"""The weight of words among what was found: hybrid's."""


class Knobs(BaseModel):
    """How far to look."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(5, ge=1, le=100, description="passages a traversal keeps or opens at once")


@dataclass(slots=True)
class Frontier:
    """What was found of the trees, what of it was opened, and what that gained."""

    found: dict[str, Hit] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    """The ids of summaries that were opened."""
    clusters: dict[tuple[str, int, int], list[list[str]]] = field(default_factory=dict)
    """The members of clusters that were opened, by the stretch of text that they span."""
    gains: list[float] = field(default_factory=lambda: [*USUAL_GAINS])

    def best(self) -> list[Hit]:
        """All that was found, best first."""
        return sorted(self.found.values(), key=lambda hit: (-hit.score, hit.id))

    def next(self, width: int) -> list[Hit]:
        """At most `width` passages that are worth opening."""
        best = self.best()
        to_reach = best[ENOUGH - 1].score if len(best) >= ENOUGH else -math.inf
        gain = statistics.fmean(self.gains) + statistics.pstdev(self.gains)
        # Whether two of one stretch rest on the same is known once one of them was opened.
        closed: dict[tuple[str, int, int], Hit] = {}
        for hit in best:
            if hit.kind == "summary" and not self._is_opened(hit):
                closed.setdefault(_stretch(hit), hit)
        return [hit for hit in [*closed.values()][:width] if hit.score + gain >= to_reach]

    def open(self, hit: Hit, inside: Sequence[Hit]) -> None:
        """`hit` was opened, and these are in it."""
        self.opened.add(hit.id)
        self.clusters.setdefault(_stretch(hit), []).append([member.id for member in inside])
        best = max((member.score for member in inside), default=hit.score)
        self.gains.append(max(0.0, best - hit.score))
        self.found |= {member.id: member for member in inside}

    def _is_opened(self, hit: Hit) -> bool:
        """Whether a summary, or another aspect's of the same cluster, was opened.

        A summary's id is made of its members', so that it tells what it rests on.
        """
        return hit.id in self.opened or any(
            hit.id == summary_id(hit.document, hit.aspect, hit.level, members)
            for members in self.clusters.get(_stretch(hit), [])
        )


def _stretch(hit: Hit) -> tuple[str, int, int]:
    """What may be one cluster: aspects share the clusters of chunks, and nothing above them."""
    return (hit.document if hit.level == 1 else hit.id, hit.start, hit.end)


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The `k` best that were found; a round trip for the tops, and one for each `width` opened."""
    width = tools.knobs.width
    vector = tools.embed(question)
    frontier = Frontier()
    with tools.path.step("tops", f"the best {width} of each aspect") as step:
        tops = tools.found(query("aspects/find_tops"), vector, filters, width=width)
        frontier.found |= {hit.id: hit for hit in tops}
        step.found(tops)
    while chosen := frontier.next(width):
        _open(chosen, vector, filters, tools, frontier)
    found = [hit for hit in frontier.best() if _passes(hit, filters)]
    with tools.path.step("rank", f"{len(frontier.found)} found, by cosine and by words") as step:
        alike = by_words(question, found)
        ranked = by_scores([(alike, WORDS), (found, 1 - WORDS)], len(found))
        step.found(ranked, ranked[: tools.k])
    return ranked[: tools.k]


def _open(
    chosen: Sequence[Hit], vector: Vector, filters: Filters, tools: Tools, frontier: Frontier
) -> None:
    with tools.path.step("open", ", ".join(f"{hit.aspect} {hit.level}" for hit in chosen)) as step:
        below: dict[str, list[Hit]] = {hit.id: [] for hit in chosen}
        for row in tools.rows(
            query("aspects/find_members"), vector, filters, summaries=list(below)
        ):
            below[row["of"]].append(read_hit(row))
        for hit in chosen:
            frontier.open(hit, below[hit.id])
        step.found([member for hit in chosen for member in below[hit.id]])


def _passes(hit: Hit, filters: Filters) -> bool:
    of_kind = not filters.kinds or hit.kind in filters.kinds
    return of_kind and filters.lowest <= hit.level <= filters.highest


MODE = Mode(
    retrieve,
    "down the trees from the best summary at hand, as long as that can pay",
    knobs=Knobs,
    graph="aspects",
)
