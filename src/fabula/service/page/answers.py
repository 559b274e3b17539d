"""An answer as the page shows it, with links into the books, and as Markdown to copy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabula.ask.answer import CITATION
from fabula.ask.quotations.checked import CheckedQuotation
from fabula.export.markdown import describe_quotations, describe_weak, format_answer
from fabula.graph.hits import Hit
from fabula.library.reading import merge_spans
from fabula.models import NO_ANSWER
from fabula.operations.shown_answer import ShownAnswer, ShownPassage, ShownQuote
from fabula.service.http.addresses import address
from fabula.service.page.book import Span, write_spans

MAX_HIGHLIGHTS = 50
"""Ranges of a passage that a link to it highlights."""
MAX_ALSO = 20
"""Ranges of other citations that a link highlights too; the answer's first citations come first."""
MAX_QUESTION = 500
"""Characters of the question in a link."""
MAX_BEFORE_MATCH = 160
"""Characters of a passage that are shown before its first match, where only a few lines are."""
SENTENCE_START = re.compile(r"[.!?][\"”’']?\s+|\n\s*\n")
PARAGRAPH_BREAK = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of an answer's or a passage's text."""

    text: str
    cites: int = 0
    """The number of the passage that it cites, or 0."""
    is_highlighted: bool = False
    quotation: str = ""
    """Whether it is a quotation that is not as the books have it: near, elsewhere or missing."""
    is_weak: bool = False
    """Whether it is a citation whose passage has nothing to do with its sentence."""


@dataclass(frozen=True, slots=True)
class QuotationNote:
    """What the page says of a quotation that is not as the books have it."""

    view: CheckedQuotation
    url: str
    """The address of its place in the book; '' if it has none."""


@dataclass(frozen=True, slots=True)
class Card:
    """A passage beside an answer."""

    number: int
    passage: Hit
    runs: tuple[TextRun, ...]
    url: str
    """The address of the passage in its book."""

    @property
    def excerpt(self) -> tuple[TextRun, ...]:
        """Its text where only a few lines are shown: what stands long before a match is cut."""
        runs = self.runs
        if runs:
            # Blank lines after a passage would be empty lines of the excerpt.
            runs = (*runs[:-1], replace(runs[-1], text=runs[-1].text.rstrip()))
        first = next((at for at, run in enumerate(runs) if run.is_highlighted), 0)
        before = "".join(run.text for run in runs[:first])
        if len(before) <= MAX_BEFORE_MATCH:
            return runs
        # The sentence before the match, or its words, lead to it.
        lead = before[-MAX_BEFORE_MATCH:]
        sentences = SENTENCE_START.search(lead)
        start = sentences.end() if sentences else lead.find(" ") + 1
        return (TextRun(f"… {lead[start:].lstrip()}"), *runs[first:])


@dataclass(frozen=True, slots=True)
class AnswerLayout:
    """An answer with all that the page shows of it."""

    view: ShownAnswer
    paragraphs: tuple[tuple[TextRun, ...], ...]
    cited: tuple[Card, ...]
    uncited: tuple[Card, ...]
    extracts: tuple[Card, ...]
    """The passages that an answer without a model consists of."""
    says_nothing: bool
    """Whether the answer is that the books do not say it."""
    calls: int
    tokens: int
    markdown: str
    quotation_notes: tuple[QuotationNote, ...] = ()
    """Those of quotations of which a reader has to know something."""

    @property
    def exact_quotations(self) -> int:
        """How many quotations are as the books have them, but for white space and marks."""
        return len(self.view.quotations) - len(self.quotation_notes)

    @property
    def links(self) -> dict[int, str]:
        """The address of each passage by its number."""
        return {card.number: card.url for card in (*self.cited, *self.uncited)}


def lay_out(view: ShownAnswer, collection: str) -> AnswerLayout:
    """Lay out an answer, with its passages in the order in which it cites them."""
    view = _renumber(view)
    quotes = {quote.number: quote for quote in view.quotes}
    context = {passage.number: passage for passage in view.context}
    links = _links(view, collection)
    cited = dict.fromkeys(number for number in view.cited if number in context)
    cards = {
        number: Card(number, passage, _highlight(passage, quotes.get(number)), links[number])
        for number, passage in context.items()
    }
    usage = view.total_usage
    return AnswerLayout(
        view=view,
        paragraphs=tuple(_paragraphs(view, set(context))),
        cited=tuple(cards[number] for number in cited),
        uncited=tuple(card for number, card in cards.items() if number not in cited),
        extracts=tuple(cards[quote.number] for quote in view.quotes if quote.number in cards)
        if view.offline
        else (),
        says_nothing=view.answer.strip() == NO_ANSWER,
        calls=usage.calls,
        tokens=usage.prompt_tokens + usage.completion_tokens,
        markdown=format_answer(
            view.question,
            view.answer,
            [each.quote for each in view.quotes],
            extracts=bool(view.offline and view.quotes),
            warnings=[
                *describe_quotations(view.quotations),
                *describe_weak(view.weak_citations),
            ],
        )
        + "\n",
        quotation_notes=tuple(_notes(view, collection)),
    )


def lay_out_context(context: Sequence[ShownPassage], collection: str, question: str) -> list[Card]:
    """Return the cards of the passages that an answer is being written from."""
    return [
        Card(
            passage.number,
            passage,
            (TextRun(passage.text),),
            _link(passage, None, (), collection, question),
        )
        for passage in context
    ]


def _renumber(view: ShownAnswer) -> ShownAnswer:
    """Number the passages in the order of the page: the cited ones first, then the others."""
    context = dict.fromkeys(passage.number for passage in view.context)
    cited = dict.fromkeys(number for number in view.cited if number in context)
    order = [*cited, *(number for number in context if number not in cited)]
    new_numbers = {number: place for place, number in enumerate(order, start=1)}

    moved: list[tuple[int, int]] = []
    """By how much what follows each citation is moved, as its numbers are longer or shorter."""

    def rewrite(citation: re.Match[str]) -> str:
        numbers = [int(digits) for digits in re.findall(r"\d+", citation[1])]
        if not new_numbers.keys() >= set(numbers):
            return citation[0]
        new = f"[{', '.join(str(new_numbers[number]) for number in numbers)}]"
        moved.append((citation.end(), len(new) - len(citation[0])))
        return new

    answer = CITATION.sub(rewrite, view.answer)

    def move(place: int) -> int:
        return place + sum(change for end, change in moved if end <= place)

    return replace(
        view,
        answer=answer,
        quotations=tuple(
            replace(quotation, start=move(quotation.start), end=move(quotation.end))
            for quotation in view.quotations
        ),
        weak_citations=tuple(
            replace(
                weak, number=new_numbers[weak.number], start=move(weak.start), end=move(weak.end)
            )
            for weak in view.weak_citations
            if weak.number in new_numbers
        ),
        cited=tuple(new_numbers[number] for number in cited),
        context=tuple(
            replace(passage, number=new_numbers[passage.number]) for passage in view.context
        ),
        quotes=tuple(
            replace(quote, number=new_numbers[quote.number])
            for quote in view.quotes
            if quote.number in new_numbers
        ),
    )


def _paragraphs(view: ShownAnswer, numbers: set[int]) -> Iterator[tuple[TextRun, ...]]:
    """Split an answer into paragraphs; a citation of a number without a passage is marked."""
    text = view.answer
    weak = {(each.end, each.number) for each in view.weak_citations}
    bounds = [match.span() for match in PARAGRAPH_BREAK.finditer(text)]
    starts = [0, *(end for _, end in bounds)]
    ends = [*(start for start, _ in bounds), len(text)]
    for first, last in zip(starts, ends, strict=True):
        runs: list[TextRun] = []
        at = first
        for citation in CITATION.finditer(text, first, last):
            cited = [int(digits) for digits in re.findall(r"\d+", citation[1])]
            runs += _text_runs(view, at, citation.start())
            runs += [
                TextRun(f"[{number}]", number, is_weak=(citation.end(), number) in weak)
                if number in numbers
                else TextRun(f"[{number}]", quotation="" if view.offline else "missing citation")
                for number in cited
            ]
            at = citation.end()
        runs += _text_runs(view, at, last)
        if "".join(run.text for run in runs).strip():
            yield tuple(run for run in runs if run.text)


def _text_runs(view: ShownAnswer, start: int, end: int) -> Iterator[TextRun]:
    """Yield a stretch of an answer, with quotations that are not as the books have them."""
    at = start
    for quotation in view.quotations:
        kind = _kind(quotation)
        first, last = max(at, quotation.start), min(end, quotation.end)
        if kind and first < last:
            yield TextRun(view.answer[at:first])
            yield TextRun(view.answer[first:last], quotation=kind)
            at = last
    yield TextRun(view.answer[at:end])


def _kind(quotation: CheckedQuotation) -> str:
    """Return how the page marks a quotation; '' if a reader has to know nothing of it."""
    if quotation.status == "not found":
        return "missing"
    if quotation.status == "near":
        return "near" if quotation.differs_in_words else ""
    return {"elsewhere": "elsewhere", "unchecked": "unchecked"}.get(quotation.status, "")


def _notes(view: ShownAnswer, collection: str) -> Iterator[QuotationNote]:
    for quotation in view.quotations:
        if not _kind(quotation):
            continue
        url = ""
        if quotation.document:
            place = {"chars": write_spans(quotation.spans[:MAX_HIGHLIGHTS])}
            url = address("c", collection, "d", quotation.document, **place) + "#lit"
        yield QuotationNote(quotation, url)


def _highlight(passage: ShownPassage, quote: ShownQuote | None) -> tuple[TextRun, ...]:
    """Return a passage's text with its quoted ranges highlighted."""
    if quote is None:
        return (TextRun(passage.text),)
    # A quote has the text as the book prints it; the passage has it as the model read it.
    runs: list[TextRun] = []
    at = 0
    for start, end in merge_spans(quote.matches):
        runs += [TextRun(quote.text[at:start]), TextRun(quote.text[start:end], is_highlighted=True)]
        at = end
    runs.append(TextRun(quote.text[at:]))
    return tuple(run for run in runs if run.text)


