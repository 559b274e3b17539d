"""Format answers as Markdown: citations become footnotes with the sentences that support them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from contextlib import suppress

from fabula.ask.answer import CITATION, Answer
from fabula.ask.quotations.checked import CheckedQuotation, WeakCitation
from fabula.ask.quotations.passage_quotes import quote_cited
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.graph.hits import Quote, describe_place

_MARKS = re.compile(r"[\\`*{}\[\]<>#|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
"""What would be read as markup anywhere; an underscore between two letters is not."""
_LINE_MARKS = re.compile(r"^(\d*)(?=(?:[-+.)]|=+|-+)(?:\s|$))")
"""What would make a line a rule or an item of a list, as dialogue that begins with a hyphen."""


def markdown(answer: Answer, books: Sequence[Entry] = ()) -> str:
    """Return the question as a heading, the answer with footnotes for citations, and the books.

    An answer without a model is the closest passages, as block quotations.
    """
    return "\n\n".join([_answer(answer, "#", ""), *_books(books)])


def conversation(answers: Sequence[Answer], books: Sequence[Entry]) -> str:
    """Return answers one after the other, and at the end the books that they cite."""
    parts = [_answer(answer, "##", f"{number}-") for number, answer in enumerate(answers, start=1)]
    return "\n\n".join(["# A conversation", *parts, *_books(books)])


def books_of(answers: Sequence[Answer], find: Callable[[str], Entry]) -> list[Entry]:
    """Return the documents that answers cite, in the order of the first citations.

    Documents that were removed are left out. `find` returns a document by its id, or raises
    NotFound.
    """
    quotes = (quote for answer in answers for quote in answer.quotes or quote_cited(answer))
    books = []
    for id in dict.fromkeys(quote.hit.document for quote in quotes):
        with suppress(NotFound):
            books.append(find(id))
    return books


def format_answer(
    question: str,
    text: str,
    quotes: Sequence[Quote],
    *,
    extracts: bool,
    heading: str = "#",
    series: str = "",
    warnings: Sequence[str] = (),
) -> str:
    """Return a question and its answer as Markdown.

    Args:
        question: The heading.
        text: The answer, which cites the quotes by their numbers.
        quotes: What it cites.
        extracts: The answer has no text of its own: show the quotes.
        heading: The mark of the heading.
        series: A prefix of footnotes, so that those of several answers differ.
        warnings: What is to be said of its quotations; see `describe_quotations`.
    """
    title = f"{heading} {escape_markdown(question)}"
    if extracts:
        return "\n\n".join([title, *map(_quotation, quotes)])
    known = {quote.number for quote in quotes}
    text = CITATION.sub(lambda cited: _references(cited, known, series), text)
    notes = "\n".join(_footnote(quote, series) for quote in quotes)
    listed = "\n".join(f"- {warning}" for warning in warnings)
    return "\n\n".join(filter(None, [title, text, listed, notes]))


def describe_quotations(quotations: Sequence[CheckedQuotation]) -> list[str]:
    """Return what a reader has to know of the quotations of an answer, as lines of Markdown.

    Nothing is said of those that are exact, or differ in white space and marks alone.
    """
    return [line for each in quotations if (line := each.describe(escape_markdown))]


def describe_weak(weak: Sequence[WeakCitation], series: str = "") -> list[str]:
    """Return a line of Markdown for each citation whose passage does not bear its sentence."""
    return [
        f"Weak citation[^{series}{each.number}]: the passage has no word of "
        f"“{escape_markdown(each.sentence)}”."
        for each in weak
    ]


def _answer(answer: Answer, heading: str, series: str) -> str:
    extracts = bool(answer.quotes)
    return format_answer(
        answer.question,
        answer.text,
        answer.quotes if extracts else quote_cited(answer),
        extracts=extracts,
        heading=heading,
        series=series,
        warnings=()
        if extracts
        else [
            *describe_quotations(answer.quotations),
            *describe_weak(answer.weak_citations, series),
            *filter(None, [escape_markdown(answer.citation_warning)]),
        ],
    )


def _references(cited: re.Match[str], known: Container[int], series: str) -> str:
    """Return citations as footnotes; a number that no passage has stays as it is."""
    numbers = map(int, re.findall(r"\d+", cited[1]))
    return "".join(f"[^{series}{each}]" if each in known else f"[{each}]" for each in numbers)


def _footnote(quote: Quote, series: str) -> str:
    sentences = " ".join(quote.hit.text[start:end] for start, end in quote.matches)
    where = escape_markdown(describe_place(quote.hit, quote.matches))
    return f"[^{series}{quote.number}]: {where}" + (
        f": “{escape_markdown(sentences)}”" if sentences else ""
    )


def _books(books: Sequence[Entry]) -> list[str]:
    lines = [
        f"- {f'{escape_markdown(book.author)}: ' if book.author else ''}"
        f"*{escape_markdown(book.title)}*"
        for book in books
    ]
    return ["**Books**", "\n".join(lines)] if books else []


def _quotation(quote: Quote) -> str:
    paragraphs = re.split(r"\n\s*\n", quote.hit.text.strip())
    quoted = "\n>\n".join(f"> {escape_markdown(paragraph)}" for paragraph in paragraphs)
    return f"{quoted}\n>\n> — {escape_markdown(describe_place(quote.hit))}"


def escape_markdown(text: str) -> str:
    """Return a text as one line in which nothing is markup."""
    # A no-break space stays, as between a number and its unit.
    line = _MARKS.sub(lambda match: f"\\{match[0]}", re.sub(r"[^\S\u00a0]+", " ", text).strip())
    return _LINE_MARKS.sub(lambda match: f"{match[1]}\\", line)
