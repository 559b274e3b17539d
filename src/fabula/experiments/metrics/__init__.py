"""Every measure of a result, by name: its range, its source, and what it can't tell."""

from __future__ import annotations

import difflib

from fabula.errors import SettingsError
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
        near = difflib.get_close_matches(name.replace("-", "_"), _MEASURES, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(_MEASURES)}."
        raise SettingsError(f"There is no metric {name}. {hint}")
    return _MEASURES[name].judged_by(judges)
