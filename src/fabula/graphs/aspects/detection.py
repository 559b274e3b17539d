"""Choose the clusters of each aspect, so that every aspect of the set is in the graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fabula.graph.builds import Build
from fabula.graphs.aspects.values import Aspect

LOG = logging.getLogger("fabula")

Group = TypeVar("Group")

Detect = Callable[[Sequence[Aspect], int], Build[Sequence[Collection[str]]]]
"""Asks of every cluster which of some aspects are clearest in it, in the round of that number from
0; returns a set of names for each cluster."""
Fit = Callable[[Aspect], Build[int | None]]
"""Returns the number of the cluster nearest to an aspect's description; None if none can be chosen.
"""

Assigned = tuple[Aspect, list[int], bool]
"""An aspect, the numbers of its clusters, and whether `Fit` had to choose the cluster."""


@dataclass(frozen=True, slots=True)
class Attempt(Generic[Group]):
    """Clusters, and the names of the aspects that each was found to have."""

    groups: Sequence[Group]
    detected: Sequence[Collection[str]]


@dataclass(slots=True)
class Rounds:
    """How often clusters were asked for aspects, and what was missing after each time."""

    count: int = 0
    missing: list[tuple[int, str]] = field(default_factory=list)
    """The number of a round, from 1, and the name of an aspect that no cluster had after it."""

    def add(self, missing: Iterable[Aspect]) -> None:
        """Note a round and what was missing after it."""
        self.count += 1
        self.missing += [(self.count, aspect.name) for aspect in missing]


def assign_clusters(
    aspects: Sequence[Aspect],
    rounds: int,
    detect: Detect,
    best_fit: Fit,
    log: Rounds | None = None,
) -> Build[list[Assigned]]:
    """Return every aspect with its clusters, in the order in which these were certain.

    Aspects that no cluster was found to have are asked for again. The method that this graph
    follows repeats the whole process where an aspect is missing, as `repeat_all` does; this is
    cheaper.

    Args:
        aspects: The aspects of the set.
        rounds: How often detection is repeated at most for aspects that are missing.
        detect: Finds the aspects of all clusters.
        best_fit: Chooses the cluster of an aspect that is still missing after all rounds. An aspect
            that it finds no cluster for is left out.
        log: Called after each round.
    """
    assigned: list[Assigned] = []
    missing = list(aspects)
    for round_number in range(rounds + 1):
        if not missing:
            break
        detected = yield from detect(missing, round_number)
        for aspect in missing:
            clusters = [number for number, names in enumerate(detected) if aspect.name in names]
            if clusters:
                assigned.append((aspect, clusters, False))
        names_found = frozenset().union(*detected)
        missing = [aspect for aspect in missing if aspect.name not in names_found]
        if log is not None:
            log.add(missing)
    for aspect in missing:
        cluster = yield from best_fit(aspect)
        if cluster is None:
            continue
        LOG.info(
            "No cluster was found to have the aspect %r; it goes to the one nearest to its "
            "description.",
            aspect.name,
        )
        assigned.append((aspect, [cluster], True))
    return assigned


def repeat_all(
    aspects: Sequence[Aspect],
    rounds: int,
    attempt: Callable[[int], Build[Attempt[Group] | None]],
    log: Rounds,
) -> Build[tuple[int, Attempt[Group]]]:
    """Repeat clustering and detection until every aspect was found, as the original method does.

    The original method does not say when it gives up; this ends after `rounds` repetitions.

    Args:
        aspects: The aspects of the set.
        rounds: How often all is repeated at most.
        attempt: Makes clusters and finds their aspects, in the attempt of that number from 0, which
            always gives some. None: nothing else can come of it.
        log: Called after each attempt.

    Returns:
        The number of the attempt in which the fewest aspects are missing, the first of several, and
        what it gave.
    """
    best: tuple[int, int, Attempt[Group]] | None = None
    for number in range(rounds + 1):
        made = yield from attempt(number)
        if made is None:
            break
        names_found = frozenset().union(*made.detected)
        missing = [aspect for aspect in aspects if aspect.name not in names_found]
        log.add(missing)
        if best is None or len(missing) < best[0]:
            best = (len(missing), number, made)
        if not missing:
            break
    if best is None:
        raise ValueError("The first attempt has to give clusters.")
    return best[1], best[2]
