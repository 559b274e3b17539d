"""Calculate what each system scored: means with intervals, and differences to its baseline."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fabula_bench.model import Result
from fabula_bench.report.about import RunQuestion, System
from fabula_bench.report.read import Recorded
from fabula_bench.statistics import Interval, Scores, difference, holm, mean

ALL, HARD, KIND = "all", "hard", "kind: "
"""Groups of questions; those of one kind have the kind's name after KIND."""
SEED = 0
"""The seed of all random draws, so that a report can be repeated exactly."""


@dataclass(frozen=True, slots=True)
class Score:
    """The mean of a system by a metric over a group of questions: ALL, HARD, or one of a KIND.

    `to_base` is the difference to the system `base` over the questions that both answered, `p` that
    of no difference, corrected by Holm's method among all systems of the same metric and group.
    """

    system: str
    metric: str
    group: str
    own: Interval
    base: str = ""
    to_base: Interval | None = None
    p: float | None = None


HEAD = (
    *("system", "metric", "group", "n", "mean", "low", "high"),
    *("baseline", "pairs", "difference", "difference_low", "difference_high", "p"),
)
"""The columns of `summary.csv`, in each metric's own unit; the last six are empty where there's
nothing to compare with."""


def calculate_scores(recorded: Recorded) -> list[Score]:
    """Return the scores of every system by every metric over every group, in the suite's order."""
    return [
        score
        for measure in recorded.run.metrics
        for group, questions in group_questions(recorded.run.questions).items()
        for score in _compare(recorded, measure.name, group, questions)
    ]


def group_questions(questions: Sequence[RunQuestion]) -> dict[str, list[RunQuestion]]:
    """Return all questions, those of each kind if there are several, and the hard ones."""
    kinds = dict.fromkeys(question.kind for question in questions if question.kind)
    hard = [question for question in questions if question.is_hard]
    by_group = {ALL: list(questions)}
    if len(kinds) > 1:
        by_group |= {
            f"{KIND}{kind}": [question for question in questions if question.kind == kind]
            for kind in kinds
        }
    if 0 < len(hard) < len(questions):
        by_group[HARD] = hard
    return by_group


def choose_baselines(systems: Sequence[System]) -> dict[str, str]:
    """Return the baseline of each system, which is the first system.

    If a setting of the first system is swept, other systems of the sweep are compared with it at
    their own value.
    """
    if not systems:
        return {}
    first = systems[0]
    at = {
        system.swept.value: system.name
        for system in systems
        if system.swept and first.swept and system.swept.series == first.swept.series
    }
    bases = {system.name: first.name for system in systems[1:]}
    for system in systems[1:]:
        if system.swept and system.name not in at.values():
            bases[system.name] = at.get(system.swept.value, first.name)
    return bases


def write_summary(scores: Sequence[Score], file: Path) -> None:
    """Write the scores as CSV, one line for each."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEAD)
        for score in scores:
            compared = (
                (score.base, *_numbers(score.to_base), f"{score.p:.6g}") if score.to_base else ()
            )
            row = (score.system, score.metric, score.group, *_numbers(score.own), *compared)
            writer.writerow((*row, *[""] * (len(HEAD) - len(row))))


def _compare(
    recorded: Recorded, metric: str, group: str, questions: Sequence[RunQuestion]
) -> Iterator[Score]:
    """Yield the systems that have a score, each compared with its baseline."""
    texts = [question.text for question in questions]
    values = {name: _values(lines, metric, questions) for name, lines in recorded.results.items()}
    bases = choose_baselines(recorded.run.systems)
    means = {name: interval for name, row in values.items() if (interval := mean(row, texts, SEED))}
    to_base = {
        name: differs
        for name in means
        if name in bases and (differs := difference(values[name], values[bases[name]], texts, SEED))
    }
    p_values = dict(zip(to_base, holm([compared.p for compared in to_base.values()]), strict=True))
    for name, interval in means.items():
        compared = to_base.get(name)
        more = compared.interval if compared else None
        yield Score(name, metric, group, interval, bases.get(name, ""), more, p_values.get(name))


def _values(lines: Mapping[str, Result], metric: str, questions: Sequence[RunQuestion]) -> Scores:
    """Return a value for each question; NaN where the system or the metric has none."""
    values = [
        lines[question.id].scores.get(metric) if question.id in lines else None
        for question in questions
    ]
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _numbers(interval: Interval) -> tuple[str, ...]:
    means = (interval.mean, interval.low, interval.high)
    return str(interval.questions), *(f"{value:.6g}" for value in means)
