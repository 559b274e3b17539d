"""The facts that a document's part of this graph records about itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.values import Aspect, Detail, MissingReply, Summary


def facts(
    options: Options,
    aspects: Sequence[Aspect],
    summaries: Sequence[Summary],
    details: Sequence[Detail],
    assigned: Sequence[str],
    changed: int,
    missing: Sequence[MissingReply] = (),
) -> Mapping[str, Any]:
    """Return what the part promises (which `fabula check` tests), and how much was written.

    Args:
        options: The options of the graph.
        aspects: The aspects of the set.
        summaries: All summaries of all levels.
        details: All details.
        assigned: The names of the aspects that no cluster was found to have.
        changed: How many chunks have changed since the clusters were made.
        missing: What no model gave. If there is any, an aspect without a summary is not promised.

    Returns:
        `assigned` and `changed`; `aspects`, the names of those that have a summary each; `details`,
        the maximum number for a chunk; and means that a dry run expects of other documents, left
        out where there is nothing to take the mean of: `mean_aspects` of a cluster, `mean_summary`
        and `mean_detail` in tokens.

    """
    with_summary = {summary.aspect for summary in summaries}
    promised = [aspect.name for aspect in aspects if aspect.name in with_summary or not missing]
    lowest = [summary for summary in summaries if summary.level == 1]
    clusters = {frozenset(member.id for member in summary.members) for summary in lowest}
    means = {
        "mean_aspects": len(lowest) / len(clusters) if clusters else None,
        "mean_summary": _mean_tokens(summaries),
        "mean_detail": _mean_tokens(details),
    }
    return {
        "assigned": list(assigned),
        "changed": changed,
        "aspects": promised if options.levels else [],
        "details": options.details,
        **{name: mean for name, mean in means.items() if mean is not None},
    }


def _mean_tokens(passages: Sequence[Summary | Detail]) -> float | None:
    return fmean(passage.tokens for passage in passages) if passages else None
