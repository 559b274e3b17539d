"""Which texts are found, and how far up: recall, the reciprocal rank and nDCG.

As `trec_eval` and BEIR (Thakur et al. 2021, arXiv 2104.08663) have them. A text stands where its
first passage does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from fabula_bench.metrics.measure import Judges, Metric
from fabula_bench.model import BenchQuestion, Need, Result

SOURCE = "BEIR (Thakur et al. 2021, arXiv 2104.08663), as trec_eval"
BLIND = (
    "It knows only the texts that were judged: a relevant one that nobody judged counts as wrong. "
    "It can't tell whether the passage that was found of a text is the one that answers."
)
Ranked = list[int]
"""How relevant the texts are that were found, best first."""


def _recall(ranked: Ranked, relevant: Mapping[str, int]) -> float:
    return sum(map(bool, ranked)) / sum(map(bool, relevant.values()))


def _reciprocal_rank(ranked: Ranked, relevant: Mapping[str, int]) -> float:
    del relevant
    return next((1 / place for place, grade in enumerate(ranked, 1) if grade), 0.0)


def _ndcg(cut: int) -> Callable[[Ranked, Mapping[str, int]], float]:
    def score(ranked: Ranked, relevant: Mapping[str, int]) -> float:
        return _gain(ranked) / _gain(sorted(relevant.values(), reverse=True)[:cut])

    return score


def _gain(grades: Iterable[int]) -> float:
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades, 1))


def _metric(name: str, cut: int, score: Callable[[Ranked, Mapping[str, int]], float]) -> Metric:
    """Return a metric of the first texts that are found, as many as `cut`."""

    def how(question: BenchQuestion, result: Result, _: Judges) -> float:
        found = list(dict.fromkeys(passage.source for passage in result.context))[:cut]
        return score([question.relevant.get(text, 0) for text in found], question.relevant)

    needs = frozenset[Need]({"relevant", "context"})
    return Metric(name=f"{name}_{cut}", source=SOURCE, blind=BLIND, needs=needs, how=how)


METRICS = (
    *(_metric("recall", cut, _recall) for cut in (5, 10, 100)),
    _metric("mrr", 10, _reciprocal_rank),
    _metric("ndcg", 10, _ndcg(10)),
)
