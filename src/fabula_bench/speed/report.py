"""What a part measured: figures, some with a goal, and how they are shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import psutil

Verdict = Literal["met", "missed", ""]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value; `goal` is the most it may be, or with `at_least` the least.

    The benchmark fails if one that `must` reach its goal does not.
    """

    what: str
    value: float
    unit: str = "s"
    goal: float | None = None
    at_least: bool = False
    note: str = ""
    must: bool = False

    @property
    def verdict(self) -> Verdict:
        """'' where there is no goal."""
        if self.goal is None:
            return ""
        reached = self.value >= self.goal if self.at_least else self.value <= self.goal
        return "met" if reached else "missed"


def seconds(work: Callable[[], object]) -> float:
    """The wall time of `work`."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def p95(values: Sequence[float]) -> float:
    """The 95th percentile."""
    return float(np.percentile(values, 95))


def cpu_seconds(process: psutil.Process) -> float:
    """The processor seconds that a process has spent."""
    return float(sum(process.cpu_times()[:2]))


def shown(figures: Sequence[Figure]) -> str:
    """A line a figure: what, value, goal, and the verdict or what is to be noted."""
    rows = [("", "measured", "goal", "")]
    for figure in figures:
        sign = "at least" if figure.at_least else "at most"
        goal = "" if figure.goal is None else f"{sign} {_number(figure.goal)} {figure.unit}"
        rows.append(
            (
                figure.what,
                f"{_number(figure.value)} {figure.unit}",
                goal,
                figure.verdict or figure.note,
            )
        )
    first, second, third = (max(len(row[column]) for row in rows) for column in range(3))
    return "\n".join(
        f"  {what:{first}}  {value:>{second}}  {goal:>{third}}  {verdict}".rstrip()
        for what, value, goal, verdict in rows
    )


def _number(value: float) -> str:
    """Three digits that count, no exponent."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"


def table_rows(command: str, figures: Sequence[Figure], machine: str) -> str:
    """Return the figures that have a goal as rows of a Markdown table, for docs/scaling.md."""
    return "\n".join(
        f"| `{command}` | {figure.what} | {_number(figure.value)} {figure.unit} | "
        f"{'at least' if figure.at_least else 'at most'} {_number(figure.goal)} {figure.unit} | "
        f"{figure.verdict} | {machine} |"
        for figure in figures
        if figure.goal is not None
    )
