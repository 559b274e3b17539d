"""What the graph counts of its part, and how it describes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.graph.counts import RECORDS, DroppedRecords, count_dropped, means
from fabula.graph.extraction import MALFORMED, SURPLUS, Records
from fabula.graphs.communities.reports import UNFOUNDED, UNKNOWN
from fabula.graphs.communities.values import Community, CommunityReport

LEFT_OUT = DroppedRecords(
    {
        UNFOUNDED: "findings that rest on no line",
        UNKNOWN: "references to lines that are none",
        MALFORMED: "records that were none",
        SURPLUS: "more than a reply may have",
    },
    max_share=0.1,
    sentence="left out of what was written: {reasons}",
)


def count_facts(
    communities: Sequence[Community],
    reports: Mapping[str, CommunityReport],
    replies: Sequence[Records[CommunityReport]],
) -> dict[str, Any]:
    """Return how much there is, what was used again, and what was left out of replies.

    Args:
        communities: All of them.
        reports: Those that there are, by the ids of their communities.
        replies: The reports that a model wrote in this build.
    """
    counts: Counter[str] = Counter()
    for reply in replies:
        counts.update(count_dropped(reply.dropped))
        counts[RECORDS] += sum(reply.dropped.values())
    written = [reply.records[0] for reply in replies]
    counts[RECORDS] += sum(len(report.findings) for report in written)
    return {
        "communities": len(communities),
        "levels": len({community.level for community in communities}),
        "reports": len(reports),
        **+counts,
        **means(
            {
                "mean_report": [report.tokens for report in written],
                "mean_findings": [len(report.findings) for report in written],
            },
        ),
    }


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return how many communities there are on how many levels, and what was left out."""
    if not facts["communities"]:
        return ["nobody is tied to anybody: there are no communities"]
    levels = f"{facts['levels']:,} level{'s' if facts['levels'] > 1 else ''}"
    reports = f"{facts['reports']:,} with a report" if facts["reports"] else "without reports"
    counts = f"{facts['communities']:,} communities on {levels}, {reports}"
    return [counts, *LEFT_OUT.describe(facts)]
