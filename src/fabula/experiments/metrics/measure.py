"""A metric: a function of a question and a result, and what is known of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fabula.experiments.metrics.answers import nonempty, uncited
from fabula.experiments.metrics.judges import Judges
from fabula.experiments.model import Need, Question, Result

Scoring = Callable[[Question, Result, Judges], float | None]
RESULT_NEEDS = frozenset[Need]({"answer", "context"})
"""What a result brings; all else is the question's, or help."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One measure of a result.

    `lowest` and `highest` are its range; `source` the paper or library that defines it; `blind`
    says in a sentence what it cannot tell. `how` is only called where question, result and judges
    have what it `needs`; `empty` is what a result without the answer or the context is worth: a
    miss, which must not drop out of a mean. `library` is what it imports, and `extra` that of ours
    which brings it.
    """

    name: str
    source: str
    blind: str
    needs: frozenset[Need]
    how: Scoring
    lowest: float = 0.0
    highest: float = 1.0
    empty: float | None = 0.0
    library: str = ""
    extra: str = ""

    def score(self, question: Question, result: Result, judges: Judges) -> float | None:
        """The measure; None where the question or the judges have not what it needs.

        Raises ModelError where a model it asks fails.
        """
        if not self.needs - RESULT_NEEDS <= {*_question_needs(question), *_judge_needs(judges)}:
            return None
        if not self.needs & RESULT_NEEDS <= {*_result_needs(result)}:
            return self.empty
        return self.how(question, result, judges)


def missing(metric: Metric, judges: Judges) -> str:
    """Why `metric` could never be taken, and what to do; '' where it can."""
    unmet = metric.needs & {"judge", "embedder"} - {*_judge_needs(judges)}
    if unmet:
        what = {"judge": "a chat model that judges", "embedder": "an embedding model"}
        needed = " and ".join(what[need] for need in sorted(unmet))
        return f"{metric.name} needs {needed}: name one, or leave the metric out."
    if metric.library and importlib.util.find_spec(metric.library) is None:
        return (
            f"{metric.name} needs the library {metric.library}, which is not installed: "
            f"pip install 'fabula[{metric.extra}]', or leave the metric out."
        )
    return ""


def _question_needs(question: Question) -> Iterator[Need]:
    if nonempty(question.answers):
        yield "answers"
    if question.options and question.right is not None:
        yield "options"
    if nonempty(question.evidence):
        yield "evidence"


def _result_needs(result: Result) -> Iterator[Need]:
    if uncited(result.answer):
        yield "answer"
    if any(passage.text.strip() for passage in result.context):
        yield "context"


def _judge_needs(judges: Judges) -> Iterator[Need]:
    if judges.chat is not None:
        yield "judge"
    if judges.embedder is not None:
        yield "embedder"
