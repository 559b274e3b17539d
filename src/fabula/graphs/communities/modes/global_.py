"""Microsoft GraphRAG's global search: read all reports of one level, and put what helps together.

Edge et al. 2024 (arXiv 2404.16130), section 3.1.6; microsoft/graphrag, read at 6dad6d2. Two
differences from its code. It sends the reports of all levels down to the requested one, parents
beside their children; here each entity counts with its deepest report down to that level, and a
parent beside its children only where one of them has no report. And it counts a batch that failed
as one that says nothing; here the failure is reported.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.mode import Pieces, Tools
from fabula.graphs.communities.points import ask_points, make_batches, reduce
from fabula.graphs.communities.report_search import (
    StoredReport,
    allowed_reports,
    fall_back,
    rank_by_cosine_and_words,
    read_reports,
    reports_at_level,
    to_hits,
)


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the reports of the level, ranked by cosine and words; no model is asked."""
    reports = read_reports(filters, tools)
    if not reports:
        return fall_back(question, filters, tools)
    with tools.trace.step("level", f"{tools.options.level}") as step:
        chosen = reports_at_level(reports, tools.options.level)
        step.note += f": {len(chosen):,} of {len(reports):,} reports"
    return to_hits(rank_by_cosine_and_words(question, chosen, filters, tools), filters, tools)


def answer(
    question: str, context: Sequence[Passage], filters: Filters, tools: Tools
) -> Pieces | None:
    """Answer from all reports of the level, whether the context has them or not."""
    if tools.models.offline:
        return None
    at_level = reports_at_level(read_reports(filters, tools), tools.options.level)
    reports = allowed_reports(at_level, filters)
    return answer_from_reports(question, reports, context, filters, tools) if reports else None


def answer_from_reports(
    question: str,
    reports: Sequence[StoredReport],
    context: Sequence[Passage],
    filters: Filters,
    tools: Tools,
) -> Pieces:
    """Answer from these reports: one call for each batch of them, and one for the answer.

    If there are more batches than the option `calls`, the reports nearest to the question are read.
    """
    if len(make_batches(reports, tools.options.batch_tokens)) > tools.options.calls:
        reports = rank_by_cosine_and_words(question, reports, filters, tools)
    with tools.trace.step("map") as step:
        points, step.note = ask_points(question, reports, tools)
    yield from reduce(question, points, context, filters, tools)
