"""Write the report of a measurement on gold data, beside figures that others published."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Any

from fabula.models.usage import Usage
from fabula_bench.gold import novels, plays, resolvers
from fabula_bench.gold.scores import F1, TextScores
from fabula_bench.statistics import Interval

REPORT = "report.md"
NOVELS_HEADING, PLAYS_HEADING = "Novels (LitBank)", "Plays (PolDraCor)"
_BY_TEXT = (novels.GIVEN_PERSONS, resolvers.CHOSEN, resolvers.BASELINE, plays.EDGES)
_OF_PLAYS = (plays.KEPT, plays.SPEAKERS, plays.PERSONS, plays.EDGES, plays.DEGREES)


@dataclass(frozen=True, slots=True)
class GoldSystem:
    """What was measured of one system: `offline`, or a model.

    `figures` are means with their intervals, `scores` what each text gives to them, `pairs` those
    of given names that are right, wrong or missed; `usage` is what models were asked, by step.
    """

    name: str
    settings: Mapping[str, Any]
    figures: Mapping[str, Interval]
    scores: Sequence[TextScores] = ()
    pairs: Sequence[novels.AliasPair] = ()
    usage: Mapping[str, Usage] = field(default_factory=dict)


def write_report(
    folder: Path,
    systems: Sequence[GoldSystem],
    command: str,
    failed: Sequence[str],
    books: Mapping[str, Sequence[str]],
) -> Path:
    """Write the report in Markdown, and return its path."""
    lines = ["# Measured on gold annotations", ""]
    lines += [f"Command: `{command}`", ""] if command else []
    for heading, is_of_plays in ((NOVELS_HEADING, False), (PLAYS_HEADING, True)):
        table = figures_table(systems, is_of_plays=is_of_plays)
        if len(table) > 2:
            lines += [f"## {heading}", "", *table, ""]
    lines += ["## Published figures of others", "", *_write_published(), ""]
    for heading, section in (("How it is measured", "notes"), ("Sources", "sources")):
        lines += [f"## {heading}", "", *(f"- {line.strip()}" for line in _texts()[section]), ""]
    if failed:
        lines += ["## Texts that could not be measured", "", *(f"- {text}" for text in failed), ""]
    if books:
        gaps = sum(map(len, books.values()))
        lines += ["## Whole books", "", f"Rules left {gaps} gaps in {len(books)} books.", ""]
        lines += [f"- {book}: {gap}" for book, of_book in books.items() for gap in of_book]
        lines += [""] if gaps else []
    lines += _table_by_text(systems)
    lines += _wrong_pairs(systems)
    file = folder / REPORT
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def figures_table(systems: Sequence[GoldSystem], *, is_of_plays: bool) -> list[str]:
    """Return the rows of a Markdown table: a measure a line, a system a column."""
    names = dict.fromkeys(name for system in systems for name in system.figures)
    rows = ["| measure | " + " | ".join(system.name for system in systems) + " | items |"]
    rows.append("| --- |" + " ---: |" * (len(systems) + 1))
    for name in names:
        if name.startswith(_OF_PLAYS) == is_of_plays:
            figures = [system.figures.get(name) for system in systems]
            items = max(figure.questions for figure in figures if figure)
            rows.append(f"| {name} | {' | '.join(map(write_figure, figures))} | {items:,} |")
    return rows


def write_figure(figure: Interval | None) -> str:
    """Write a figure with its interval: .803 [.678, .909]."""
    if figure is None:
        return "–"
    mean, low, high = (f"{value:.3f}".replace("0.", ".", 1)
                       for value in (figure.mean, figure.low, figure.high))  # fmt: skip
    return f"{mean} [{low}, {high}]"


@cache
def _texts() -> dict[str, Any]:
    """What the report says besides figures: notes, sources, and the figures of others."""
    file = resources.files(__package__) / "report.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _write_published() -> Iterator[str]:
    for table in _texts()["published"]:
        yield f"Published, not measured here: {table['source']}. In per cent."
        yield ""
        yield f"| published measure | {' | '.join(table['columns'])} | beside | how it differs |"
        yield "| --- |" + " ---: |" * len(table["columns"]) + " --- | --- |"
        for row in table["rows"]:
            values = " | ".join(f"{value:.1f}" for value in row["values"])
            yield f"| {row['measure']} | {values} | {row['beside']} | {row['differs']} |"


def _table_by_text(systems: Sequence[GoldSystem]) -> list[str]:
    """F1 of the first system in each text: persons' names and their baseline, networks."""
    measures = {f"{measure}, {F1}": measure for measure in _BY_TEXT}
    lines = [f"| text | {' | '.join(measures.values())} |", "| --- |" + " ---: |" * len(measures)]
    for scores in systems[0].scores if systems else ():
        figures = [scores.items.get(measure, ()) for measure in measures]
        if any(figures):
            cells = (f"{fmean(items):.3f} ({len(items)})" if items else "–" for items in figures)
            lines.append(f"| {scores.text} | {' | '.join(cells)} |")
    heading = "## F1 by text, in brackets over how many items"
    return [heading, "", *lines, ""] if len(lines) > 2 else []


def _wrong_pairs(systems: Sequence[GoldSystem]) -> list[str]:
    """The pairs of given names that were wrongly joined, by rule; the same for all systems."""
    wrong = [pair for pair in (systems[0].pairs if systems else ()) if pair.verdict == "wrong"]
    if not wrong:
        return []
    lines = ["## Given names that were wrongly joined", "", "| rule | text | names |"]
    lines.append("| --- | --- | --- |")
    for pair in sorted(wrong, key=lambda pair: (pair.rule, pair.text, pair.names)):
        names = " = ".join(
            f"{name} ({count})" for name, count in zip(pair.names, pair.counts, strict=True)
        )
        lines.append(f"| {pair.rule} | {pair.text.partition('_')[0]} | {names} |")
    return [*lines, ""]
