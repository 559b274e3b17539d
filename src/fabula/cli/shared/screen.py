"""What commands print: notices, tables, documents and sources, on a terminal or in a pipe."""

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

MOST_NAMED = 10
"""Files that a line names."""
WIDE = 10_000
"""A pipe has no width: its lines are never broken."""


class CleanConsole(Console):
    """A console that prints no control character of a text: only rich's own styles."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of a renderable, their texts cleaned."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(clean_output(segment.text), segment.style)


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people, without what a terminal would obey."""
    click.echo(clean_output(str(text)), err=err, nl=nl)


def console(stderr: bool = False) -> Console:
    """Where people read; lines are whole where it is no terminal, and brackets are text."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDE
    return CleanConsole(file=stream, highlight=False, markup=False, soft_wrap=True, width=width)


def print_table(table: Table) -> None:
    """Prints a table or, where the screen is too narrow for it, a list of its rows."""
    screen = console()
    screen.print(fitted(table, screen.width), soft_wrap=False)


def fitted(table: Table, width: int) -> RenderableType:
    """The table, if its longest words fit side by side; else its rows, one below the other."""
    ruler = Console(width=WIDE, markup=False)
    for column in table.columns:
        # Ids and numbers keep their width: rich narrows columns without regard to their words.
        told = [Measurement.get(ruler, ruler.options, cell) for cell in column.cells]
        column.no_wrap = all(one.minimum == one.maximum for one in told)
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
    """Says, on every run without a chat model, what the words are then."""
    if settings.offline:
        echo(
            "Offline: no chat model is set, so summaries and details are extracts of the text, and "
            "a question finds passages, not a model's words. Set OPENAI_API_KEY or OPENAI_BASE_URL "
            "to use a model.",
            err=True,
        )


def print_json(value: Any) -> None:
    """One JSON value, indented, in UTF-8; characters that a terminal obeys are escaped."""
    click.echo(escape_json(json.dumps(value, indent=2, ensure_ascii=False)))


def counted(number: int, noun: str) -> str:
    """A number of things in words: '1 document', '2,000 summaries'."""
    if number != 1:
        noun = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def lacking(gaps: Sequence[Gap]) -> str:
    """Gaps in words: how many, in which steps of a build, and why the first is one."""
    steps = Counter(gap.step for gap in gaps)
    told = " and ".join(f"{number:,} in {step}" for step, number in sorted(steps.items()))
    return f"{counted(len(gaps), 'gap')}, {told}, as {gaps[0].why.rstrip('.')}"


def show_skipped(names: Sequence[str]) -> None:
    """The files that no reader knows: how many, of which kinds, and the first by name."""
    if not names:
        return
    kinds = Counter(PurePath(name).suffix.lower() or "without a suffix" for name in names)
    by_kind = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common(MOST_NAMED))
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    echo(
        f"skipped    {counted(len(names), 'file')} of kinds that Fabula doesn't read ({by_kind}): "
        f"{', '.join(names[:MOST_NAMED])}{more}"
    )


def spent(usage: Usage) -> str:
    """Calls and tokens in words, and what was saved or went wrong, if anything did."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    tokens = f"{usage.prompt_tokens:,} prompt{cached} and {usage.completion_tokens:,} completion"
    paid = f"{usage.calls:,} calls, {tokens} tokens"
    said = [paid if usage.calls else "no model calls"]
    said += [f"{usage.saved:,} calls saved"] * (usage.saved > 0)
    said += [f"{usage.faults:,} faulty replies asked for again"] * (usage.faults > 0)
    return ", ".join(said)


def outline(entry: Entry, layers: Sequence[Layer]) -> Table:
    """A document's shape: one row an aspect or kind, one column a level."""
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
