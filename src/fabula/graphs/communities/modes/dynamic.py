"""Microsoft GraphRAG's dynamic selection: rate reports from the top down, read those that help.

microsoft/graphrag, read at 6dad6d2. A report that helps replaces the report above it, and the
reports below it are rated next. The report above stays where a community below it has no report,
since it is then the only one on that branch. A rating that cannot be read counts as 1, so that
nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from fabula.errors import BadReply
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.mode import Pieces, Tools
from fabula.graphs.communities.modes.global_ import answer_from_reports
from fabula.graphs.communities.points import PROMPTS, format_report, read_score
from fabula.graphs.communities.report_search import (
    StoredReport,
    allowed_reports,
    fall_back,
    rank_by_cosine_and_words,
    read_reports,
    to_hits,
)
from fabula.models import Prompt
from fabula.models.prompts import fill_template
from fabula.models.replies import complete, read_object
from fabula.models.schemas import ReplyShape

MIN_HELPFUL_RATING, MAX_RATING = 1, 5
NO_LIMIT = 2**31


# Its name and docstring are sent with each call, and are part of the response cache's key.
class RatingReply(ReplyShape):
    """How much a report helps."""

    rating: int


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the reports of all levels, ranked by cosine and words; no model is asked."""
    reports = read_reports(filters, tools)
    if not reports:
        return fall_back(question, filters, tools)
    return to_hits(rank_by_cosine_and_words(question, reports, filters, tools), filters, tools)


def answer(
    question: str, context: Sequence[Passage], filters: Filters, tools: Tools
) -> Pieces | None:
    """Answer from the reports that a model rates as helpful."""
    if tools.models.offline:
        return None
    reports = allowed_reports(read_reports(filters, tools), filters)
    return _answer_from_helpful(question, reports, context, filters, tools) if reports else None


def _answer_from_helpful(
    question: str,
    reports: Sequence[StoredReport],
    context: Sequence[Passage],
    filters: Filters,
    tools: Tools,
) -> Pieces:
    rated = 0

    def rate(batch: Sequence[StoredReport]) -> list[int]:
        nonlocal rated
        rated += len(batch)
        return tools.run_each(lambda report: ask_rating(question, report, tools), batch)

    with tools.trace.step("rate") as step:
        most = tools.options.ratings
        if len(reports) > most:
            reports = rank_by_cosine_and_words(question, reports, filters, tools)
        selected = select_reports(reports, rate, tools.options.deepest, most)
        step.note = f"{rated} of {len(reports)} reports, of which {len(selected)} are read"
        step.record([report.hit for report in selected])
    yield from answer_from_reports(question, selected, context, filters, tools)


def select_reports(
    reports: Sequence[StoredReport],
    rate: Callable[[Sequence[StoredReport]], Sequence[int]],
    deepest: int,
    most: int = NO_LIMIT,
) -> list[StoredReport]:
    """Return the reports that help, without those above a report that does.

    A report above one that helps stays if some of its members are in no report below it.

    Args:
        reports: Reports of all levels; of those of one level, the ones to be rated first.
        rate: Rates some reports, each from 0 to 5; it is called level by level.
        deepest: While no report helps, all reports of the next level are rated, down to this one.
        most: How many reports are rated at most. Reports beyond it count as if they did not help.
    """
    ids = {report.id for report in reports}
    bottom = max((report.hit.level for report in reports), default=0)
    to_rate = [report for report in reports if report.parent not in ids]
    rated: set[str] = set()
    selected: dict[str, StoredReport] = {}
    level = 0
    while to_rate := to_rate[: most - len(rated)]:
        rated.update(report.id for report in to_rate)
        helpful = [
            report
            for report, rating in zip(to_rate, rate(to_rate), strict=True)
            if rating >= MIN_HELPFUL_RATING
        ]
        for report in helpful:
            selected[report.id] = report
            parent = selected.get(report.parent)
            if parent and bottom not in parent.uncovered_levels:
                del selected[report.parent]
        helpful_ids = {report.id for report in helpful}
        to_rate = [report for report in reports if report.parent in helpful_ids]
        while not to_rate and not selected and level < deepest:
            level += 1
            to_rate = [
                report for report in reports if report.hit.level == level and report.id not in rated
            ]
    return list(selected.values())


def ask_rating(question: str, report: StoredReport, tools: Tools) -> int:
    """Ask a model how much a report helps, from 0 to 5; 1 where its reply has no rating."""
    prompt = Prompt(
        system=fill_template(PROMPTS / "rate_system.txt"),
        user=fill_template(
            PROMPTS / "rate.txt", report=format_report(report, 1), question=question
        ),
        max_tokens=100,
        temperature=0,
        schema=RatingReply,
        # As if every report helped: a dry run counts all that may be rated.
        placeholder=lambda: json.dumps({"rating": MIN_HELPFUL_RATING}),
    )
    try:
        return read_rating(complete(tools.models.chat("model", "rate"), prompt))
    except BadReply:
        return MIN_HELPFUL_RATING


def read_rating(reply: str) -> int:
    """Return the rating of a reply, from 0 to 5.

    Raises:
        BadReply: The reply has no rating.
    """
    rating = read_score(read_object(reply).get("rating"), MAX_RATING)
    if rating is None:
        raise BadReply("Expected a rating from 0 to 5.")
    return rating
