"""Format numbers, times and settings for a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fabula_bench.report.about import Measure

MINUS = "\u2212"
NOTHING = "–"
"""Where a table has no value."""
PER_CENT = 100
WRITTEN = {
    "bleu_1": "BLEU-1",
    "bleu_4": "BLEU-4",
    "meteor": "METEOR",
    "rouge_l": "ROUGE-L",
    "token_f1": "token F1",
}
"""Metrics whose names are written in a way of their own."""


def display_factor(measure: Measure) -> int:
    """Return what a metric's values are multiplied by to be shown: 100 for shares, else 1."""
    return PER_CENT if measure.highest == 1 else 1


def metric_title(metric: str) -> str:
    """Return the usual name of a metric, as BLEU-1."""
    return WRITTEN.get(metric) or metric.replace("_", " ")


def metric_heading(measure: Measure) -> str:
    """Return a metric's name with its unit, per cent for shares."""
    name = metric_title(measure.name)
    return f"{name}, %" if display_factor(measure) == PER_CENT else name


def format_number(value: float) -> str:
    """Return a value for a table: about three significant digits, and no exponent."""
    if abs(value) >= PER_CENT or value == 0:
        text = f"{abs(value):,.0f}"
    else:
        text = f"{abs(value):.1f}" if abs(value) >= 1 else f"{abs(value):.2f}"
    return MINUS + text if value < 0 and any(digit in text for digit in "123456789") else text


def format_score(value: float, measure: Measure) -> str:
    """Return a metric's value, shares in per cent."""
    return _share(value * PER_CENT) if display_factor(measure) == PER_CENT else format_number(value)


def format_difference(value: float, measure: Measure) -> str:
    """Return a difference of two values of a metric, with its sign."""
    text = format_score(value, measure)
    return text if text.startswith(MINUS) or float(text.replace(",", "")) == 0 else f"+{text}"


def format_interval(low: float, high: float, measure: Measure) -> str:
    """Return an interval as [low, high]."""
    return f"[{format_score(low, measure)}, {format_score(high, measure)}]"


def format_range(measure: Measure) -> str:
    """Return a metric's range, shares in per cent."""
    ends = [
        "no limit" if end is None else f"{end * display_factor(measure):g}"
        for end in (measure.lowest, measure.highest)
    ]
    return " to ".join(ends).replace("-", MINUS)


def format_p(p: float) -> str:
    """Return a p-value as p = 0.03, or p < 0.001."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def format_duration(seconds: float) -> str:
    """Return seconds as seconds, minutes, or hours and minutes."""
    if seconds < 120:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def format_time(time: str) -> str:
    """Return a time in ISO 8601 as a day and a time; any other text unchanged."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    return f"{moment.day} {moment:%B %Y, %H:%M %Z}".strip()


def format_setting(value: Any) -> str:
    """Return a setting's value: text unchanged, anything else as JSON."""
    if isinstance(value, str):
        return value or '""'
    return json.dumps(value, ensure_ascii=False, default=str)


def flatten_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return settings on one level; nested ones have names with dots."""
    flat: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten_settings(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = format_setting(value)
    return flat


def _share(value: float) -> str:
    text = f"{abs(value):.1f}"
    return MINUS + text if value < 0 and text != "0.0" else text
