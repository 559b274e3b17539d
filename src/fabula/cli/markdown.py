"""An answer as Markdown: its citations are footnotes, each with the sentence that bears it."""

from __future__ import annotations

import re

from fabula.answer import CITED
from fabula.model import Answer, Quote, place
from fabula.quotes import quote_cited

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(answer: Answer) -> str:
    """The question as a heading, the answer, and a footnote a citation.

    Where no model was asked, the closest passages as block quotations.
    """
    heading = f"# {_plain(answer.question)}\n"
    if answer.quotes:
        return "\n".join([heading, *map(_quotation, answer.quotes)])
    notes = [_footnote(quote) for quote in quote_cited(answer)]
    return "\n".join([heading, CITED.sub(_references, answer.text), "", *notes])


def _references(cited: re.Match[str]) -> str:
    return "".join(f"[^{number}]" for number in re.findall(r"\d+", cited[1]))


def _footnote(quote: Quote) -> str:
    said = " ".join(quote.hit.text[start:end] for start, end in quote.matches)
    where = _plain(place(quote.hit, quote.matches))
    return f"[^{quote.number}]: {where}" + (f": “{_plain(said)}”" if said else "")


def _quotation(quote: Quote) -> str:
    paragraphs = re.split(r"\n\s*\n", quote.hit.text.strip())
    quoted = "\n>\n".join(f"> {_plain(one)}" for one in paragraphs)
    return f"{quoted}\n>\n> — {_plain(place(quote.hit))}\n"


def _plain(text: str) -> str:
    """A text on one line, none of whose characters Markdown takes for its own."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
