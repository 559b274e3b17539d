"""Microsoft's global search: all reports of one level are read, and what helps is put together.

Edge et al. 2024 (arXiv 2404.16130), section 3.1.6; microsoft/graphrag, read at 6dad6d2. Its code
sends the reports of all levels down to the one asked for, parents beside their children, and counts
a batch that failed as one that says nothing; here each entity counts with its deepest report down
to that level, a parent beside its children only where one of them has none, and a failed batch is
told of.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.mode import Mode, Pieces, Tools
from fabula.graphs.communities.finding import (
    AskedReport,
    Scope,
    as_hits,
    at_level,
    by_meaning_and_words,
    fall_back,
    read_reports,
)
from fabula.graphs.communities.points import ask_points, reduce
from fabula.graphs.entities.finding import allows_report


class Reading(BaseModel):
    """How reports are read, and how long an answer is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scope: Scope = Field(
        "document", description="reports of each document, or the collection's own"
    )
    batch_tokens: int = Field(
        12_000, ge=1, le=200_000, description="most tokens of the reports that one call reads"
    )
    map_words: int = Field(1000, ge=50, le=10_000, description="words of what one call finds")
    point_tokens: int = Field(
        12_000, ge=1, le=200_000, description="most tokens of the points that the answer is made of"
    )
    words: int = Field(2000, ge=20, le=10_000, description="most words of the answer")


class Knobs(Reading):
    """Which reports are read, and how."""

    level: int = Field(
        2, ge=0, le=99, description="level of the reports: 0 is the coarsest, and has the fewest"
    )


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The reports that are read, the best by cosine and words first; no model is asked."""
    reports = read_reports(filters, tools)
    if not reports:
        return fall_back(question, filters, tools)
    with tools.path.step("level", f"{tools.knobs.level}") as step:
        chosen = at_level(reports, tools.knobs.level)
        step.note += f": {len(chosen):,} of {len(reports):,} reports"
    return as_hits(by_meaning_and_words(question, chosen, filters, tools), filters, tools)


def answer(
    question: str, context: Sequence[Passage], filters: Filters, tools: Tools
) -> Pieces | None:
    """An answer from all reports of the level, whatever of them the context holds."""
    if tools.models.offline:
        return None
    chosen = at_level(read_reports(filters, tools), tools.knobs.level)
    read = [one for one in chosen if allows_report(filters, one.hit.level)]
    return put_together(question, read, context, filters, tools) if read else None


def put_together(
    question: str,
    reports: Sequence[AskedReport],
    context: Sequence[Passage],
    filters: Filters,
    tools: Tools,
) -> Pieces:
    """An answer from all these reports: a call for each batch of them, and one for the answer."""
    with tools.path.step("map") as step:
        points, step.note = ask_points(question, reports, tools)
    yield from reduce(question, points, context, filters, tools)


MODE = Mode(
    retrieve,
    "reports of one level, all of which an answer is made of (Microsoft GraphRAG)",
    knobs=Knobs,
    graph="communities",
    answer=answer,
    # GraphRAG-Bench's Novel table (arXiv 2506.05690; its site, 2026): accuracy.
    serves={"fact": 36.92, "reasoning": 43.17, "overview": 56.87, "creative": 41.11},
)
