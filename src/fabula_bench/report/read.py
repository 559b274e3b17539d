"""A run as its folder has it: `run.json` and `results.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from fabula.errors import FabulaError, first_problem
from fabula.models.usage import Usage
from fabula_bench.log import RESULTS, RUN
from fabula_bench.report.about import Run


@dataclass(frozen=True, slots=True)
class ResultLine:
    """Of a Result what the report needs; `seconds` and tokens are of this question alone."""

    system: str
    question: str
    context_tokens: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    scores: Mapping[str, float | None] = field(default_factory=dict)
    spent: Mapping[str, Usage] = field(default_factory=dict)

    @property
    def is_timed(self) -> bool:
        """Whether its seconds are what it takes: the response cache answered no call of it."""
        return not any(usage.saved for usage in self.spent.values())


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run and its results by system and question; systems in the suite's order."""

    run: Run
    results: Mapping[str, Mapping[str, ResultLine]]

    @property
    def answered(self) -> int:
        """Results that are there."""
        return sum(len(lines) for lines in self.results.values())

    @property
    def expected(self) -> int:
        """Results that a finished run has: every question for every system that wasn't skipped."""
        systems = sum(not system.skipped for system in self.run.systems)
        return systems * len(self.run.questions)


def read_run(folder: Path) -> Recorded:
    """Read what a run wrote. Raises FabulaError if its files are missing or can't be read.

    Only results of systems and questions that the run names count, and of two for the same
    question the later. A last line that a kill cut short is passed over.
    """
    run = _run(folder / RUN)
    questions = {question.id for question in run.questions}
    results: dict[str, dict[str, ResultLine]] = {system.name: {} for system in run.systems}
    for line in _lines(folder / RESULTS):
        if line.system in results and line.question in questions:
            results[line.system][line.question] = line
    return Recorded(run, results)


def _run(path: Path) -> Run:
    try:
        return TypeAdapter(Run).validate_json(path.read_bytes())
    except OSError as error:
        raise FabulaError(
            f"{path.parent} holds no run: {path.name} can't be read ({error.strerror}). Name the "
            "folder that `fabula bench run` wrote."
        ) from error
    except ValidationError as error:
        raise FabulaError(f"{path} is not a run's: {first_problem(error)}.") from error


def _lines(path: Path) -> list[ResultLine]:
    try:
        texts = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise FabulaError(f"{path} can't be read: {error}.") from error
    adapter, lines = TypeAdapter(ResultLine), []
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        try:
            lines.append(adapter.validate_json(text))
        except ValidationError as error:
            if number == len(texts):
                break
            raise FabulaError(f"{path}, line {number}: {first_problem(error)}.") from error
    return lines
