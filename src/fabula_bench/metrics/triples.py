"""Triples of a graph compared with gold triples: precision, recall and F1 of each text.

The measure of Wikontic's ablations (Chepurova et al. 2025, section 5) and of REBEL before it
(Huguet Cabot and Navigli 2021): a triple is right if its subject, its relation and its object are
all three a gold triple's. Names are compared without case, punctuation and articles, and may be
any of the names that the gold triple has for an end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabula_bench.metrics.measure import Judges, Metric
from fabula_bench.metrics.words import normalise
from fabula_bench.model import BenchQuestion, GoldTriple, Result

SOURCE = "as Wikontic's ablations (Chepurova et al. 2025): by subject, relation and object"
BLIND = (
    "It knows only what the gold triples list: a true fact that they lack counts as wrong, and a "
    "relation under another name as missed. Means are of texts, each of the same weight."
)


def _metric(name: str, how: Callable[[int, int, int], float]) -> Metric:
    """Return a metric of how many triples are right, were found, and are gold."""

    def score(question: BenchQuestion, result: Result, _: Judges) -> float:
        found = list(dict.fromkeys(tuple(map(_fold, triple)) for triple in result.triples))
        return how(_count_right(found, question.triples), len(found), len(question.triples))

    return Metric(name=name, source=SOURCE, blind=BLIND, needs=frozenset({"triples"}), how=score)


def _count_right(found: Sequence[tuple[str, ...]], gold: Sequence[GoldTriple]) -> int:
    """Return how many gold triples are found; each found triple counts for one of them."""
    left = list(found)
    for triple in gold:
        ends = (triple.subject, triple.predicate, triple.object)
        names = [{_fold(name) for name in part} for part in ends]
        for parts in left:
            if all(part in among for part, among in zip(parts, names, strict=True)):
                left.remove(parts)
                break
    return len(found) - len(left)


def _fold(name: str) -> str:
    return normalise(name.replace("_", " "))


METRICS = (
    _metric("triple_precision", lambda right, found, _: right / found if found else 0.0),
    _metric("triple_recall", lambda right, _, gold: right / gold),
    # With another extractor's triples as the gold: how much both have in common.
    _metric("triple_jaccard", lambda right, found, gold: right / (found + gold - right)),
    _metric("triple_f1", lambda right, found, gold: 2 * right / (found + gold)),
)
