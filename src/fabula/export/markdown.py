"""Answers as Markdown: their citations are footnotes, each with the sentence that bears it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from fabula.ask.answer import CITED, Answer
from fabula.ask.quotes import quote_cited
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.graph.hits import Quote, place

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(answer: Answer, books: Sequence[Entry] = ()) -> str:
    """The question as a heading, the answer, a footnote a citation, and the books it is from.

    Where no model was asked, the closest passages as block quotations.
    """
    return "\n\n".join([_answer(answer, "#", ""), *_books(books)])


def conversation(answers: Sequence[Answer], books: Sequence[Entry]) -> str:
    """The answers one after the other, and at the end the books that they are from."""
    told = [_answer(answer, "##", f"{number}-") for number, answer in enumerate(answers, start=1)]
    return "\n\n".join(["# A conversation", *told, *_books(books)])


def books_of(answers: Sequence[Answer], find: Callable[[str], Entry]) -> list[Entry]:
    """The documents that answers cite, in the order of the first citations; none that is gone.

    `find` finds a document by its id, and raises NotFound.
    """
    quotes = (one for answer in answers for one in answer.quotes or quote_cited(answer))
    books = []
    for id in dict.fromkeys(quote.hit.document for quote in quotes):
        with suppress(NotFound):
            books.append(find(id))
    return books


def told(
    question: str,
    text: str,
    quotes: Sequence[Quote],
    *,
    extracts: bool,
    heading: str = "#",
    series: str = "",
) -> str:
    """A question and its answer, which cites `quotes`, or, with `extracts`, is made of them.

    Footnotes of one `series` are told from those of another by its name.
    """
    title = f"{heading} {_plain(question)}"
    if extracts:
        return "\n\n".join([title, *map(_quotation, quotes)])
    text = CITED.sub(lambda cited: _references(cited, series), text)
    notes = "\n".join(_footnote(quote, series) for quote in quotes)
    return "\n\n".join(filter(None, [title, text, notes]))


def _answer(answer: Answer, heading: str, series: str) -> str:
    extracts = bool(answer.quotes)
    return told(
        answer.question,
        answer.text,
        answer.quotes if extracts else quote_cited(answer),
        extracts=extracts,
        heading=heading,
        series=series,
    )


def _references(cited: re.Match[str], series: str) -> str:
    return "".join(f"[^{series}{number}]" for number in re.findall(r"\d+", cited[1]))


def _footnote(quote: Quote, series: str) -> str:
    said = " ".join(quote.hit.text[start:end] for start, end in quote.matches)
    where = _plain(place(quote.hit, quote.matches))
    return f"[^{series}{quote.number}]: {where}" + (f": “{_plain(said)}”" if said else "")


def _books(books: Sequence[Entry]) -> list[str]:
    lines = [
        f"- {f'{_plain(book.author)}: ' if book.author else ''}*{_plain(book.title)}*"
        for book in books
    ]
    return ["**Books**", "\n".join(lines)] if books else []


def _quotation(quote: Quote) -> str:
    paragraphs = re.split(r"\n\s*\n", quote.hit.text.strip())
    quoted = "\n>\n".join(f"> {_plain(paragraph)}" for paragraph in paragraphs)
    return f"{quoted}\n>\n> — {_plain(place(quote.hit))}"


def _plain(text: str) -> str:
    """A text on one line, none of whose characters Markdown takes for its own."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
