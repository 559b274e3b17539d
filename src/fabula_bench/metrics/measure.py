"""A metric: a function of a question and a result, what it may use, and what is known of it."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fabula.models import Chat, Embedder
from fabula_bench.model import BenchQuestion, Need, Result


@dataclass(frozen=True, slots=True)
class Judges:
    """The models that metrics may ask; None if there is none.

    `languages` are ISO 639-1 codes by the id of a text; other texts are English, as the published
    data sets are. `baseline` has the answers of the first system by the id of the question, for a
    system that is compared with it.
    """

    chat: Chat | None = None
    embedder: Embedder | None = None
    languages: Mapping[str, str] = field(default_factory=dict)
    baseline: Mapping[str, str] = field(default_factory=dict)


Scoring = Callable[[BenchQuestion, Result, Judges], float | None]
_CITED = re.compile(r"\s*\[\d+(?:\s*[,;]\s*\d+)*\]")
RESULT_NEEDS = frozenset[Need]({"answer", "context"})
"""Needs that the result satisfies; others are satisfied by the question or the judges."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric.

    Attributes:
        source: The paper or library that defines it.
        blind: A sentence about what it cannot measure.
        needs: What question, result and judges must have before `how` is called.
        empty: The value of a result without the answer or the context: it is a miss, which must
            not be left out of a mean.
        library: The package that it imports.
        extra: The extra of Fabula that installs the package.
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

    def score(self, question: BenchQuestion, result: Result, judges: Judges) -> float | None:
        """Return the value, or None if the question or the judges lack what the metric needs.

        May raise ModelError.
        """
        available = _question_needs(question) | _judge_needs(judges)
        if question.id in judges.baseline:
            available.add("baseline")
        if not self.needs - RESULT_NEEDS <= available:
            return None
        if not self.needs & RESULT_NEEDS <= _result_needs(result):
            return self.empty
        return self.how(question, result, judges)


def missing(metric: Metric, judges: Judges) -> str:
    """Return why a metric can't be used, and what to do, or '' if it can."""
    unmet = metric.needs & {"judge", "embedder"} - _judge_needs(judges)
    if unmet:
        what = {"judge": "a chat model that judges", "embedder": "an embedding model"}
        needed = " and ".join(what[need] for need in sorted(unmet))
        return f"{metric.name} needs {needed}: name one, or leave the metric out."
    return missing_library(metric)


def missing_library(metric: Metric) -> str:
    """Return which library a metric lacks, and what to do, or ''."""
    if metric.library and importlib.util.find_spec(metric.library) is None:
        return (
            f"{metric.name} needs the library {metric.library}, which is not installed: "
            f"pip install 'fabula[{metric.extra}]', or leave the metric out."
        )
    return ""


def _question_needs(question: BenchQuestion) -> set[Need]:
    there: dict[Need, bool] = {
        "answers": bool(nonempty(question.answers)),
        "options": bool(question.options) and question.right is not None,
        "evidence": bool(nonempty(question.evidence)),
        "triples": bool(question.triples),
        "relevant": any(question.relevant.values()),
    }
    return {need for need, is_there in there.items() if is_there}


def _result_needs(result: Result) -> set[Need]:
    answer: set[Need] = {"answer"} if remove_citations(result.answer) else set()
    return answer | ({"context"} if any(each.text.strip() for each in result.context) else set())


def _judge_needs(judges: Judges) -> set[Need]:
    judge: set[Need] = {"judge"} if judges.chat is not None else set()
    return judge | ({"embedder"} if judges.embedder is not None else set())


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
