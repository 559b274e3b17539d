"""Ranking texts by their words or vectors: rare words weigh more, and no two say the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from fabula.text.document import Vectors

Scores = NDArray[np.float64]
SATURATION, LENGTH = 1.2, 0.75
"""BM25's k1 and b, as the full-text index has them."""


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


def bm25(asked: AbstractSet[str], texts: Sequence[Sequence[str]]) -> Scores:
    """How well each text, given as its words, answers to the words asked for; shape (texts,).

    Robertson and Zaragoza 2009, section 3: words are counted among these texts.
    """
    weights = inverse_document_frequencies([asked & set(words) for words in texts])
    usual = sum(map(len, texts)) / max(1, len(texts)) or 1.0
    scores = np.zeros(len(texts))
    for row, words in enumerate(texts):
        damped = SATURATION * (1 - LENGTH + LENGTH * len(words) / usual)
        times = Counter(word for word in words if word in asked)
        scores[row] = sum(
            weights[word] * count * (SATURATION + 1) / (count + damped)
            for word, count in times.items()
        )
    return scores


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
