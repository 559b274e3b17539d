"""Microsoft's dynamic selection: reports are rated from the top down, and those that help are read.

microsoft/graphrag, read at 6dad6d2. A report that helps takes the place of the one above it, and
has those below it rated; but one above stays where a community below it has no report, since
nothing else tells of that branch. A rating that can't be read counts as 1, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import BadReply
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.mode import Mode, Pieces, Tools
from fabula.graphs.communities.finding import (
    AskedReport,
    as_hits,
    by_meaning_and_words,
    fall_back,
    read_reports,
)
from fabula.graphs.communities.modes.global_ import Reading, put_together
from fabula.graphs.communities.points import PROMPTS, print_report, read_score
from fabula.graphs.entities.finding import allows_report
from fabula.models import Prompt
from fabula.models.prompts import filled
from fabula.models.replies import read_object, said

HELPS, MOST = 1, 5
"""The rating from which on a report helps, and the highest."""


class Knobs(Reading):
    """Which reports are rated, and how those that help are read."""

    deepest: int = Field(
        2, ge=0, le=99, description="level down to which all are rated while none helps"
    )


class RatingReply(BaseModel):
    """How much a report helps."""

    model_config = ConfigDict(extra="forbid")

    rating: int


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The reports of all levels, the best by cosine and words first; no model is asked."""
    reports = read_reports(filters, tools)
    if not reports:
        return fall_back(question, filters, tools)
    return as_hits(by_meaning_and_words(question, reports, filters, tools), filters, tools)


def answer(
    question: str, context: Sequence[Passage], filters: Filters, tools: Tools
) -> Pieces | None:
    """An answer from the reports that a model says help."""
    if tools.models.offline:
        return None
    reports = read_reports(filters, tools)
    reports = tuple(one for one in reports if allows_report(filters, one.hit.level))
    return _selected(question, reports, context, filters, tools) if reports else None


def _selected(
    question: str,
    reports: Sequence[AskedReport],
    context: Sequence[Passage],
    filters: Filters,
    tools: Tools,
) -> Pieces:
    rated = 0

    def rate(some: Sequence[AskedReport]) -> list[int]:
        nonlocal rated
        rated += len(some)
        return tools.each(lambda one: ask_rating(question, one, tools), some)

    with tools.path.step("rate") as step:
        kept = select(reports, rate, tools.knobs.deepest)
        step.note = f"{rated} of {len(reports)} reports, of which {len(kept)} are read"
        step.found([one.hit for one in kept])
    yield from put_together(question, kept, context, filters, tools)


def select(
    reports: Sequence[AskedReport],
    rate: Callable[[Sequence[AskedReport]], Sequence[int]],
    deepest: int,
) -> list[AskedReport]:
    """The reports that help, without those above one that does; rated level by level.

    One above stays that alone tells of some of its members: they are in no report below it. While
    none helps, all of the next level are rated, down to the `deepest`.
    """
    there = {one.id for one in reports}
    bottom = max((one.hit.level for one in reports), default=0)
    open_ = [one for one in reports if one.parent not in there]
    rated: set[str] = set()
    kept: dict[str, AskedReport] = {}
    level = 0
    while open_:
        rated.update(one.id for one in open_)
        helping = [one for one, rating in zip(open_, rate(open_), strict=True) if rating >= HELPS]
        for one in helping:
            kept[one.id] = one
            if one.parent in kept and bottom not in kept[one.parent].untold:
                del kept[one.parent]
        above = {one.id for one in helping}
        open_ = [one for one in reports if one.parent in above]
        while not open_ and not kept and level < deepest:
            level += 1
            open_ = [one for one in reports if one.hit.level == level and one.id not in rated]
    return list(kept.values())


def ask_rating(question: str, report: AskedReport, tools: Tools) -> int:
    """How much a report helps, 0 to 5; 1 where no rating can be read."""
    asked = Prompt(
        system=filled(PROMPTS / "rate_system.txt"),
        user=filled(PROMPTS / "rate.txt", report=print_report(report, 1), question=question),
        max_tokens=100,
        temperature=0,
        schema=RatingReply,
    )
    try:
        return read_rating(said(tools.models.chat("model", "rate"), asked))
    except BadReply:
        return HELPS


def read_rating(reply: str) -> int:
    """The rating of a reply, 0 to 5. Raises BadReply where it has none."""
    rating = read_score(read_object(reply).get("rating"), MOST)
    if rating is None:
        raise BadReply("Expected a rating from 0 to 5.")
    return rating


MODE = Mode(
    retrieve,
    "reports that help, as a model rates them from the top down (Microsoft GraphRAG)",
    knobs=Knobs,
    graph="communities",
    answer=answer,
)
