"""Measure how much of answers and evidence a context contains, by the stems of words."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fabula.text.stems import Stemmer, stemmer_of
from fabula_bench.metrics.judges import Judges
from fabula_bench.metrics.measure import Metric
from fabula_bench.model import BenchQuestion, Result

ENOUGH = 0.6
"""The share of a statement's stems from which the context counts as containing it."""
OURS = "Fabula's own"


def content_stems(texts: Iterable[str], question: str, stemmer: Stemmer) -> list[set[str]]:
    """Return the stems of each text's content words without the question's, where there are any."""
    of_question = stemmer.content(question)
    return [stems for text in texts if (stems := stemmer.content(text) - of_question)]


def stem_shares(stems: Iterable[Collection[str]], context: str, stemmer: Stemmer) -> list[float]:
    """Return the share of each set of stems that the context contains, 0 to 1."""
    of_context = stemmer.content(context)
    return [len(of_context.intersection(stem)) / len(stem) for stem in stems]


def _answer_coverage(question: BenchQuestion, result: Result, judges: Judges) -> float | None:
    stemmer = _stemmer(question, judges)
    return _mean(
        _shares(content_stems(question.answers, question.question, stemmer), result, stemmer)
    )


def _evidence_coverage(question: BenchQuestion, result: Result, judges: Judges) -> float | None:
    stemmer = _stemmer(question, judges)
    return _mean(
        _shares(content_stems(question.evidence, question.question, stemmer), result, stemmer)
    )


def _all_evidence(question: BenchQuestion, result: Result, judges: Judges) -> float | None:
    stemmer = _stemmer(question, judges)
    covered = _shares(content_stems(question.evidence, "", stemmer), result, stemmer)
    return float(min(covered) >= ENOUGH) if covered else None


def _shares(stems: list[set[str]], result: Result, stemmer: Stemmer) -> list[float]:
    return stem_shares(stems, " ".join(passage.text for passage in result.context), stemmer)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _stemmer(question: BenchQuestion, judges: Judges) -> Stemmer:
    return stemmer_of(judges.languages.get(question.text) or "en")


METRICS = (
    Metric(
        name="answer_coverage",
        source=f"{OURS}: share of the references' stems, without the question's, in the context",
        blind=(
            "It can't tell whether the words stand together or say what the answer says, and a "
            "context that says it in other words holds nothing."
        ),
        needs=frozenset({"answers", "context"}),
        how=_answer_coverage,
    ),
    Metric(
        name="evidence_coverage",
        source=f"{OURS}: share of the evidence's stems, without the question's, in the context",
        blind=(
            "It can't tell whether the words stand together or say what the evidence says, and "
            "evidence in other words than the text's can't be found whole."
        ),
        needs=frozenset({"evidence", "context"}),
        how=_evidence_coverage,
    ),
    Metric(
        name="all_evidence",
        source=f"{OURS}: 1 where the context holds 60% of the stems of every statement of evidence",
        blind=(
            "It counts the question's own words too, which flatters a search by exact words, and "
            "of two statements alike in words it can't tell which was found."
        ),
        needs=frozenset({"evidence", "context"}),
        how=_all_evidence,
    ),
)
