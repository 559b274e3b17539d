"""Make the tables of scores: by metric, by difference to the baseline, by kind of question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabula.text.nouns import count_noun
from fabula_bench.report.about import Measure, RunQuestion, System
from fabula_bench.report.markdown import Cell, table
from fabula_bench.report.published import Column, Published
from fabula_bench.report.summary import ALL, KIND, Score, group_questions
from fabula_bench.report.wording import (
    NOTHING,
    format_difference,
    format_interval,
    format_p,
    format_range,
    format_score,
    metric_heading,
    metric_title,
)

SIGNIFICANT = 0.05


def score_table(scores: Sequence[Score], measures: Sequence[Measure]) -> str:
    """Return the mean of each system by each metric over all questions."""
    usual = max((score.own.questions for score in scores if score.group == ALL), default=0)
    caption = (
        f"Means over {count_noun(usual, 'question')}, with 95% intervals; n where there were fewer."
    )
    columns = {metric_heading(measure): (measure, ALL, usual) for measure in measures}
    return _mean_table(caption, scores, columns)


def difference_table(scores: Sequence[Score], measures: Sequence[Measure]) -> str:
    """Return how each system differs from its baseline, on the questions that both answered."""
    by_system = {(score.system, score.metric): score for score in scores if score.group == ALL}
    usual = max((one.to_base.questions for one in by_system.values() if one.to_base), default=0)
    bases = {score.system: score.base for score in scores if score.base}
    same = len({*bases.values()}) == 1
    rows = [
        (
            system if same else f"{system}, less {base}",
            *(
                _to_base(by_system.get((system, measure.name)), measure, usual)
                for measure in measures
            ),
        )
        for system, base in bases.items()
    ]
    baseline = next(iter(bases.values())) if same else "the one named beside it"
    return table(
        f"Each system less {baseline}, over {count_noun(usual, 'question')} that both answered, "
        f"with 95% intervals. Bold: p below {SIGNIFICANT}, after Holm's correction among the "
        "systems of the column.",
        ("system", *map(metric_heading, measures)),
        rows,
    )


def kind_tables(
    scores: Sequence[Score], measures: Sequence[Measure], questions: Sequence[RunQuestion]
) -> list[str]:
    """Return a table for each metric with the systems' means over each kind of question.

    There are none if all questions are of one kind.
    """
    counts = {name: len(group) for name, group in group_questions(questions).items() if name != ALL}
    tables: list[str] = []
    for measure in measures:
        scored = {score.group for score in scores if score.metric == measure.name}
        columns = {
            f"{name.removeprefix(KIND)}, n\u00a0=\u00a0{count}": (measure, name, count)
            for name, count in counts.items()
            if name in scored
        }
        if columns:
            caption = f"{metric_heading(measure)}, with 95% intervals."
            tables.append(_mean_table(caption, scores, columns, is_heading=bool(tables)))
    return tables


def node_table(systems: Sequence[System]) -> str:
    """Return how many nodes of each kind the graphs of the systems have; '' if none is recorded."""
    kinds = sorted({kind for system in systems for kind in system.nodes})
    rows = [
        (system.name, *(f"{system.nodes.get(kind, 0):,}" for kind in kinds))
        for system in systems
        if system.nodes
    ]
    if not rows:
        return ""
    return table("Nodes of each kind, over all texts.", ("system", *kinds), rows)


def measure_table(measures: Sequence[Measure]) -> str:
    """Return the range of each metric, its source and its limits."""
    return table(
        "Ranges are in the units of the tables above.",
        ("measure", "range", "source", "what it can't tell"),
        [
            (metric_title(measure.name), format_range(measure), measure.source, measure.blind)
            for measure in measures
        ],
        figures=False,
    )


def _mean_table(
    caption: str,
    scores: Sequence[Score],
    columns: Mapping[str, tuple[Measure, str, int | None]],
    *,
    is_heading: bool = False,
) -> str:
    """Return the means of each system; columns have a metric, a group, and how many are usual."""
    means = {(score.system, score.metric, score.group): score for score in scores}
    rows = [
        (
            system,
            *(
                _mean(means.get((system, measure.name, group)), measure, usual)
                for measure, group, usual in columns.values()
            ),
        )
        for system in dict.fromkeys(score.system for score in scores)
    ]
    return table(caption, ("system", *columns), rows, is_heading=is_heading)


def _mean(score: Score | None, measure: Measure, usual: int | None) -> Cell | str:
    """Format a mean; its number of questions is added unless it is `usual`."""
    if score is None:
        return NOTHING
    interval = score.own
    limits = format_interval(interval.low, interval.high, measure)
    return Cell(format_score(interval.mean, measure), (limits, *_fewer(interval.questions, usual)))


def _to_base(score: Score | None, measure: Measure, usual: int) -> Cell | str:
    if score is None or score.to_base is None or score.p is None:
        return NOTHING
    more = score.to_base
    interval = format_interval(more.low, more.high, measure)
    return Cell(
        format_difference(more.mean, measure),
        (interval, format_p(score.p), *_fewer(more.questions, usual)),
        strong=score.p < SIGNIFICANT,
    )


def _fewer(count: int, usual: int | None) -> tuple[str, ...]:
    return (f"n = {count}",) if count != usual else ()


def measured_table(
    scores: Sequence[Score], measures: Sequence[Measure], published: Published
) -> str:
    """Return those scores of a run that a published table has, or '' if there are none."""
    known = {measure.name: measure for measure in measures}
    available = {(score.metric, score.group) for score in scores}
    columns = {
        _column(column): (known[column.metric], group, None)
        for column in published.columns
        if (column.metric, group := (f"{KIND}{column.kind}" if column.kind else ALL)) in available
    }
    return _mean_table("Measured here.", scores, columns) if columns else ""


def published_table(published: Published) -> str:
    """Return a table as it was published."""
    every = [value for values in published.values.values() for value in values]
    digits = 0 if all(value.is_integer() for value in every) else 2
    return table(
        f"Published, not measured here: {published.source}.",
        ("published system", *map(_column, published.columns)),
        [
            (system, *(f"{value:.{digits}f}" for value in values))
            for system, values in published.values.items()
        ],
    )


def _column(column: Column) -> str:
    return ", ".join(part for part in (metric_title(column.metric), column.kind, "%") if part)
