"""A run as its folder has it: `run.json` and `results.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from fabula.errors import FabulaError, first_problem
from fabula_bench.log import RESULTS, RUN, read_results
from fabula_bench.model import Result
from fabula_bench.report.about import Run


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run and its results by system and question; systems in the suite's order."""

    run: Run
    results: Mapping[str, Mapping[str, Result]]

    @property
    def answered(self) -> int:
        """Results that are there."""
        return sum(len(lines) for lines in self.results.values())

    @property
    def expected(self) -> int:
        """Results that a finished run has: every question for every system."""
        return len(self.run.systems) * len(self.run.questions)


def read_run(folder: Path) -> Recorded:
    """Read what a run wrote. Raises FabulaError if its files are missing or can't be read.

    Only results of systems and questions that the run names count, and of two for the same
    question the later. A last line that a kill cut short is passed over.
    """
    run = _run(folder / RUN)
    questions = {question.id for question in run.questions}
    results: dict[str, dict[str, Result]] = {system.name: {} for system in run.systems}
    for line in read_results(folder / RESULTS):
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
