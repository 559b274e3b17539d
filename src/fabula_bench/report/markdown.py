"""Write the Markdown of a report, with the tables of GitHub's dialect.

All arguments are plain text: no name, question or setting of a run becomes markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabula.export.markdown import escape_markdown

FENCE = re.compile("`{3,}")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table; `details` are smaller, below its text; `strong` is bold."""

    text: str
    details: tuple[str, ...] = ()
    strong: bool = False


def join(*blocks: str) -> str:
    """Join blocks by empty lines, without empty blocks."""
    return "\n\n".join(block for block in blocks if block)


def note(text: str, *, warning: bool = False) -> str:
    """Return a text as a block quote that stands out; a warning is bold."""
    return f"> **{escape_markdown(text)}**" if warning else f"> {escape_markdown(text)}"


def code(text: str) -> str:
    """Return a text as a fenced code block."""
    longest = max((len(run) for run in FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str | Cell]],
    *,
    figures: bool = True,
    is_heading: bool = False,
) -> str:
    """Return a table; its first column names the rows. `figures`: the others are numbers.

    The caption is a line above it, or a heading (`is_heading`).
    """
    rule = ["---", *(["---:" if figures else "---"] * (len(head) - 1))]
    lines = [map(escape_markdown, head), rule, *(map(_cell, row) for row in rows)]
    heading = f"### {escape_markdown(caption)}" if is_heading else f"*{escape_markdown(caption)}*"
    return join(heading, "\n".join(f"| {' | '.join(line)} |" for line in lines))


def _cell(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return escape_markdown(cell)
    text = f"**{escape_markdown(cell.text)}**" if cell.strong else escape_markdown(cell.text)
    return " ".join((text, *(f"*{escape_markdown(detail)}*" for detail in cell.details)))
