"""A report as a page that needs no other file: its style and its figures are within."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from fabula.experiments.report.colours import DARK, LIGHT, as_variables, to_variables
from fabula.experiments.report.document import (
    Block,
    Cell,
    Code,
    Document,
    Figure,
    Gallery,
    Note,
    Paragraph,
    Section,
    Table,
)

STYLE = Path(__file__).with_name("page.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The page asks nobody for anything, whatever a text in it says."""


def to_html(document: Document) -> str:
    """The report as one page, for any width, light or dark as its reader has it."""
    places = "".join(f'<a href="#{one.id}">{escape(one.title)}</a>' for one in document.sections)
    body = [
        f"<header><h1>{escape(document.title)}</h1><p>{escape(document.subtitle)}</p></header>",
        *map(_block, document.notes),
        f'<nav aria-label="Sections">{places}</nav>' if places else "",
        *map(_section, document.sections),
    ]
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(document.title)}</title>",
            f"<style>\n{_style()}</style>\n</head>\n<body>\n<main>",
            *body,
            "</main>\n</body>\n</html>\n",
        )
    )


def _style() -> str:
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {as_variables(DARK)} }} }}"
    return f":root {{ {as_variables(LIGHT)} }}\n{dark}\n{STYLE.read_text(encoding='utf-8')}"


def _section(section: Section) -> str:
    blocks = "\n".join(map(_block, section.blocks))
    return f'<section id="{section.id}">\n<h2>{escape(section.title)}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    match block:
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Note(text, tone):
            return f'<p class="note {tone}">{escape(text)}</p>'
        case Code(text):
            return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
        case Table():
            return _table(block)
        case Gallery(caption, figures):
            drawn = "\n".join(map(_figure, figures))
            return f'<p>{escape(caption)}</p>\n<div class="gallery">\n{drawn}\n</div>'


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in table.head)
    rows = "\n".join(
        f'<tr><th scope="row">{_cell(row[0])}</th>'
        + "".join(f"<td>{_cell(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    kind = "figures" if table.figures else "words"
    # Wide tables are moved sideways in a frame of their own, which the keyboard reaches too.
    caption = escape(table.caption)
    within = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table class="{kind}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n'
        "</table></div>"
    )
    if table.folded:
        return f'<details class="table"><summary>{caption}</summary>{within}</details>'
    return f'<figure class="table"><figcaption>{caption}</figcaption>{within}</figure>'


def _cell(cell: Cell) -> str:
    text = f"<strong>{escape(cell.text)}</strong>" if cell.strong else escape(cell.text)
    return text + "".join(f"<small>{escape(one)}</small>" for one in cell.details)


def _figure(figure: Figure) -> str:
    return f"<figure><figcaption>{escape(figure.title)}</figcaption>{_within(figure)}</figure>"


def _within(figure: Figure) -> str:
    """The drawing as a part of the page: no prologue, no ids, the page's colours."""
    svg = figure.svg[figure.svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<(g|text) id="[^"]*"', r"<\1", svg)
    return to_variables(svg).replace(
        "<svg", f'<svg role="img" aria-label="{escape(figure.title)}"', 1
    )
