"""Which aspects are clearest in which cluster, so that the document represents them all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence

from fabula.graphs.aspects.values import Aspect

log = logging.getLogger("fabula")

Detect = Callable[[Sequence[Aspect], int], Sequence[Collection[str]]]
"""Asks every cluster which of some aspects are clearest in it, in the round of that number from 0;
the names, a set a cluster."""
Fit = Callable[[Aspect], int | None]
"""The cluster that an aspect's description fits best, if there is one to choose."""


def represent(
    aspects: Sequence[Aspect], rounds: int, detect: Detect, best_fit: Fit
) -> Iterator[tuple[Aspect, list[int], bool]]:
    """Every aspect with the clusters that hold it, each as soon as that is certain.

    Detection is repeated for what no cluster was found to hold, `rounds` times at the most; what
    is still missing goes to the cluster that it fits best, and the last value says so. An aspect
    that there is no cluster for is left out.
    """
    missing = list(aspects)
    for number in range(rounds + 1):
        if not missing:
            return
        found = detect(missing, number)
        for aspect in missing:
            holders = [number for number, names in enumerate(found) if aspect.name in names]
            if holders:
                yield aspect, holders, False
        named = frozenset().union(*found)
        missing = [aspect for aspect in missing if aspect.name not in named]
    for aspect in missing:
        holder = best_fit(aspect)
        if holder is None:
            continue
        log.info("no cluster was found to hold %r; it goes to the one it fits best", aspect.name)
        yield aspect, [holder], True
