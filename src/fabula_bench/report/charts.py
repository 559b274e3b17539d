"""Charts of scores as text: a bar for each system, in the order of the run, by metric."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.export.markdown import escape_markdown
from fabula_bench.report.about import Measure
from fabula_bench.report.markdown import code, join
from fabula_bench.report.summary import ALL, Score
from fabula_bench.report.wording import format_score, metric_heading

BAR_CHARACTERS = 40
"""The length of the longest bar."""
MAX_NAME_CHARACTERS = 46
EIGHTHS: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")


def bar_charts(scores: Sequence[Score], measures: Sequence[Measure]) -> str:
    """Return a chart for each metric by which several systems have a score; '' for none."""
    blocks = []
    for measure in measures:
        rows = [score for score in scores if score.group == ALL and score.metric == measure.name]
        if len(rows) > 1:
            blocks += [f"*{escape_markdown(metric_heading(measure))}*", _chart(rows, measure)]
    return join(*blocks)


def _chart(rows: Sequence[Score], measure: Measure) -> str:
    names = [_shorten(score.system) for score in rows]
    longest = max(score.own.mean for score in rows)
    width = max(map(len, names))
    return code(
        "\n".join(
            f"{name:<{width}}  {_bar(score.own.mean, longest)} "
            f"{format_score(score.own.mean, measure)}"
            for name, score in zip(names, rows, strict=True)
        )
    )


def _bar(value: float, longest: float) -> str:
    eighths = round(8 * BAR_CHARACTERS * value / longest) if longest > 0 < value else 0
    whole, rest = divmod(eighths, 8)
    return "█" * whole + EIGHTHS[rest]


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 1]}…"
