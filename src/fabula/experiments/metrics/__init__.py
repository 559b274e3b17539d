"""Every measure of a result, by name: its range, its source, and what it can't tell."""

from __future__ import annotations

from fabula.errors import SettingsError, did_you_mean
from fabula.experiments.metrics import (
    choice,
    context,
    coverage,
    graphrag_bench,
    overlap,
    ragas_library,
    words,
)
from fabula.experiments.metrics.judges import Judges
from fabula.experiments.metrics.measure import Measure, missing

__all__ = ["Judges", "Measure", "metric", "missing", "names"]

_FAMILIES = (choice, words, overlap, ragas_library, graphrag_bench, coverage, context)
_MEASURES: dict[str, Measure] = {one.name: one for family in _FAMILIES for one in family.MEASURES}


def names() -> list[str]:
    """The names of all metrics, family by family."""
    return list(_MEASURES)


def metric(name: str, judges: Judges) -> Measure:
    """The metric of that name, which asks `judges` where it asks anybody.

    Raises SettingsError, with the nearest name, where there is none.
    """
    if name not in _MEASURES:
        there_are = f"There are: {', '.join(_MEASURES)}."
        hint = did_you_mean(name.replace("-", "_"), _MEASURES, there_are)
        raise SettingsError(f"There is no metric {name}. {hint}")
    return _MEASURES[name].judged_by(judges)
