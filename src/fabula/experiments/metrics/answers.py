"""What of an answer is measured: its text without citations, by the reference it is nearest to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fabula.experiments.metrics.judges import Judges
from fabula.experiments.model import Question, Result

_CITED = re.compile(r"\s*\[\d+(?:\s*[,;]\s*\d+)*\]")


def uncited(answer: str) -> str:
    """An answer without the numbers of the passages that it cites."""
    return _CITED.sub("", answer).strip()


def nonempty(references: Sequence[str]) -> list[str]:
    """The references that say something."""
    return [reference for reference in references if reference.strip()]


def best_score(answer: str, references: Sequence[str], score: Callable[[str, str], float]) -> float:
    """The score of an answer, uncited, against the reference that it is nearest to."""
    text = uncited(answer)
    return max(score(text, reference) for reference in nonempty(references))


def score_nearest(
    score: Callable[[str, str], float],
) -> Callable[[Question, Result, Judges], float]:
    """How a metric is taken that compares an answer with one reference, and asks nobody."""
    return lambda question, result, _: best_score(result.answer, question.answers, score)
