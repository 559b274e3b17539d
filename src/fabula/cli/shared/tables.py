"""Print tables, by a console that breaks no lines of a pipe and obeys nothing in a text."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table

from fabula.models.clean import clean_output

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


def console() -> Console:
    """Return a console; outside a terminal it breaks no lines, and brackets are plain text."""
    width = None if sys.stdout.isatty() else UNLIMITED_WIDTH
    return CleanConsole(file=sys.stdout, highlight=False, markup=False, soft_wrap=True, width=width)


def begin_table(*columns: str, right: Collection[str] = ()) -> Table:
    """Return a table with these columns; the cells of those in `right` end at the same place."""
    table = Table(show_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left")
    return table


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
