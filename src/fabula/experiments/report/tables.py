"""The tables of scores: systems by metric, differences to the baseline, kinds of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabula.experiments.report.about import Asked, Measure
from fabula.experiments.report.markdown import Cell, table
from fabula.experiments.report.published import Column, Published
from fabula.experiments.report.summary import ALL, KIND, Score, groups
from fabula.experiments.report.wording import (
    NOTHING,
    between,
    counted,
    heading,
    limits,
    probability,
    shown,
    signed,
    title,
)

SIGNIFICANT = 0.05


def score_table(scores: Sequence[Score], measures: Sequence[Measure]) -> str:
    """Each system's mean by each metric over all questions."""
    found = {(score.system, score.metric): score for score in scores if score.group == ALL}
    usual = max((one.own.questions for one in found.values()), default=0)
    rows = [
        (
            Cell(system),
            *(_mean(found.get((system, measure.name)), measure, usual) for measure in measures),
        )
        for system in _systems(scores)
    ]
    return table(
        f"Means over {counted(usual, 'question')}, with 95% intervals; n where there were fewer.",
        ("system", *map(heading, measures)),
        rows,
    )


def difference_table(scores: Sequence[Score], measures: Sequence[Measure]) -> str:
    """What each system has more or less than its baseline, on the questions of both."""
    found = {(score.system, score.metric): score for score in scores if score.group == ALL}
    usual = max((one.to_base.questions for one in found.values() if one.to_base), default=0)
    bases = {score.system: score.base for score in scores if score.base}
    same = len({*bases.values()}) == 1
    rows = [
        (
            system if same else f"{system}, less {base}",
            *(_to_base(found.get((system, measure.name)), measure, usual) for measure in measures),
        )
        for system, base in bases.items()
    ]
    less = next(iter(bases.values())) if same else "the one named beside it"
    return table(
        f"Each system less {less}, over {counted(usual, 'question')} that both answered, with 95% "
        f"intervals. Bold: p below {SIGNIFICANT}, after Holm's correction among the systems of the "
        "column.",
        ("system", *map(heading, measures)),
        rows,
    )


def kind_tables(
    scores: Sequence[Score], measures: Sequence[Measure], questions: Sequence[Asked]
) -> list[str]:
    """A table a metric, the first open: each system's mean over each kind of questions.

    None where all questions are of one kind.
    """
    counts = {name: len(asked) for name, asked in groups(questions).items() if name != ALL}
    tables: list[str] = []
    for measure in measures:
        scored = {score.group for score in scores if score.metric == measure.name}
        columns = {name: count for name, count in counts.items() if name in scored}
        if columns:
            tables.append(_kinds(scores, measure, columns, folded=bool(tables)))
    return tables


def measure_table(measures: Sequence[Measure]) -> str:
    """What each metric ranges over, where it comes from and what it can't tell."""
    return table(
        "Ranges are in the units of the tables above.",
        ("measure", "range", "source", "what it can't tell"),
        [
            (title(measure.name), limits(measure), measure.source, measure.blind)
            for measure in measures
        ],
        figures=False,
    )


def _kinds(
    scores: Sequence[Score], measure: Measure, counts: Mapping[str, int], *, folded: bool
) -> str:
    found = {(score.system, score.group): score for score in scores if score.metric == measure.name}
    heads = [f"{name.removeprefix(KIND)}, n\u00a0=\u00a0{count}" for name, count in counts.items()]
    rows = [
        (
            system,
            *(_mean(found.get((system, name)), measure, count) for name, count in counts.items()),
        )
        for system in _systems(scores)
    ]
    caption = f"{heading(measure)}, with 95% intervals."
    return table(caption, ("system", *heads), rows, folded=folded)


def _systems(scores: Sequence[Score]) -> list[str]:
    return list(dict.fromkeys(score.system for score in scores))


def _mean(score: Score | None, measure: Measure, usual: int | None) -> Cell | str:
    """`usual`: how many questions need not be said again; None to say it always."""
    if score is None:
        return NOTHING
    own = score.own
    interval = between(own.low, own.high, measure)
    return Cell(shown(own.mean, measure), (interval, *_fewer(own.questions, usual)))


def _to_base(score: Score | None, measure: Measure, usual: int) -> Cell | str:
    if score is None or score.to_base is None or score.p is None:
        return NOTHING
    more = score.to_base
    interval = between(more.low, more.high, measure)
    return Cell(
        signed(more.mean, measure),
        (interval, probability(score.p), *_fewer(more.questions, usual)),
        strong=score.p < SIGNIFICANT,
    )


def _fewer(count: int, usual: int | None) -> tuple[str, ...]:
    return (f"n = {count}",) if count != usual else ()


def measured_table(
    scores: Sequence[Score], measures: Sequence[Measure], published: Published
) -> str:
    """Of a run's scores those that a published table has; nothing where there are none."""
    known = {measure.name: measure for measure in measures}
    found = {(score.system, score.metric, score.group): score for score in scores}
    measured = {(metric, group) for _, metric, group in found}
    columns = [
        column for column in published.columns if (column.metric, _group(column)) in measured
    ]
    if not columns:
        return ""
    rows = [
        (
            system,
            *(
                _mean(
                    found.get((system, column.metric, _group(column))), known[column.metric], None
                )
                for column in columns
            ),
        )
        for system in _systems(scores)
    ]
    return table("Measured here.", ("system", *map(_column, columns)), rows)


def published_table(published: Published) -> str:
    """A table as others published it, and nothing else."""
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


def _group(column: Column) -> str:
    return f"{KIND}{column.kind}" if column.kind else ALL


def _column(column: Column) -> str:
    return ", ".join(part for part in (title(column.metric), column.kind, "%") if part)
