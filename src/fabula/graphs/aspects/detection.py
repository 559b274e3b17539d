"""Choosing the clusters of each aspect, so that every aspect of the set is in the graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence

from fabula.graphs.aspects.values import Aspect

log = logging.getLogger("fabula")

Detect = Callable[[Sequence[Aspect], int], Sequence[Collection[str]]]
"""Asks of every cluster which of some aspects are clearest in it, in the round of that number from
0; returns a set of names for each cluster."""
Fit = Callable[[Aspect], int | None]
"""Returns the number of the cluster nearest to an aspect's description; None if none can be chosen.
"""


def assign_clusters(
    aspects: Sequence[Aspect], rounds: int, detect: Detect, best_fit: Fit
) -> Iterator[tuple[Aspect, list[int], bool]]:
    """Yield every aspect with its clusters, each as soon as they are certain.

    Aspects that no cluster was found to have are asked for again. The method that this graph
    follows repeats the whole process where an aspect is missing; this is cheaper, and it ends.

    Args:
        aspects: The aspects of the set.
        rounds: How often detection is repeated at most for aspects that are missing.
        detect: Finds the aspects of all clusters.
        best_fit: Chooses the cluster of an aspect that is still missing after all rounds.

    Yields:
        An aspect, the numbers of its clusters, and whether `best_fit` chose the cluster. An aspect
        that it finds no cluster for is left out.

    """
    missing = list(aspects)
    for round_number in range(rounds + 1):
        if not missing:
            return
        detected = detect(missing, round_number)
        for aspect in missing:
            clusters = [number for number, names in enumerate(detected) if aspect.name in names]
            if clusters:
                yield aspect, clusters, False
        names_found = frozenset().union(*detected)
        missing = [aspect for aspect in missing if aspect.name not in names_found]
    for aspect in missing:
        cluster = best_fit(aspect)
        if cluster is None:
            continue
        log.info(
            "No cluster was found to have the aspect %r; it goes to the one nearest to its "
            "description.",
            aspect.name,
        )
        yield aspect, [cluster], True
