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
from fabula_bench.model import BenchQuestion, GoldTriple, Result, Triple

SOURCE = "as Wikontic's ablations (Chepurova et al. 2025): by subject, relation and object"
BLIND = (
    "It knows only what the gold triples list: a true fact that they lack counts as wrong, and a "
    "relation under another name as missed. Means are of texts, each of the same weight."
)


def count_right(found: Sequence[Triple], gold: Sequence[GoldTriple]) -> int:
    """Return how many gold triples are found; each found triple counts for one of them."""
    left = [_fold(triple) for triple in distinct(found)]
    right = 0
    for triple in gold:
        ends = (triple.subject, triple.predicate, triple.object)
        names = [{_fold_part(name) for name in part} for part in ends]
        for place, parts in enumerate(left):
            if all(part in among for part, among in zip(parts, names, strict=True)):
                right += 1
                del left[place]
                break
    return right


def distinct(triples: Sequence[Triple]) -> list[Triple]:
    """Return the triples that differ in more than case, punctuation and articles."""
    return list({_fold(triple): triple for triple in reversed(triples)}.values())[::-1]


def precision(found: Sequence[Triple], gold: Sequence[GoldTriple]) -> float:
    """Return the share of the found triples that are gold; 0 if none was found."""
    return count_right(found, gold) / len(distinct(found)) if found else 0.0


def recall(found: Sequence[Triple], gold: Sequence[GoldTriple]) -> float:
    """Return the share of the gold triples that were found."""
    return count_right(found, gold) / len(gold)


def f1(found: Sequence[Triple], gold: Sequence[GoldTriple]) -> float:
    """Return the harmonic mean of precision and recall; 0 if no triple is right."""
    return 2 * count_right(found, gold) / (len(distinct(found)) + len(gold))


def _fold(triple: Triple) -> tuple[str, ...]:
    return tuple(map(_fold_part, triple))


def _fold_part(name: str) -> str:
    return normalise(name.replace("_", " "))


def _metric(name: str, how: Callable[[Sequence[Triple], Sequence[GoldTriple]], float]) -> Metric:
    def score(question: BenchQuestion, result: Result, _: Judges) -> float:
        return how(result.triples, question.triples)

    return Metric(name=name, source=SOURCE, blind=BLIND, needs=frozenset({"triples"}), how=score)


METRICS = (
    _metric("triple_precision", precision),
    _metric("triple_recall", recall),
    _metric("triple_f1", f1),
)
