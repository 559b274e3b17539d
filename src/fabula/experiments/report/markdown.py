"""A report as Markdown, with the tables of GitHub's dialect."""

from __future__ import annotations

import re

from fabula.experiments.report.document import (
    Block,
    Cell,
    Code,
    Document,
    Gallery,
    Note,
    Paragraph,
    Table,
)

SPECIAL = re.compile(r"[\\`*\[\]<>|~&]|(?<!\w)_|_(?!\w)")
"""What would be read as markup; an underscore within a word is not."""
LEADING = re.compile(r"^(\d*)(?=(?:[-+.)]|#+|=+|-+)(?:\s|$))")
"""What would make a line a heading, a rule or an item of a list."""
FENCE = re.compile("`{3,}")


def to_markdown(document: Document) -> str:
    """The report, its figures linked as PNG files beside it."""
    parts = [f"# {_text(document.title)}", _text(document.subtitle)]
    parts += [_block(note) for note in document.notes]
    for section in document.sections:
        parts += [f"## {_text(section.title)}", *map(_block, section.blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph(text):
            return _text(text)
        case Note(text, tone):
            return f"> **{_text(text)}**" if tone == "warning" else f"> {_text(text)}"
        case Code(text):
            longest = max((len(run) for run in FENCE.findall(text)), default=2)
            fence = "`" * (longest + 1)
            return f"{fence}text\n{text}\n{fence}"
        case Table():
            return _table(block)
        case Gallery(caption, figures):
            drawn = [
                f"**{_text(one.title)}**\n\n![{_text(one.title)}]({one.file}.png)"
                for one in figures
            ]
            return "\n\n".join([_text(caption), *drawn])


def _table(table: Table) -> str:
    rule = ["---", *(["---:" if table.figures else "---"] * (len(table.head) - 1))]
    lines = [[_text(one) for one in table.head], rule]
    lines += [[_cell(one) for one in row] for row in table.rows]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"*{_text(table.caption)}*\n\n{rows}"


def _cell(cell: Cell) -> str:
    text = f"**{_text(cell.text)}**" if cell.strong and cell.text else _text(cell.text)
    return " ".join((text, ", ".join(map(_text, cell.details)))).strip()


def _text(text: str) -> str:
    """One line on which nothing is markup."""
    line = SPECIAL.sub(lambda found: "\\" + found[0], " ".join(text.split()))
    return LEADING.sub(lambda found: found[1] + "\\", line)
