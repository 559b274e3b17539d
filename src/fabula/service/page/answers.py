"""An answer as the page shows it: its citations are links into the books, and it can be copied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.ask.answer import CITED
from fabula.export.markdown import told
from fabula.models import NO_ANSWER
from fabula.models.usage import Usage
from fabula.service.core.views import AnswerView, PassageView, QuoteView, ReadView
from fabula.service.http.addresses import address
from fabula.service.page.book import Span, merge, write_spans

MAX_PASSAGES = 500
"""Passages, or quotes, of an answer that is posted to be drawn."""
MAX_VALUES = 50_000
"""Values of all fields together, of an answer as JSON."""
MAX_SPANS = 500
"""Stretches of one passage."""
MAX_LIT = 50
"""Stretches of the passage that a link leads to which it has lit."""
MAX_ALSO = 20
"""Stretches of other citations that a link has lit, too: those that the answer cites first."""
MAX_QUESTION = 500
"""Characters of the question in a link."""
BETWEEN = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Run:
    """Words of an answer, or of a passage; `cites` is the number of a passage that they name."""

    text: str
    cites: int = 0
    is_meant: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A passage beside an answer: where it is, what of it is meant, and where it is read."""

    number: int
    passage: PassageView
    runs: tuple[Run, ...]
    url: str
    is_cited: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer as it is drawn. `extracts` are the cards that one without a model is made of."""

    view: AnswerView
    paragraphs: tuple[tuple[Run, ...], ...]
    cited: tuple[Card, ...]
    others: tuple[Card, ...]
    extracts: tuple[Card, ...]
    says_nothing: bool
    calls: int
    tokens: int
    markdown: str

    @property
    def mode(self) -> str:
        """The modes that found it."""
        return next((one.note for one in self.view.path if one.step == "retrieve"), "")

    @property
    def links(self) -> dict[int, str]:
        """Where each passage is read."""
        return {one.number: one.url for one in (*self.cited, *self.others)}


def refuse_many_values(posted: Any) -> Any:
    """Raise ValueError for more values than any answer has; return what was posted otherwise.

    Counted before they are validated: pydantic describes each that is wrong (60 s for a million).
    """
    count = 0
    waiting = [posted]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            count += len(one)
            if count > MAX_VALUES:
                raise ValueError(f"an answer that is drawn has at most {MAX_VALUES:,} values")
            waiting.extend(one.values() if isinstance(one, dict) else one)
    return posted


def refuse_large(view: AnswerView) -> AnswerView:
    """Raise ValueError for an answer of more than one page draws; return it otherwise.

    The page posts an answer back to be drawn, so that its sender may have made it up.
    """
    sizes = (len(view.context), len(view.quotes), len(view.cited), len(view.path))
    if max(sizes) > MAX_PASSAGES:
        raise ValueError(f"an answer that is drawn has at most {MAX_PASSAGES} passages")
    refuse_many_spans([*(one.spans for one in view.context), *(one.matches for one in view.quotes)])
    return view


def refuse_many_spans(spans: Sequence[Sequence[Span]]) -> None:
    """Raise ValueError where one of some passages has too many stretches."""
    if max(map(len, spans), default=0) > MAX_SPANS:
        raise ValueError(f"a passage that is drawn has at most {MAX_SPANS} stretches")


def lay_out(view: AnswerView, collection: str) -> Shown:
    """An answer with its passages in the order that it cites them, and then the rest."""
    view = _renumber(view)
    quotes = {one.number: one for one in view.quotes}
    read = {one.number: one for one in view.context}
    links = _links(view, collection)
    cited = dict.fromkeys(number for number in view.cited if number in read)
    cards = {
        number: Card(number, one, _marked(one, quotes.get(number)), links[number], number in cited)
        for number, one in read.items()
    }
    nothing = view.answer.strip() == NO_ANSWER
    spent = sum((Usage.read(one.model_dump()) for one in view.usage.values()), Usage())
    return Shown(
        view=view,
        paragraphs=tuple(_paragraphs(view.answer, set(read))),
        cited=tuple(cards[number] for number in cited),
        others=tuple(card for number, card in cards.items() if number not in cited),
        extracts=tuple(cards[one.number] for one in view.quotes if one.number in cards)
        if view.offline
        else (),
        says_nothing=nothing,
        calls=spent.calls,
        tokens=spent.prompt_tokens + spent.completion_tokens,
        markdown=told(
            view.question,
            view.answer,
            [one.quote() for one in view.quotes],
            extracts=bool(view.offline and view.quotes),
        )
        + "\n",
    )


def lay_out_context(context: Sequence[ReadView], collection: str, question: str) -> list[Card]:
    """The cards of the passages that an answer is being written from."""
    return [
        Card(one.number, one, (Run(one.text),), _link(one, None, (), collection, question), False)
        for one in context
    ]


def _renumber(view: AnswerView) -> AnswerView:
    """An answer whose passages are numbered as one sees them: those it cites, and then the rest."""
    read = dict.fromkeys(one.number for one in view.context)
    cited = dict.fromkeys(number for number in view.cited if number in read)
    order = [*cited, *(number for number in read if number not in cited)]
    places = {number: place for place, number in enumerate(order, start=1)}

    def write(found: re.Match[str]) -> str:
        numbers = [int(one) for one in re.findall(r"\d+", found[1])]
        if not places.keys() >= set(numbers):
            return found[0]
        return f"[{', '.join(str(places[number]) for number in numbers)}]"

    return view.model_copy(
        update={
            "answer": CITED.sub(write, view.answer),
            "cited": [places[number] for number in cited],
            "context": [
                one.model_copy(update={"number": places[one.number]}) for one in view.context
            ],
            "quotes": [
                one.model_copy(update={"number": places[one.number]})
                for one in view.quotes
                if one.number in places
            ],
        }
    )


def _paragraphs(text: str, numbers: set[int]) -> Iterator[tuple[Run, ...]]:
    for paragraph in filter(None, map(str.strip, BETWEEN.split(text))):
        runs: list[Run] = []
        at = 0
        for found in CITED.finditer(paragraph):
            cited = [int(one) for one in re.findall(r"\d+", found[1])]
            if not numbers.issuperset(cited):
                continue
            runs.append(Run(paragraph[at : found.start()]))
            runs += [Run(f"[{number}]", number) for number in cited]
            at = found.end()
        runs.append(Run(paragraph[at:]))
        yield tuple(run for run in runs if run.text)


def _marked(passage: ReadView, quote: QuoteView | None) -> tuple[Run, ...]:
    """A passage's text with what is meant of it marked; it is as the book prints it, if quoted."""
    if quote is None:
        return (Run(passage.text),)
    runs: list[Run] = []
    at = 0
    for start, end in merge(quote.matches):
        runs += [Run(quote.text[at:start]), Run(quote.text[start:end], is_meant=True)]
        at = end
    runs.append(Run(quote.text[at:]))
    return tuple(run for run in runs if run.text)


