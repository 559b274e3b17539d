"""Ranking texts by their words or vectors: rare words weigh more, and no two say the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fabula.model import Vectors

Scores = NDArray[np.float64]


def inverse_document_frequencies(
    texts: Iterable[Collection[str]],
) -> dict[str, float]:
    """Weights of words, as BM25 has them: log(1 + (texts without it + .5) / (with it + .5))."""
    having: Counter[str] = Counter()
    total = 0
    for words in texts:
        having.update(set(words))
        total += 1
    return {
        word: math.log1p((total - count + 0.5) / (count + 0.5)) for word, count in having.items()
    }


def scaled(scores: Scores) -> Scores:
    """Scores from 0 to 1; all 0 where they are equal."""
    if not scores.size or not (span := float(np.ptp(scores))) > 0:
        return np.zeros(scores.shape)
    return np.asarray((scores - scores.min()) / span)


def maximal_marginal_relevance(
    relevance: Scores, vectors: Vectors, tokens: Sequence[int], budget: int, balance: float
) -> list[int]:
    """Row numbers, best first, that fit `budget` tokens together and are unlike each other.

    Each next row has the highest balance x relevance - (1 - balance) x cosine to the nearest row
    already chosen, or 0 (Carbonell and Goldstein 1998, SIGIR, section 2). `vectors`: unit rows.
    """
    lengths = np.asarray(tokens)
    nearest = np.zeros(len(relevance))
    open_ = lengths <= budget
    picked: list[int] = []
    while open_.any():
        scores = np.where(open_, balance * relevance - (1 - balance) * nearest, -np.inf)
        best = int(scores.argmax())
        picked.append(best)
        budget -= int(lengths[best])
        open_[best] = False
        open_ &= lengths <= budget
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return picked
