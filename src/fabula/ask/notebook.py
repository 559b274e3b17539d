"""HTML for notebooks: what a cell shows if its last value is an answer, a text or documents.

It has no scripts, and no colours, so that it suits light and dark notebooks. All texts come from
books and models, and are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from fabula.ask.quotations.checked import CheckedQuotation
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit, Passage, Quote, describe_place

WIDTH = "max-width: 45em"
"""Keeps lines short enough to read."""
FIELDS = ("title", "author", "language", "tokens", "graphs", "gaps", "source", "id")
"""The columns of a table of documents."""


def show_answer(
    question: str,
    text: str,
    quotes: Sequence[Quote],
    cited: Sequence[Passage],
    quotations: Sequence[CheckedQuotation] = (),
) -> str:
    """Return the HTML of an answer, and under it each cited passage, which can be opened.

    `quotes` are what an answer consists of that no model wrote; `quotations` are what it quotes,
    compared with the books.
    """
    if quotes:
        body = (
            "<p>No model was asked. The closest passages, as the book prints them:</p>"
            + "".join(_quotation(quote.number, quote.hit, quote.matches) for quote in quotes)
        )
    else:
        body = f"<p>{_lines(text)}</p>{_quotations(quotations)}" + "".join(
            f"<details><summary>{_head(passage.number, passage.hit, passage.spans)}</summary>"
            f"<blockquote>{_lines(passage.text)}</blockquote></details>"
            for passage in cited
        )
    return f'<div style="{WIDTH}"><p><b>{_lines(question)}</b></p>{body}</div>'


def list_documents(entries: Sequence[Entry], count: int) -> str:
    """Return the HTML of a table of documents, the first ones of `count`."""
    head = "".join(f"<th>{name}</th>" for name in FIELDS)
    rows = "".join(f"<tr>{''.join(map(_cell, _row(entry)))}</tr>" for entry in entries)
    more = f"<p>and {count - len(entries):,} more</p>" if count > len(entries) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def show_text(heading: str, text: str, bold: Iterable[tuple[int, int]]) -> str:
    """Return the HTML of a part of a text under a heading; the spans in `bold` are bold."""
    return f'<div style="{WIDTH}"><p><b>{_lines(heading)}</b></p><p>{_bold(text, bold)}</p></div>'


def _quotations(quotations: Sequence[CheckedQuotation]) -> str:
    """Return a list of the quotations that are not in the books as they are quoted."""
    items = []
    for each in quotations:
        if each.status == "exact" or (each.status == "near" and not each.differs_in_words):
            continue
        printed = f" The book has “{_lines(each.printed)}”." if each.is_in_book else ""
        place = f" ({_lines(each.place)})" if each.place and each.is_in_book else ""
        items.append(f"<li><b>{each.status}</b>: “{_lines(each.text)}”.{printed}{place}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _quotation(number: int, hit: Hit, matches: Iterable[tuple[int, int]]) -> str:
    text = _bold(hit.text.rstrip(), matches)
    return f"<p>{_head(number, hit)}</p><blockquote>{text}</blockquote>"


def _head(number: int, hit: Hit, spans: Sequence[tuple[int, int]] = ()) -> str:
    return f"[{number}] {_lines(describe_place(hit, spans))}"


def _bold(text: str, matches: Iterable[tuple[int, int]]) -> str:
    parts, end = [], 0
    for first, last in sorted(matches):
        parts += [_lines(text[end:first]), f"<b>{_lines(text[first:last])}</b>"]
        end = last
    return "".join([*parts, _lines(text[end:])])


def _row(entry: Entry) -> tuple[str | int, ...]:
    graphs = ", ".join(entry.graphs)
    about = (entry.title, entry.author, entry.language, entry.tokens, graphs, entry.gaps)
    return (*about, entry.source, entry.id)


def _cell(value: str | int) -> str:
    text = f"{value:,}" if isinstance(value, int) else value
    return f'<td style="text-align: left">{_lines(text)}</td>'


def _lines(text: str) -> str:
    """Return a text as HTML with its line breaks; dollars do not begin mathematics."""
    # Jupyter looks for mathematics between dollars after it has resolved entities, so escaping the
    # dollar does not help. It does not look across elements, so each dollar gets one of its own.
    escaped = re.sub(r"[$\\]", lambda mark: f"<span>{mark[0]}</span>", escape(text))
    return escaped.replace("\n", "<br>")
