"""Compare an answer, without its citations, with the nearest reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fabula_bench.metrics.judges import Judges
from fabula_bench.model import BenchQuestion, Result

_CITED = re.compile(r"\s*\[\d+(?:\s*[,;]\s*\d+)*\]")


def remove_citations(answer: str) -> str:
    """Return an answer without its citations."""
    return _CITED.sub("", answer).strip()


def nonempty(references: Sequence[str]) -> list[str]:
    """Return the references that aren't empty."""
    return [reference for reference in references if reference.strip()]


def best_score(answer: str, references: Sequence[str], score: Callable[[str, str], float]) -> float:
    """Return the best score of an answer, without citations, over all references."""
    text = remove_citations(answer)
    return max(score(text, reference) for reference in nonempty(references))


def score_nearest(
    score: Callable[[str, str], float],
) -> Callable[[BenchQuestion, Result, Judges], float]:
    """Return a metric's function from one that compares an answer with one reference."""
    return lambda question, result, _: best_score(result.answer, question.answers, score)
