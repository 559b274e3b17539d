"""The figures of a report from its scores, written beside it as SVG and PNG."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabula.experiments.report import figures
from fabula.experiments.report.about import Measure, System
from fabula.experiments.report.costs import per_question
from fabula.experiments.report.figures import Drawn, Mark
from fabula.experiments.report.markdown import gallery
from fabula.experiments.report.read import Recorded
from fabula.experiments.report.summary import ALL, Score
from fabula.experiments.report.wording import display_factor, metric_heading, metric_title

FOLDER = "plots"
_Marks = dict[Measure, dict[str, Mark]]
"""What is drawn, by metric and system."""


@dataclass(frozen=True, slots=True)
class Drawings:
    """Galleries in Markdown by what they show; those that have nothing to show are empty.

    `files` are what was written, from the report's folder; `missing` says why nothing was.
    """

    scores: str = ""
    costs: str = ""
    sweeps: str = ""
    files: tuple[str, ...] = ()
    missing: str = ""


def draw_figures(recorded: Recorded, scores: Sequence[Score], folder: Path) -> Drawings:
    """Draw all figures of a run into a folder below this one. Needs matplotlib."""
    (folder / FOLDER).mkdir(exist_ok=True)
    run = recorded.run
    base = run.systems[0].name if run.systems else ""
    marks: _Marks = {measure: {} for measure in run.metrics}
    for measure in run.metrics:
        for score in scores:
            if score.group == ALL and score.metric == measure.name:
                marks[measure][score.system] = _mark(score, measure, base)
    varied = [system for system in run.systems if _is_on_a_curve(system)]
    bars = dict(_bars(marks, {system.name for system in varied}, folder))
    costs = dict(_costs(recorded, marks, folder))
    sweeps = dict(_curves(varied, marks, folder))
    return Drawings(
        gallery(
            "Bars are means over all questions, lines their 95% intervals; grey is the baseline.",
            bars,
        ),
        gallery("Further left is cheaper to ask; what ingesting cost is not in it.", costs),
        gallery(
            "Points are means over all questions, bands their 95% intervals, where curves are few.",
            sweeps,
        ),
        tuple(
            str(Path(file).with_suffix(suffix))
            for file in (*bars, *costs, *sweeps)
            for suffix in (".svg", ".png")
        ),
    )


def _bars(marks: _Marks, on_curves: Container[str], folder: Path) -> Iterator[tuple[str, str]]:
    """Draw a figure for each metric, of the systems that are on no curve."""
    for measure, by_system in marks.items():
        single = [mark for name, mark in by_system.items() if name not in on_curves]
        if single:
            drawn = figures.bars(single, metric_heading(measure))
            yield _save(drawn, f"score {measure.name}", metric_title(measure.name), folder)


def _costs(recorded: Recorded, marks: _Marks, folder: Path) -> Iterator[tuple[str, str]]:
    """Draw the first metric over tokens, and over time."""
    for measure, by_system in list(marks.items())[:1]:
        for across, costs in per_question(recorded).items():
            placed = [
                replace(mark, at=costs[name]) for name, mark in by_system.items() if name in costs
            ]
            if not placed:
                continue
            drawn = figures.scatter(placed, across, metric_heading(measure))
            caption = f"{metric_title(measure.name)} over {across}"
            yield _save(drawn, f"cost {across}", caption, folder)


def _curves(varied: Sequence[System], marks: _Marks, folder: Path) -> Iterator[tuple[str, str]]:
    """Draw a figure for each metric and swept setting."""
    for measure, by_system in marks.items():
        for setting, series in _series(varied, by_system).items():
            drawn = figures.curves(list(series.items()), setting, metric_heading(measure))
            caption = f"{metric_title(measure.name)} over {setting}"
            yield _save(drawn, f"sweep {setting} {measure.name}", caption, folder)


def _series(
    varied: Sequence[System], by_system: Mapping[str, Mark]
) -> dict[str, dict[str, list[Mark]]]:
    """Return the marks at a setting's values, in ascending order, by swept setting and series."""
    by_setting: dict[str, dict[str, list[Mark]]] = {}
    for system in varied:
        if system.swept and system.name in by_system:
            series = by_setting.setdefault(system.swept.setting, {}).setdefault(
                system.swept.series, []
            )
            series.append(replace(by_system[system.name], at=float(system.swept.value)))
            series.sort(key=lambda mark: mark.at)
    return by_setting


def _is_on_a_curve(system: System) -> bool:
    """Return whether it is part of a sweep over numbers."""
    value = system.swept.value if system.swept else None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mark(score: Score, measure: Measure, base: str) -> Mark:
    interval, factor = score.own, display_factor(measure)
    means = (interval.mean * factor, interval.low * factor, interval.high * factor)
    return Mark(score.system, *means, is_base=score.system == base)


def _save(drawn: Drawn, name: str, caption: str, folder: Path) -> tuple[str, str]:
    """Return the path of the PNG file, from the report's folder, and its title."""
    file = f"{FOLDER}/{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}.png"
    (folder / file).with_suffix(".svg").write_text(drawn.svg, encoding="utf-8")
    (folder / file).write_bytes(drawn.png)
    return file, caption