def _links(view: AnswerView, collection: str) -> Mapping[int, str]:
    """Where each passage is read, with what else the answer cites of its book."""
    quotes = {one.number: one for one in view.quotes}
    cited = set(view.cited)
    # The first of each document's citations, one more than are shown: a link leaves out its own.
    also: dict[str, list[tuple[int, Span]]] = {}
    for one in view.context:
        if one.number in cited and one.kind == "chunk":
            spans = _spans(one, quotes.get(one.number))[:MAX_ALSO]
            also.setdefault(one.document, []).extend((one.number, span) for span in spans)
    also = {document: spans[: 2 * MAX_ALSO] for document, spans in also.items()}
    return {
        one.number: _link(
            one,
            quotes.get(one.number),
            [span for number, span in also.get(one.document, ()) if number != one.number],
            collection,
            view.question,
        )
        for one in view.context
    }


def _link(
    passage: ReadView,
    quote: QuoteView | None,
    also: Sequence[Span],
    collection: str,
    question: str,
) -> str:
    place = {
        "chars": write_spans(_spans(passage, quote)[:MAX_LIT]),
        "also": write_spans(merge(also[:MAX_ALSO])),
    }
    if passage.kind != "chunk":
        place = {"passage": passage.id}
    shown = question[:MAX_QUESTION]
    return address("c", collection, "d", passage.document, **place, q=shown) + "#lit"


def _spans(passage: ReadView, quote: QuoteView | None) -> list[Span]:
    """The stretches of the book that are meant: of a quote's matches, or all that was read."""
    if quote is not None and quote.matches:
        return merge([(quote.start + start, quote.start + end) for start, end in quote.matches])
    return merge(passage.spans) or [(passage.start, passage.end)]
