"""Scores: what each text gives to each measure, and a measure's value with its interval.

A measure is a mean over items: a precision over what was found, a recall over what there is, an F1
over both together, as 2 x matched / (found + gold) is the mean over all of them of whether each is
matched. So one bootstrap over texts serves all measures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr

from fabula_bench.statistics import Interval, mean

PRECISION, RECALL, F1 = "precision", "recall", "F1"


@dataclass(slots=True)
class TextScores:
    """The items of one text, by the measure; an item is between 0 and 1."""

    text: str
    items: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, measure: str, items: Iterable[float]) -> None:
        """Add items of a measure."""
        self.items[measure].extend(map(float, items))

    def add_matches(self, measure: str, found: Sequence[float], gold: Sequence[float]) -> None:
        """Add precision, recall and F1: how far what was found is right, and what is gold found."""
        self.add(f"{measure}, {PRECISION}", found)
        self.add(f"{measure}, {RECALL}", gold)
        self.add(f"{measure}, {F1}", [*found, *gold])


def summarise(scores: Sequence[TextScores]) -> dict[str, Interval]:
    """Return the mean of each measure over all texts, with its 95 % bootstrap interval."""
    names = dict.fromkeys(name for of_text in scores for name in of_text.items)
    summary: dict[str, Interval] = {}
    for name in names:
        values = [value for of_text in scores for value in of_text.items.get(name, ())]
        texts = [of_text.text for of_text in scores for _ in of_text.items.get(name, ())]
        if interval := mean(np.asarray(values, np.float64), texts, seed=0):
            summary[name] = interval
    return summary


def align_clusters(
    found: Mapping[str, frozenset[int]], gold: Mapping[str, frozenset[int]]
) -> dict[str, tuple[str, float]]:
    """Match found clusters with gold clusters, one to one, so that they have most in common.

    The entity-based CEAF (Luo 2005, "On Coreference Resolution Performance Metrics", section 3,
    similarity phi 4): the sum over the pairs of 2 x common / (both sizes) is as large as it can be.

    Returns:
        For each found cluster that has something in common with its partner, the partner and how
        similar both are, above 0 and at most 1.
    """
    if not found or not gold:
        return {}
    rows, columns = sorted(found), sorted(gold)
    similarity = np.array(
        [
            [2 * len(found[row] & gold[column]) / max(1, len(found[row]) + len(gold[column]))
             for column in columns]
            for row in rows
        ]
    )  # fmt: skip
    matched = zip(*linear_sum_assignment(similarity, maximize=True), strict=True)
    return {
        rows[row]: (columns[column], float(similarity[row, column]))
        for row, column in matched
        if similarity[row, column] > 0
    }


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation; equal values share their mean rank, None if undefined."""
    if len(first) < 3 or 1 in (len(set(first)), len(set(second))):
        return None
    return float(spearmanr(first, second).statistic)