def _links(view: ShownAnswer, collection: str) -> Mapping[int, str]:
    """Return the address of each passage, with the answer's other citations of the same book."""
    quotes = {quote.number: quote for quote in view.quotes}
    cited = set(view.cited)
    also: dict[str, list[tuple[int, Span]]] = {}
    for passage in view.context:
        if passage.number in cited and passage.kind == "chunk":
            spans = _spans(passage, quotes.get(passage.number))[:MAX_ALSO]
            also.setdefault(passage.document, []).extend((passage.number, span) for span in spans)
    # A link leaves out its own passage's ranges, which are MAX_ALSO at most: with twice as many,
    # enough are left for each link, and the time stays bounded.
    also = {document: spans[: 2 * MAX_ALSO] for document, spans in also.items()}
    return {
        passage.number: _link(
            passage,
            quotes.get(passage.number),
            [span for number, span in also.get(passage.document, ()) if number != passage.number],
            collection,
            view.question,
        )
        for passage in view.context
    }


def _link(
    passage: ShownPassage,
    quote: ShownQuote | None,
    also: Sequence[Span],
    collection: str,
    question: str,
) -> str:
    place = {
        "chars": write_spans(_spans(passage, quote)[:MAX_HIGHLIGHTS]),
        "also": write_spans(merge_spans(also[:MAX_ALSO])),
    }
    if passage.kind != "chunk":
        place = {"passage": passage.id}
    short = question[:MAX_QUESTION]
    return address("c", collection, "d", passage.document, **place, q=short) + "#lit"


def _spans(passage: ShownPassage, quote: ShownQuote | None) -> list[Span]:
    """Return the ranges to highlight: the matches of the quote, or the whole passage."""
    if quote is not None and quote.matches:
        return merge_spans(
            [(quote.start + start, quote.start + end) for start, end in quote.matches]
        )
    return merge_spans(passage.spans) or [(passage.start, passage.end)]
