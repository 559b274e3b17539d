"""The facts that a document's part of this graph records about itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.previous import PreviousAspects
from fabula.graphs.aspects.values import Aspect, Detail, Grown, MissingReply, Summary


def count_facts(
    options: Options,
    aspects: Sequence[Aspect],
    grown: Grown,
    details: Sequence[Detail],
    previous: PreviousAspects,
    missing: Sequence[MissingReply] = (),
) -> Mapping[str, Any]:
    """Return what the part promises (which `fabula check` tests), and how much was written.

    Args:
        options: The options of the graph.
        aspects: The aspects of the set.
        grown: The trees, and what was found out about aspects.
        details: All details.
        previous: The previous graph. As long as its clusters are kept and no aspect is missing, its
            `rounds` and `missed` stay: they say how the clusters were made.
        missing: What no model gave. If there is any, an aspect without a summary is not promised.

    Returns:
        `assigned` and `changed`; `aspects`, the names of those that have a summary each; `details`,
        the maximum number for a chunk; and means that a dry run expects of other documents, left
        out where there is nothing to take the mean of: `mean_aspects` of a cluster, `mean_summary`
        and `mean_detail` in tokens. If clusters were asked for aspects: `rounds`, how often;
        `missed` and `missed_in`, lists of equal length of the names of aspects that no cluster had
        after a round, and of the numbers of these rounds, from 1.
    """
    summaries = grown.summaries
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
        "assigned": list(grown.assigned),
        "changed": grown.changed,
        "aspects": promised if options.levels else [],
        "details": options.details,
        **_rounds(aspects, grown, previous),
        **{name: mean for name, mean in means.items() if mean is not None},
    }


def _rounds(aspects: Sequence[Aspect], grown: Grown, previous: PreviousAspects) -> dict[str, Any]:
    source = previous if previous.rounds and not grown.missed else grown
    missed = source.missed
    # With one aspect, or without chunks, there is nothing to find.
    if not source.rounds or len(aspects) < 2:
        return {}
    return {
        "rounds": source.rounds,
        "missed": [name for _, name in missed],
        "missed_in": [number for number, _ in missed],
    }


def _mean_tokens(passages: Sequence[Summary | Detail]) -> float | None:
    return fmean(passage.tokens for passage in passages) if passages else None
