"""Rank texts by their words (BM25), and choose texts that differ (maximal marginal relevance)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from fabula.text.document import Vectors

Scores = NDArray[np.float64]
SATURATION, LENGTH_NORMALIZATION = 1.2, 0.75
"""BM25's k1 and b, with the values of Lucene's full-text index."""


def inverse_document_frequencies(
    texts: Iterable[Collection[str]],
) -> dict[str, float]:
    """Return the weight of each word in BM25: log(1 + (texts without it + .5) / (with it + .5))."""
    containing: Counter[str] = Counter()
    total = 0
    for words in texts:
        containing.update(set(words))
        total += 1
    return {
        word: math.log1p((total - count + 0.5) / (count + 0.5))
        for word, count in containing.items()
    }


def bm25(query: AbstractSet[str], texts: Sequence[Sequence[str]]) -> Scores:
    """Return the BM25 score of each text (Robertson and Zaragoza 2009, section 3).

    Args:
        query: The words of the query.
        texts: The words of each text; frequencies are counted in these texts alone.

    Returns:
        Scores, shape (texts,).
    """
    weights = inverse_document_frequencies([query & set(words) for words in texts])
    mean_length = sum(map(len, texts)) / max(1, len(texts)) or 1.0
    scores = np.zeros(len(texts))
    for row, words in enumerate(texts):
        damped = SATURATION * (
            1 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * len(words) / mean_length
        )
        frequencies = Counter(word for word in words if word in query)
        scores[row] = sum(
            weights[word] * count * (SATURATION + 1) / (count + damped)
            for word, count in frequencies.items()
        )
    return scores


def score_by_rank(rows: Sequence[int]) -> dict[int, float]:
    """Return the score of each row by its rank: 1, 1/2, 1/3 and so on."""
    return {row: 1 / rank for rank, row in enumerate(rows, 1)}


def scale(scores: Scores) -> Scores:
    """Return scores scaled to the range from 0 to 1; all 0 if they are equal."""
    if not scores.size or not (span := float(np.ptp(scores))) > 0:
        return np.zeros(scores.shape)
    return np.asarray((scores - scores.min()) / span)


def maximal_marginal_relevance(
    relevance: Scores, vectors: Vectors, tokens: Sequence[int], budget: int, balance: float
) -> list[int]:
    """Choose relevant texts that differ from each other (Carbonell and Goldstein 1998, section 2).

    Each next text has the highest balance x relevance - (1 - balance) x similarity, where
    similarity is the cosine to the nearest text chosen before, or 0.

    Args:
        relevance: Shape (texts,).
        vectors: Unit rows, shape (texts, dimensions).
        tokens: The length of each text.
        budget: The most tokens of all chosen texts together.
        balance: From 0, only diversity counts, to 1, only relevance counts.

    Returns:
        The numbers of the chosen rows, best first.
    """
    lengths = np.asarray(tokens)
    nearest = np.zeros(len(relevance))
    available = lengths <= budget
    chosen: list[int] = []
    while available.any():
        scores = np.where(available, balance * relevance - (1 - balance) * nearest, -np.inf)
        best = int(scores.argmax())
        chosen.append(best)
        budget -= int(lengths[best])
        available[best] = False
        available &= lengths <= budget
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen
