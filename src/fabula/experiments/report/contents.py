"""What a report says, in order: what was run, what came of it, what it means, how to repeat it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabula.experiments.report.costs import model_tables, question_table, time_table
from fabula.experiments.report.document import (
    Block,
    Cell,
    Code,
    Document,
    Note,
    Paragraph,
    Section,
    Table,
)
from fabula.experiments.report.drawings import Drawings
from fabula.experiments.report.published import Published
from fabula.experiments.report.read import Recorded
from fabula.experiments.report.repeat import hash_table, settings_tables, version_table
from fabula.experiments.report.summary import Score
from fabula.experiments.report.tables import (
    difference_table,
    kind_tables,
    measure_table,
    measured_table,
    published_table,
    score_table,
)
from fabula.experiments.report.wording import counted, day
from fabula.prices import Price

OFFLINE = (
    "Offline: summaries, details and answers are extracts of the text; no model wrote them. What "
    "is compared here is retrieval."
)
CACHED = (
    "Calls, tokens and money are of all that a system asked for, whether a model or the response "
    "cache answered, so that they don't depend on which system was run first; what was paid is "
    "less. Tokens of embeddings that the cache had are Fabula's own count; replies that failed are "
    "with the system that met them. Money is what the prices that Fabula was given make of the "
    "tokens. The cache keeps no times: the median is of the questions in which it answered no "
    "call, and stages are as long as they were in this run."
)
ASKED = {
    "answer": "an answer to each question",
    "choose": "one of each question's options",
    "retrieve": "a context for each question, and no answer",
}
TESTED = (
    "p-values are of paired randomisation tests, all questions about a text together. Of few texts "
    "they can't be small: never below 0.25 of three, 0.031 of six, before the correction."
)


def document(
    recorded: Recorded,
    scores: Sequence[Score],
    drawings: Drawings | str,
    published: Sequence[Published],
    prices: Mapping[str, Price],
) -> Document:
    """The report of a run. `drawings` can be the sentence that says why there are none."""
    run = recorded.run
    parts = (
        Section("run", "What was run", _run(recorded)),
        Section("scores", "Scores", _scores(recorded, scores, drawings)),
        Section("differences", "Differences to the baseline", _differences(recorded, scores)),
        Section("sweeps", "Sweeps", _sweeps(drawings)),
        Section(
            "kinds", "By kind of question", tuple(kind_tables(scores, run.metrics, run.questions))
        ),
        Section("cost", "Cost and time", _cost(recorded, drawings, prices)),
        Section("published", "Published numbers", _published(recorded, scores, published)),
        Section("measures", "What the measures tell", (measure_table(run.metrics),)),
        Section("again", "To run it again", _again(recorded)),
    )
    return Document(
        f"Experiment: {run.suite}",
        f"{counted(len(run.systems), 'system')}, {counted(len(run.questions), 'question')} about "
        f"{counted(run.data.texts, 'text')} of {run.data.name}. {day(run.started)}.",
        tuple(_notes(recorded, drawings)),
        tuple(one for one in parts if one.blocks),
    )


def _notes(recorded: Recorded, drawings: Drawings | str) -> list[Note]:
    run = recorded.run
    notes = []
    if run.finished is None or recorded.answered < recorded.expected:
        state = "Unfinished" if run.finished is None else "Incomplete"
        missing = ", ".join(
            f"{name} {len(recorded.results[name])}"
            for name in (one.name for one in run.systems if not one.skipped)
            if len(recorded.results[name]) < len(run.questions)
        )
        notes.append(
            Note(
                f"{state}: {recorded.answered:,} of {recorded.expected:,} results are there, and "
                "all figures are of these alone."
                + (f" Of {len(run.questions):,} questions: {missing}." if missing else ""),
                "warning",
            )
        )
    if run.offline:
        notes.append(Note(OFFLINE, "warning"))
    notes += [Note(f"{one.name} was not run: {one.skipped}") for one in run.systems if one.skipped]
    if run.left_out:
        notes.append(Note(f"Not measured: {' '.join(run.left_out.values())}"))
    if isinstance(drawings, str):
        notes.append(Note(drawings))
    return notes


def _run(recorded: Recorded) -> tuple[Block, ...]:
    run = recorded.run
    names = [system.name for system in run.systems]
    models = {model: None for system in run.systems for model in system.models.values()}
    rows = {
        "suite": run.suite,
        "asked for": ASKED[run.ask],
        "data": f"{run.data.name}: {counted(run.data.texts, 'text')}, "
        f"{counted(len(run.questions), 'question')}",
        "licence of the data": run.data.licence,
        "systems": "; ".join(names),
        "baseline": names[0] if len(names) > 1 else "",
        "models": ", ".join(models),
        "limits": ", ".join(f"{name} {value}" for name, value in run.limits.items() if value),
        "started": day(run.started),
        "finished": day(run.finished) if run.finished else "not yet",
    }
    table = Table(
        "The run.",
        ("", "this run"),
        tuple((Cell(name), Cell(value)) for name, value in rows.items() if value),
        figures=False,
    )
    return Paragraph(run.purpose), table


def _scores(
    recorded: Recorded, scores: Sequence[Score], drawings: Drawings | str
) -> tuple[Block, ...]:
    if not scores:
        return (Paragraph("There are no scores yet."),)
    run = recorded.run
    blocks: list[Block] = [score_table(scores, run.metrics)]
    blocks.append(
        Paragraph(
            "Intervals are of bootstrap samples of texts, each with all of its questions, as "
            "questions about one text are alike. Few texts tell little, however many their "
            "questions: of fewer than fifteen the intervals are too narrow."
        )
    )
    if not isinstance(drawings, str) and drawings.scores.figures:
        blocks.append(drawings.scores)
    return tuple(blocks)


def _differences(recorded: Recorded, scores: Sequence[Score]) -> tuple[Block, ...]:
    if not any(score.to_base for score in scores):
        return ()
    return difference_table(scores, recorded.run.metrics), Paragraph(TESTED)


def _sweeps(drawings: Drawings | str) -> tuple[Block, ...]:
    if isinstance(drawings, str) or not drawings.sweeps.figures:
        return ()
    return (drawings.sweeps,)


def _cost(
    recorded: Recorded, drawings: Drawings | str, prices: Mapping[str, Price]
) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if recorded.answered:
        blocks.append(question_table(recorded))
    if any(system.stages for system in recorded.run.systems):
        blocks.append(time_table(recorded.run))
    if models := model_tables(recorded.run, prices):
        blocks += [*models, Paragraph(CACHED)]
    if not isinstance(drawings, str) and drawings.costs.figures:
        blocks.append(drawings.costs)
    return tuple(blocks)


def _published(
    recorded: Recorded, scores: Sequence[Score], tables: Sequence[Published]
) -> tuple[Block, ...]:
    if not tables:
        return ()
    measured = [
        one for table in tables if (one := measured_table(scores, recorded.run.metrics, table))
    ]
    caution = (
        "Published figures were measured by others, with their models, prompts and judges. They "
        "say about where ours should lie; a difference between the tables is no finding."
    )
    if recorded.run.offline:
        caution += " No model answered here, so nothing here can be set against them."
    return (Paragraph(caution), *measured, *map(published_table, tables))


def _again(recorded: Recorded) -> tuple[Block, ...]:
    run = recorded.run
    return (
        Paragraph(
            "The same command, data and settings give the same scores where no model is asked, "
            "and nearly the same where one is. results.jsonl has each context and answer, "
            "summary.csv each score, run.json all that follows."
        ),
        Code(run.command),
        hash_table(run.data),
        version_table(run),
        *settings_tables(run),
    )
