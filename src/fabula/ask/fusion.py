"""Fuse several rankings into one, by their scores or by their ranks alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from fabula.graph.hits import Hit

SMOOTHING = 60
"""The constant of reciprocal rank fusion: it keeps the first ranks from deciding everything
(Cormack et al. 2009, SIGIR, section 2)."""


def fuse_by_scores(rankings: Sequence[tuple[Sequence[Hit], float]], k: int) -> list[Hit]:
    """Return the `k` hits with the highest weighted sum of scores.

    Args:
        rankings: Hits and the weight of each ranking; its scores are scaled to 0..1 first.
        k: How many hits to return at most.
    """
    return _best([(hits, weight, _scale(hits)) for hits, weight in rankings], k)


def fuse_by_ranks(rankings: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Return the `k` hits with the highest sum of 1 / (60 + rank): reciprocal rank fusion."""
    ranks = [[1 / (SMOOTHING + rank) for rank in range(1, len(hits) + 1)] for hits in rankings]
    return _best([(hits, 1.0, shares) for hits, shares in zip(rankings, ranks, strict=True)], k)


def _best(rankings: Sequence[tuple[Sequence[Hit], float, Sequence[float]]], k: int) -> list[Hit]:
    sums: dict[str, float] = defaultdict(float)
    hits: dict[str, Hit] = {}
    for ranking, weight, scores in rankings:
        for hit, score in zip(ranking, scores, strict=True):
            sums[hit.id] += weight * score
            hits.setdefault(hit.id, hit)
    best = sorted(sums, key=lambda id: (-sums[id], id))[:k]
    return [replace(hits[id], score=sums[id]) for id in best]


def _scale(ranking: Sequence[Hit]) -> list[float]:
    """Return the scores scaled from 0, the lowest, to 1, the highest; all 1 if they are equal."""
    scores = [hit.score for hit in ranking]
    lowest, spread = min(scores, default=0.0), max(scores, default=0.0) - min(scores, default=0.0)
    return [(score - lowest) / spread if spread else 1.0 for score in scores]
