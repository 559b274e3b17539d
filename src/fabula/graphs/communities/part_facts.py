"""What the graph counts of its part, and how it describes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabula.graph.counts import RECORDS, DroppedRecords, count_dropped, means
from fabula.graph.extraction import MALFORMED, OVERLONG, SURPLUS, UNSUPPORTED, Records
from fabula.graphs.communities.claims import UNQUOTED
from fabula.graphs.communities.reports import UNFOUNDED, UNKNOWN
from fabula.graphs.communities.values import Claim, Community, CommunityReport
from fabula.text import tokens

LEFT_OUT = DroppedRecords(
    {
        UNFOUNDED: "findings that rest on no line",
        UNKNOWN: "references to lines that are none",
        UNQUOTED: "claims whose words are printed nowhere",
        UNSUPPORTED: "claims with a description that the text does not bear out",
        OVERLONG: "names too long to be one",
        MALFORMED: "records that were none",
        SURPLUS: "more than a reply may have",
    },
    max_share=0.1,
    sentence="left out of what was written: {reasons}",
)


@dataclass
class CommunityReplies:
    """What a model replied in a build.

    Attributes:
        written: The reports that it wrote.
        claimed: The claims of each window; None where it was not asked for them.
    """

    written: list[Records[CommunityReport]] = field(default_factory=list)
    claimed: list[Records[Claim]] | None = None


def count_facts(
    communities: Sequence[Community],
    reports: Mapping[str, CommunityReport],
    replies: CommunityReplies,
) -> dict[str, Any]:
    """Return how much there is, what was used again, and what was left out of replies.

    Args:
        communities: All of them.
        reports: Those that there are, by the ids of their communities.
        replies: What a model replied in this build.
    """
    of_windows = replies.claimed or []
    counts: Counter[str] = Counter()
    every: list[Records[Any]] = [*replies.written, *of_windows]
    for reply in every:
        counts.update(count_dropped(reply.dropped))
        counts[RECORDS] += sum(reply.dropped.values())
    written = [reply.records[0] for reply in replies.written]
    claims = [claim.text for reply in of_windows for claim in reply.records]
    counts[RECORDS] += sum(len(report.findings) for report in written) + len(claims)
    return {
        "communities": len(communities),
        "levels": len({community.level for community in communities}),
        "reports": len(reports),
        **({} if replies.claimed is None else {"claims": len(claims)}),
        **+counts,
        **means(
            {
                "mean_report": [report.tokens for report in written],
                "mean_findings": [len(report.findings) for report in written],
                "mean_claims": [len(reply.records) for reply in of_windows],
                "mean_claim": tokens.count_all(claims),
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
