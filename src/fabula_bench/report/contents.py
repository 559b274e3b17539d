"""Write a report in Markdown: what was run, its results, and how to repeat it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.export.markdown import escape_markdown
from fabula.models.prices import Price
from fabula.text.nouns import count_noun
from fabula_bench.report.about import Run
from fabula_bench.report.charts import bar_charts
from fabula_bench.report.costs import model_tables, question_table, time_table
from fabula_bench.report.markdown import code, join, note, table
from fabula_bench.report.published import Published
from fabula_bench.report.read import Recorded
from fabula_bench.report.summary import Score
from fabula_bench.report.tables import (
    difference_table,
    kind_tables,
    measure_table,
    measured_table,
    node_table,
    published_table,
    score_table,
)
from fabula_bench.report.wording import NOTHING, flatten_settings, format_time

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
    "build": "the graph of each text, and nothing of it",
}
BOOTSTRAPPED = (
    "Intervals are of bootstrap samples of texts, each with all of its questions, as questions "
    "about one text are alike. Few texts tell little, however many their questions: of fewer than "
    "fifteen the intervals are too narrow."
)
TESTED = (
    "p-values are of paired randomisation tests, all questions about a text together. Of few texts "
    "they can't be small: never below 0.25 of three, 0.031 of six, before the correction."
)


def write_markdown(
    recorded: Recorded,
    scores: Sequence[Score],
    published: Sequence[Published],
    prices: Mapping[str, Price],
) -> str:
    """Return the report of a run in Markdown."""
    run = recorded.run
    sections = {
        "What was run": _run(recorded),
        "Scores": _scores(recorded, scores),
        "Differences to the baseline": _differences(recorded, scores),
        "By kind of question": join(*kind_tables(scores, run.metrics, run.questions)),
        "What the graphs hold": node_table(run.systems),
        "Cost and time": _cost(recorded, prices),
        "Published numbers": _show_published(recorded, scores, published),
        "What the measures tell": measure_table(run.metrics),
        "To run it again": _again(recorded),
    }
    subtitle = (
        f"{count_noun(len(run.systems), 'system')}, "
        f"{count_noun(len(run.questions), 'question')} about "
        f"{count_noun(run.data.texts, 'text')} of {run.data.name}. {format_time(run.started)}."
    )
    parts = [join(f"## {title}", text) for title, text in sections.items() if text]
    title = f"# Experiment: {escape_markdown(run.suite)}"
    return join(title, escape_markdown(subtitle), *_notes(recorded), *parts) + "\n"


def _notes(recorded: Recorded) -> list[str]:
    run = recorded.run
    notes = []
    if run.finished is None or recorded.answered < recorded.expected:
        state = "Unfinished" if run.finished is None else "Incomplete"
        missing = ", ".join(
            f"{name} {len(recorded.results[name])}"
            for name in (system.name for system in run.systems)
            if len(recorded.results[name]) < len(run.questions)
        )
        notes.append(
            note(
                f"{state}: {recorded.answered:,} of {recorded.expected:,} results exist, and all "
                "figures are based on these alone."
                + (f" Of {len(run.questions):,} questions: {missing}." if missing else ""),
                warning=True,
            )
        )
    if run.offline:
        notes.append(note(OFFLINE, warning=True))
    if run.left_out:
        notes.append(note(f"Not measured: {' '.join(run.left_out.values())}"))
    return notes


def _run(recorded: Recorded) -> str:
    run = recorded.run
    names = [system.name for system in run.systems]
    models = {model: None for system in run.systems for model in system.models.values()}
    data = (run.data.name, run.data.part, "hard questions" if run.data.hard else "")
    rows = {
        "suite": run.suite,
        "asked for": ASKED[run.ask],
        "data": f"{', '.join(filter(None, data))}: {count_noun(run.data.texts, 'text')}, "
        f"{count_noun(len(run.questions), 'question')}",
        "subset": run.data.subset,
        "systems": "; ".join(names),
        "baseline": names[0] if len(names) > 1 else "",
        "models": ", ".join(models),
        "limits": ", ".join(f"{name} {value}" for name, value in run.limits.items() if value),
        "started": format_time(run.started),
        "finished": format_time(run.finished) if run.finished else "not yet",
    }
    filled = [row for row in rows.items() if row[1]]
    return join(
        escape_markdown(run.purpose), table("The run.", ("", "this run"), filled, figures=False)
    )


def _scores(recorded: Recorded, scores: Sequence[Score]) -> str:
    if not scores:
        return "There are no scores yet."
    metrics = recorded.run.metrics
    return join(score_table(scores, metrics), BOOTSTRAPPED, bar_charts(scores, metrics))


def _differences(recorded: Recorded, scores: Sequence[Score]) -> str:
    if not any(score.to_base for score in scores):
        return ""
    return join(difference_table(scores, recorded.run.metrics), TESTED)


def _cost(recorded: Recorded, prices: Mapping[str, Price]) -> str:
    blocks = []
    if recorded.answered and recorded.run.ask != "build":
        blocks.append(question_table(recorded))
    if any(system.stages for system in recorded.run.systems):
        blocks.append(time_table(recorded.run))
    if models := model_tables(recorded.run, prices):
        blocks += [*models, CACHED]
    return join(*blocks)


def _show_published(
    recorded: Recorded, scores: Sequence[Score], tables: Sequence[Published]
) -> str:
    if not tables:
        return ""
    measured = [measured_table(scores, recorded.run.metrics, table) for table in tables]
    caution = (
        "Published figures were measured by others, with their models, prompts and judges. They "
        "say about where ours should lie; a difference between the tables is no finding."
    )
    if recorded.run.offline and not any(measured):
        caution += " No model answered here, so nothing here can be set against them."
    return join(caution, *measured, *map(published_table, tables))


def _again(recorded: Recorded) -> str:
    run = recorded.run
    return join(
        "The same command, data and settings give the same scores where no model is asked, and "
        "nearly the same where one is. results.jsonl has each context and answer, summary.csv each "
        "score, run.json all that follows.",
        code(run.command),
        table("The data's files.", ("file", "SHA-256"), run.data.sha256.items(), figures=False),
        _version_table(run),
        *_settings_tables(run),
    )


def _version_table(run: Run) -> str:
    """Return the table of versions and seeds."""
    rows = {**run.versions, **{f"seed of {name}": str(seed) for name, seed in run.seeds.items()}}
    return table("Versions and seeds.", ("", "value"), rows.items(), figures=False)


def _settings_tables(run: Run) -> list[str]:
    """Return two tables: the settings that all systems share, and those in which they differ."""
    systems = {
        system.name: flatten_settings(dict(system.settings) | _filters(run, system.name))
        for system in run.systems
        if system.settings
    }
    names = sorted({name for settings in systems.values() for name in settings})
    values = {name: [system.get(name, NOTHING) for system in systems.values()] for name in names}
    same = {name: of_systems[0] for name, of_systems in values.items() if len(set(of_systems)) == 1}
    differing = [name for name in names if name not in same]
    tables = []
    if differing:
        rows = [(name, *values[name]) for name in differing]
        head = ("setting", *systems)
        tables.append(table("Settings in which the systems differ.", head, rows, figures=False))
    if same:
        caption = "Settings of every system." if len(systems) > 1 else "Settings."
        head = ("setting", "value")
        tables.append(table(caption, head, same.items(), figures=False, is_heading=True))
    return tables


def _filters(run: Run, system: str) -> dict[str, Any]:
    return {"filters": run.filters[system]} if system in run.filters else {}
