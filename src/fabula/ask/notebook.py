"""What a notebook shows of a value that stands last in a cell: HTML, without scripts or colours.

All texts are a stranger's, and escaped. Colours are the notebook's own, light or dark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from fabula.graph.entries import Entry
from fabula.graph.hits import Hit, Passage, Quote, place

WIDTH = "max-width: 45em"
"""Lines that can be read."""
FIELDS = ("title", "author", "language", "tokens", "graphs", "gaps", "source", "id")
"""What is told of a document."""


def show_answer(question: str, text: str, quotes: Sequence[Quote], cited: Sequence[Passage]) -> str:
    """The answer, and under it what it cites: the text that it was given, to be opened."""
    if quotes:
        said = (
            "<p>No model was asked. The closest passages, as the book prints them:</p>"
            + "".join(_quotation(one.number, one.hit, one.matches) for one in quotes)
        )
    else:
        said = f"<p>{_lines(text)}</p>" + "".join(
            f"<details><summary>{_head(one.number, one.hit, one.spans)}</summary>"
            f"<blockquote>{_lines(one.text)}</blockquote></details>"
            for one in cited
        )
    return f'<div style="{WIDTH}"><p><b>{_lines(question)}</b></p>{said}</div>'


def list_documents(entries: Sequence[Entry], count: int) -> str:
    """A table of documents, the first of `count`."""
    head = "".join(f"<th>{name}</th>" for name in FIELDS)
    rows = "".join(f"<tr>{''.join(map(_cell, _of(entry)))}</tr>" for entry in entries)
    more = f"<p>and {count - len(entries):,} more</p>" if count > len(entries) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def show_text(heading: str, text: str, lit: Iterable[tuple[int, int]]) -> str:
    """A stretch of a text under a heading; `lit` is bold."""
    return f'<div style="{WIDTH}"><p><b>{_lines(heading)}</b></p><p>{_bold(text, lit)}</p></div>'


def _quotation(number: int, hit: Hit, matches: Iterable[tuple[int, int]]) -> str:
    said = _bold(hit.text.rstrip(), matches)
    return f"<p>{_head(number, hit)}</p><blockquote>{said}</blockquote>"


def _head(number: int, hit: Hit, spans: Sequence[tuple[int, int]] = ()) -> str:
    return f"[{number}] {_lines(place(hit, spans))}"


def _bold(text: str, matches: Iterable[tuple[int, int]]) -> str:
    parts, end = [], 0
    for first, last in sorted(matches):
        parts += [_lines(text[end:first]), f"<b>{_lines(text[first:last])}</b>"]
        end = last
    return "".join([*parts, _lines(text[end:])])


def _of(entry: Entry) -> tuple[str | int, ...]:
    has = ", ".join(entry.graphs)
    told = (entry.title, entry.author, entry.language, entry.tokens, has, entry.gaps)
    return (*told, entry.source, entry.id)


def _cell(value: str | int) -> str:
    told = f"{value:,}" if isinstance(value, int) else value
    return f'<td style="text-align: left">{_lines(told)}</td>'


def _lines(text: str) -> str:
    """A text as HTML, its lines kept; dollars are no mathematics."""
    # What Jupyter reads as mathematics is not sought across elements; entities are read before.
    escaped = re.sub(r"[$\\]", lambda mark: f"<span>{mark[0]}</span>", escape(text))
    return escaped.replace("\n", "<br>")
