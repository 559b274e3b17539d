"""What the graph itself tells of its part, and how it is put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from fabula.graphs.communities import claims as claiming
from fabula.graphs.communities import reports as reporting
from fabula.graphs.communities.values import Claim, Community, CommunityReport
from fabula.text import tokens

DROPPED = {
    reporting.UNFOUNDED: "findings that rest on no line",
    reporting.UNKNOWN: "references to lines that are none",
    claiming.UNQUOTED: "claims whose words are printed nowhere",
    claiming.OVERLONG: "names too long to be one",
    reporting.MALFORMED: "records that were none",
    reporting.SURPLUS: "more than a reply may have",
}
"""Why something was left out, in words."""
DOUBTFUL = 0.1
"""Share of what models wrote: where more is not borne out, a model may be unfit for it."""


@dataclass
class Tally:
    """Counts what models write while a build goes on.

    `listed` are the numbers of claims of those windows that were asked about, of all `windows`.
    """

    written: list[CommunityReport] = field(default_factory=list)
    kept: int = 0
    windows: int = 0
    listed: list[int] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def means(self) -> dict[str, float]:
        """What a dry run expects of other documents; nothing where there was nothing to count."""
        counts: dict[str, Sequence[float]] = {
            "mean_report": [one.tokens for one in self.written],
            "mean_findings": [len(one.findings) for one in self.written],
            "mean_claims": self.listed,
            "mean_claim": tokens.count_all([one.text for one in self.claims]),
        }
        return {name: fmean(some) for name, some in counts.items() if some}


def facts(
    communities: Sequence[Community],
    reports: Mapping[str, CommunityReport],
    claims: int | None,
    tally: Tally,
    before: Mapping[str, Any],
) -> dict[str, Any]:
    """How much there is, what was used again, and what was left out of this build's replies.

    `claims` is None where they were not asked for. Of what was left out `before` remains the share
    that reports and windows which were not asked again have.
    """
    dropped = Counter({f"dropped_{why}": count for why, count in tally.dropped.items()})
    pieces = len(tally.written) + tally.kept + tally.windows
    share = (pieces - len(tally.written) - len(tally.listed)) / max(1, pieces)
    records = sum(len(one.findings) for one in tally.written) + sum(tally.listed)
    dropped["records"] = records + sum(tally.dropped.values())
    for name, count in before.items():
        if name == "records" or name.startswith("dropped_"):
            dropped[name] += round(share * count)
    told: dict[str, Any] = {
        "communities": len(communities),
        "levels": len({one.level for one in communities}),
        "reports": len(reports),
        "kept_reports": tally.kept,
    }
    if claims is not None:
        told |= {"claims": claims, "claimed": True}
    means = {name: value for name, value in before.items() if name.startswith("mean_")}
    counts = {name: count for name, count in sorted(dropped.items()) if count}
    return {**told, **counts, **means, **tally.means()}


def tell(facts: Mapping[str, Any]) -> Sequence[str]:
    """How many communities there are on how many levels, and what was left out."""
    if not facts["communities"]:
        return ["nobody is tied to anybody: there are no communities"]
    levels = f"{facts['levels']:,} level{'s' if facts['levels'] > 1 else ''}"
    told = f"{facts['communities']:,} communities on {levels}, {facts['reports']:,} with a report"
    kept = f", {facts['kept_reports']:,} of them as it was" if facts["kept_reports"] else ""
    return [told + kept, *_left_out(facts)]


def doubt(facts: Mapping[str, Any]) -> Sequence[str]:
    """What was left out, where it is so much that the model is hardly fit for it."""
    lost = sum(facts.get(f"dropped_{why}", 0) for why in DROPPED)
    return _left_out(facts) if lost > DOUBTFUL * facts.get("records", 0) else []


def _left_out(facts: Mapping[str, Any]) -> list[str]:
    lost = {words: facts.get(f"dropped_{why}", 0) for why, words in DROPPED.items()}
    if not sum(lost.values()):
        return []
    reasons = ", ".join(f"{count:,} {words}" for words, count in lost.items() if count)
    return [f"left out of what was written: {reasons}"]
