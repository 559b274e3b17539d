"""What the graph counts of its part, and how it describes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabula.graph.counts import RECORDS, DroppedRecords, carry_over, count_dropped, means
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


@dataclass(frozen=True, slots=True)
class ClaimReplies:
    """What a model replied when it was asked for claims.

    Attributes:
        windows: How many windows there are.
        new: The claims of each window that was asked about in this build.
        count: How many claims there are in all.

    """

    windows: int
    new: tuple[Records[Claim], ...]
    count: int


@dataclass
class CommunityReplies:
    """What a model replied in a build.

    Attributes:
        written: The reports that it wrote.
        reused: How many communities have the report of the build before.
        claimed: Its replies about claims; None where it was not asked for them.

    """

    written: list[Records[CommunityReport]] = field(default_factory=list)
    reused: int = 0
    claimed: ClaimReplies | None = None


def count_facts(
    communities: Sequence[Community],
    reports: Mapping[str, CommunityReport],
    replies: CommunityReplies,
    previous: Mapping[str, Any],
) -> dict[str, Any]:
    """Return how much there is, what was used again, and what was left out of replies.

    Args:
        communities: All of them.
        reports: Those that there are, by the ids of their communities.
        replies: What a model replied in this build.
        previous: The facts of the build before.

    """
    claimed = replies.claimed
    of_windows = claimed.new if claimed else ()
    counts: Counter[str] = Counter()
    every: list[Records[Any]] = [*replies.written, *of_windows]
    for reply in every:
        counts.update(count_dropped(reply.dropped))
        counts[RECORDS] += sum(reply.dropped.values())
    written = [reply.records[0] for reply in replies.written]
    claims = [claim.text for reply in of_windows for claim in reply.records]
    counts[RECORDS] += sum(len(report.findings) for report in written) + len(claims)
    reused = replies.reused + (claimed.windows - len(of_windows) if claimed else 0)
    pieces = len(written) + len(of_windows) + reused
    return {
        "communities": len(communities),
        "levels": len({community.level for community in communities}),
        "reports": len(reports),
        "kept_reports": replies.reused,
        **({"claims": claimed.count, "claimed": True} if claimed else {}),
        **carry_over(counts, previous, reused / max(1, pieces)),
        **means(
            previous,
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
    reused = f", {facts['kept_reports']:,} of them as it was" if facts["kept_reports"] else ""
    return [counts + reused, *LEFT_OUT.describe(facts)]


def warnings(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return what was left out if it is so much that the model is hardly fit for the task."""
    return LEFT_OUT.warnings(facts)
