"""What the graph itself tells of a document's part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from fabula.graphs.aspects.knobs import Knobs
from fabula.graphs.aspects.values import Aspect, Detail, Missing, Summary


def facts(
    knobs: Knobs,
    aspects: Sequence[Aspect],
    summaries: Sequence[Summary],
    details: Sequence[Detail],
    assigned: Sequence[str],
    changed: int,
    missing: Sequence[Missing] = (),
) -> Mapping[str, Any]:
    """What was promised, what had to be assigned, and how much was written.

    Every aspect of `aspects` has a summary, and no chunk more than `details` details: one that
    lacks all of its summaries, as some are `missing`, is not promised. `assigned`
    are the aspects that no cluster was found to hold, `changed` counts the chunks that have
    changed since the clusters were made. Means are left out where there is nothing to take them
    of: `mean_aspects` of a cluster, `mean_summary` and `mean_detail` in tokens.
    """
    told = {one.aspect for one in summaries}
    promised = [one.name for one in aspects if one.name in told or not missing]
    low = [one for one in summaries if one.level == 1]
    clusters = {frozenset(member.id for member in one.members) for one in low}
    means = {
        "mean_aspects": len(low) / len(clusters) if clusters else None,
        "mean_summary": _mean_tokens(summaries),
        "mean_detail": _mean_tokens(details),
    }
    return {
        "assigned": list(assigned),
        "changed": changed,
        "aspects": promised if knobs.levels else [],
        "details": knobs.details,
        **{name: mean for name, mean in means.items() if mean is not None},
    }


def _mean_tokens(passages: Sequence[Summary | Detail]) -> float | None:
    return fmean(one.tokens for one in passages) if passages else None
