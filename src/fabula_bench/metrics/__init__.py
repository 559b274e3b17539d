"""All metrics by name."""

from __future__ import annotations

from fabula.errors import SettingsError, did_you_mean
from fabula_bench.metrics import context, judged, overlap, ragas_library, ranking, triples, words
from fabula_bench.metrics.measure import Judges, Metric, missing, missing_library

__all__ = ["Judges", "Metric", "metric", "missing", "missing_library", "names"]

_FAMILIES = (words, overlap, ragas_library, judged, context, ranking, triples)
_METRICS: dict[str, Metric] = {
    metric.name: metric for family in _FAMILIES for metric in family.METRICS
}


def names() -> list[str]:
    """Return the names of all metrics."""
    return list(_METRICS)


def metric(name: str) -> Metric:
    """Return the metric of a name. Raise SettingsError, with the nearest name, if there is none."""
    if name not in _METRICS:
        there_are = f"There are: {', '.join(_METRICS)}."
        hint = did_you_mean(name.replace("-", "_"), _METRICS, there_are)
        raise SettingsError(f"There is no metric {name}. {hint}")
    return _METRICS[name]
