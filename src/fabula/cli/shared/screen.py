"""Print tables, JSON, counts and notices, on a terminal or into a pipe."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from fabula.config.settings import Settings
from fabula.graph import Gap
from fabula.graph.entries import Entry, Layer
from fabula.models.clean import clean_output, escape_json
from fabula.models.usage import Usage

MAX_LISTED = 10
"""How many files a line lists."""
UNLIMITED_WIDTH = 10_000
"""The width of a pipe, so that its lines are never broken."""


class CleanConsole(Console):
    """A console that prints no control characters of a text, only rich's own styles."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of a renderable with cleaned texts."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(clean_output(segment.text), segment.style)


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people, without the control characters that a terminal would obey."""
    click.echo(clean_output(str(text)), err=err, nl=nl)


def console(stderr: bool = False) -> Console:
    """Return a console; outside a terminal it breaks no lines, and brackets are plain text."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNLIMITED_WIDTH
    return CleanConsole(file=stream, highlight=False, markup=False, soft_wrap=True, width=width)


def print_table(table: Table) -> None:
    """Print a table or, if the screen is too narrow for it, a list of its rows."""
    screen = console()
    screen.print(fit_table(table, screen.width), soft_wrap=False)


def fit_table(table: Table, width: int) -> RenderableType:
    """Return the table if its longest words fit side by side, otherwise a list of its rows."""
    ruler = Console(width=UNLIMITED_WIDTH, markup=False)
    for column in table.columns:
        # Ids and numbers keep their width: rich narrows columns without regard to their words.
        widths = [Measurement.get(ruler, ruler.options, cell) for cell in column.cells]
        column.no_wrap = all(width.minimum == width.maximum for width in widths)
    if Measurement.get(ruler, ruler.options, table).minimum <= width:
        return table
    lines: list[RenderableType] = [table.title] if table.title else []
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        row = Table.grid(padding=(0, 2, 0, 0))
        for column, cell in zip(table.columns, cells, strict=True):
            if str(cell):
                row.add_row(column.header, cell)
        lines += [row, ""]
    return Group(*lines)


def notice_offline(settings: Settings) -> None:
    """Tell on every run without a chat model where the texts come from."""
    if settings.offline:
        echo(
            "Offline: no chat model is set, so summaries and details are extracts of the text, and "
            "an answer is a list of passages. To use a model, set OPENAI_API_KEY or "
            "OPENAI_BASE_URL.",
            err=True,
        )


def print_json(value: Any) -> None:
    """Print a JSON value, indented, in UTF-8; characters that a terminal obeys are escaped."""
    click.echo(escape_json(json.dumps(value, indent=2, ensure_ascii=False)))


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun: '1 document', '2,000 summaries'."""
    if number != 1:
        noun = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def describe_gaps(gaps: Sequence[Gap]) -> str:
    """Return in words how many gaps there are, in which steps, and the reason for the first."""
    steps = Counter(gap.step for gap in gaps)
    by_step = " and ".join(f"{number:,} in {step}" for step, number in sorted(steps.items()))
    return f"{count_noun(len(gaps), 'gap')}, {by_step}, as {gaps[0].why.rstrip('.')}"


def show_skipped(names: Sequence[str]) -> None:
    """Print which files have no reader: how many, of which kinds, and the first names."""
    if not names:
        return
    kinds = Counter(PurePath(name).suffix.lower() or "without a suffix" for name in names)
    by_kind = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common(MAX_LISTED))
    more = f" and {len(names) - MAX_LISTED:,} more" if len(names) > MAX_LISTED else ""
    echo(
        f"skipped    {count_noun(len(names), 'file')} of kinds that Fabula doesn't read "
        f"({by_kind}): {', '.join(names[:MAX_LISTED])}{more}"
    )


def describe_usage(usage: Usage) -> str:
    """Return calls and tokens in words, with the calls saved and the faulty replies, if any."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    tokens = f"{usage.prompt_tokens:,} prompt{cached} and {usage.completion_tokens:,} completion"
    paid = f"{usage.calls:,} calls, {tokens} tokens"
    parts = [paid if usage.calls else "no model calls"]
    parts += [f"{usage.saved:,} calls saved"] * (usage.saved > 0)
    parts += [f"{usage.faults:,} faulty replies asked for again"] * (usage.faults > 0)
    return ", ".join(parts)


def outline_table(entry: Entry, layers: Sequence[Layer]) -> Table:
    """Return a table of a document: a row for each aspect or kind, a column for each level."""
    highest = max((layer.level for layer in layers), default=0)
    table = Table(title=Text(entry.title), title_justify="left", show_edge=False)
    table.add_column("aspect")
    for level in range(highest + 1):
        table.add_column(f"level {level}", justify="right")
    counts: dict[str, dict[int, int]] = {}
    for layer in layers:
        row = counts.setdefault(layer.aspect or f"{layer.kind}s", {})
        row[layer.level] = layer.passages
    for name in sorted(counts, key=lambda name: (name not in ("chunks", "details"), name)):
        cells = [str(counts[name].get(level, "")) for level in range(highest + 1)]
        table.add_row(name, *cells)
    return table
