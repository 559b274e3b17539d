"""How sure a mean or a difference is, when questions come in groups about the same text.

Scores are arrays with one number a question, NaN where a system has none; `texts` names the text
of each. Questions about one text are alike, so texts are drawn, each with all of its questions, and
few texts tell little, however many their questions. The same seed gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

CONFIDENCE = 0.95
RESAMPLES = 5_000

_EXACT = 14
"""Texts up to which all flips of signs are tried: 16,384."""
_DRAWN_AT_ONCE = 1_000_000
"""Texts drawn in one step, so that many texts don't fill the memory."""

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `questions` of `texts`, and the interval that holds it at 95% confidence."""

    mean: float
    low: float
    high: float
    questions: int
    texts: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A system's mean minus the baseline's, and the two-sided p-value of there being none.

    With n texts, p is never below 2 to the power of 1 - n: 0.25 for three.
    """

    interval: Interval
    p: float


def mean(scores: Scores, texts: Sequence[str], seed: int) -> Interval | None:
    """Return the mean score and its 95% interval by the cluster bootstrap.

    Percentiles of the means of `RESAMPLES` draws of texts with replacement, each text with all of
    its questions (Davison and Hinkley 1997, Bootstrap Methods and their Application, section 3.8,
    strategy 1; Field and Welsh 2007, Bootstrapping clustered data). Questions aren't drawn again
    within a text: how much they differ is already in how much the texts' means do, and would count
    twice. In simulations the interval held the truth in 95 of 100 cases with 40 texts, in 92 with
    15, in 84 with 5, in 77 with 3: of a few texts it is too narrow. None without scores.
    """
    values, groups = _group_by_text(scores, texts)
    if not len(values):
        return None
    center = float(values.mean())
    low = high = center
    if len(groups) > 1:
        sums, sizes = np.add.reduceat(values, groups), np.diff(groups, append=len(values))
        low, high = bootstrap(
            (sums, sizes),
            lambda sums, sizes, axis: sums.sum(axis) / sizes.sum(axis),
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            batch=max(1, _DRAWN_AT_ONCE // len(groups)),
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    return Interval(center, float(low), float(high), len(values), len(groups))


def difference(
    scores: Scores, baseline: Scores, texts: Sequence[str], seed: int
) -> Difference | None:
    """Return how much better a system is than the baseline, on questions that both answered.

    The interval is that of `mean`, of the differences; the p-value is of the paired randomisation
    test, which asks how often the difference would be as large if it were chance which of the two
    is which (Smucker, Allan and Carterette 2007, A comparison of statistical significance tests
    for information retrieval evaluation), for all questions of a text together. None if there is
    no such question.
    """
    differences = np.asarray(scores, np.float64) - np.asarray(baseline, np.float64)
    interval = mean(differences, texts, seed)
    if interval is None:
        return None
    values, groups = _group_by_text(differences, texts)
    sums = np.add.reduceat(values, groups)
    return Difference(interval, _chance(sums, np.random.default_rng(seed)))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values of several comparisons, adjusted for their number by Holm's method.

    Holm 1979, A simple sequentially rejective multiple test procedure. In the order given.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    raised = ((len(order) - rank) * p_values[index] for rank, index in enumerate(order))
    adjusted = dict(zip(order, accumulate(raised, max), strict=True))
    return tuple(min(1.0, adjusted[index]) for index in range(len(p_values)))


def _group_by_text(scores: Scores, texts: Sequence[str]) -> tuple[Scores, NDArray[np.intp]]:
    """Return the scores that exist, grouped by text, and the index at which each text begins."""
    values = np.asarray(scores, np.float64)
    if values.shape != (len(texts),):
        raise ValueError(f"{values.shape} scores for {len(texts)} texts: one a question")
    has_score = ~np.isnan(values)
    _, group = np.unique(np.asarray(texts, dtype=str)[has_score], return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return values[has_score][order], starts


def _chance(sums: Scores, rng: np.random.Generator) -> float:
    """Return the share of flips of the texts' signs that give a sum as far from 0, or farther."""
    count = len(sums)
    # All flips of few texts; of many, random ones, and the one that was observed.
    if count <= _EXACT:
        flips = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    else:
        flips = np.vstack([np.zeros((1, count), int), rng.integers(2, size=(RESAMPLES, count))])
    totals = np.abs((1 - 2 * flips) @ sums)
    observed = abs(float(sums.sum()))
    return float(np.mean(totals >= observed - 1e-9 * max(1.0, observed)))
