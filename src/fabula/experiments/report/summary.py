"""What each system scored: means with intervals, and differences to its baseline."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fabula.experiments.report.about import Asked, System
from fabula.experiments.report.read import Line, Recorded
from fabula.experiments.statistics import Interval, Scores, difference, holm, mean

ALL, HARD, KIND = "all", "hard", "kind: "
"""Groups of questions; those of one kind have the kind's name after KIND."""
SEED = 0
"""Of all draws, so that a report made again says the same."""


@dataclass(frozen=True, slots=True)
class Score:
    """A system's mean by a metric over a group of questions; `to_base` is over shared questions.

    `group` is all, hard, or `kind: ` and a kind of questions. Intervals are of 95 per cent. `base`
    is the system that it is compared with, and `p` of no difference to that one, as Holm's method
    has it among all systems of the same metric and group.
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


def scores(recorded: Recorded) -> list[Score]:
    """Every system by every metric over every group that has a score; the suite's order."""
    return [
        score
        for measure in recorded.run.metrics
        for group, asked in groups(recorded.run.questions).items()
        for score in _compared(recorded, measure.name, group, asked)
    ]


def groups(questions: Sequence[Asked]) -> dict[str, list[Asked]]:
    """All questions, those of each kind where there are several, and the hard among others."""
    kinds = dict.fromkeys(question.kind for question in questions if question.kind)
    hard = [question for question in questions if question.is_hard]
    found = {ALL: list(questions)}
    if len(kinds) > 1:
        found |= {
            f"{KIND}{kind}": [question for question in questions if question.kind == kind]
            for kind in kinds
        }
    if 0 < len(hard) < len(questions):
        found[HARD] = hard
    return found


def baselines(systems: Sequence[System]) -> dict[str, str]:
    """What each system but the first is compared with: the first.

    Where that one is swept, other systems of the sweep are compared with it at their own value.
    """
    if not systems:
        return {}
    first = systems[0]
    at = {
        system.swept.value: system.name
        for system in systems
        if system.swept and first.swept and system.swept.series == first.swept.series
    }
    found = {system.name: first.name for system in systems[1:]}
    for system in systems[1:]:
        if system.swept and system.name not in at.values():
            found[system.name] = at.get(system.swept.value, first.name)
    return found


def write_summary(scores: Sequence[Score], file: Path) -> None:
    """The scores as a table for other programs, a line a score."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEAD)
        for score in scores:
            compared = (
                (score.base, *_numbers(score.to_base), f"{score.p:.6g}") if score.to_base else ()
            )
            row = (score.system, score.metric, score.group, *_numbers(score.own), *compared)
            writer.writerow((*row, *[""] * (len(HEAD) - len(row))))


def _compared(
    recorded: Recorded, metric: str, group: str, asked: Sequence[Asked]
) -> Iterator[Score]:
    """The systems that have a score, each compared with its baseline."""
    texts = [one.text for one in asked]
    values = {name: _values(lines, metric, asked) for name, lines in recorded.results.items()}
    bases = baselines(recorded.run.systems)
    own = {name: found for name, row in values.items() if (found := mean(row, texts, SEED))}
    to_base = {
        name: differs
        for name in own
        if name in bases and (differs := difference(values[name], values[bases[name]], texts, SEED))
    }
    p_values = dict(zip(to_base, holm([one.p for one in to_base.values()]), strict=True))
    for name, interval in own.items():
        compared = to_base.get(name)
        more = compared.interval if compared else None
        yield Score(name, metric, group, interval, bases.get(name, ""), more, p_values.get(name))


def _values(lines: Mapping[str, Line], metric: str, asked: Sequence[Asked]) -> Scores:
    """A value a question, NaN where the system has no result or the metric no score."""
    values = [lines[one.id].scores.get(metric) if one.id in lines else None for one in asked]
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _numbers(interval: Interval) -> tuple[str, ...]:
    means = (interval.mean, interval.low, interval.high)
    return str(interval.questions), *(f"{value:.6g}" for value in means)
