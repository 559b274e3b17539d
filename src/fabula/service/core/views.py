"""Documents, passages and answers as the API, the page and MCP show them."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from fabula.app.collection import Collection
from fabula.ask.checked_quotation import (
    CheckedQuotation,
    QuotationChange,
    QuotationStatus,
    WeakCitation,
)
from fabula.ask.scope import QuestionScope
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit, Passage, Quote, document_spans, shown_fields
from fabula.graph.structure import TextStructure
from fabula.graph.trace import TraceStep
from fabula.models.usage import Usage
from fabula.text.locator import LocatorLabels
from fabula.text.names import quote_name

END_OF_TEXT = 10**9
"""An offset beyond the last character of any text."""


class View(BaseModel):
    """The base class of all views; they are frozen."""

    model_config = ConfigDict(frozen=True)


class UsageView(View):
    """Calls and tokens of models, as `Usage` counts them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    saved: int = 0
    faults: int = 0
    saved_prompt_tokens: int = 0
    saved_completion_tokens: int = 0
    cached_tokens: int = 0
    batch_prompt_tokens: int = 0
    batch_completion_tokens: int = 0


UsageByStep = dict[str, UsageView]


def usage_view(usage: Mapping[str, Usage]) -> UsageByStep:
    """Return the view of the usage of each step."""
    return {step: UsageView(**used.counts) for step, used in usage.items()}


class MoneyView(View):
    """What something cost.

    `money` is in US dollars, as far as prices are known; null if no price is. `unpriced` are the
    models that were used and whose price is not known: `money` does not include them.
    """

    money: float | None
    unpriced: list[str] = []


def money(settings: Settings, usage: Mapping[str, Usage]) -> dict[str, Any]:
    """Return the cost of a usage as the fields of a `MoneyView`."""
    cost = settings.cost(usage)
    return {"money": cost.money, "unpriced": list(cost.unpriced)}


class SectionView(View):
    """A section: its heading, its path in the tree of sections, and where it begins.

    `depth` is that in the tree, from 1, and `start` a character of the document's text.
    """

    title: str
    path: str
    depth: int
    start: int


class LabelView(View):
    """A printed page or a numbered line, and the character at which it begins.

    The label '' ends the numbered lines before it.
    """

    label: str
    start: int


class ChunkView(View):
    """A chunk: `text[start:end]` of the document."""

    id: str
    index: int
    section: str
    start: int
    end: int


class TextView(View):
    """A document's cleaned text from character `start` to before `end`, out of `length`.

    `chunks` are those that overlap it; the first and the last may reach beyond it. `pages` and
    `lines` are the printed pages and numbered lines that begin in it, and the one that it begins
    in.
    """

    document: str
    title: str
    language: str
    start: int
    end: int
    length: int
    text: str
    sections: list[SectionView]
    chunks: list[ChunkView]
    pages: list[LabelView]
    lines: list[LabelView]


class PassageView(View):
    """A passage; `start` and `end` are characters of its document's cleaned text.

    `section` is the path of its section, as "BOOK NINE · CHAPTER XI". `pages` and `lines` are the
    labels of its printed pages and numbered lines, as "113-114"; '' where the document has none.
    `collection` is only named where several collections were asked together.
    """

    id: str
    kind: str
    document: str
    title: str
    language: str
    section: str
    aspect: str
    level: int
    start: int
    end: int
    text: str
    tokens: int
    score: float
    pages: str = ""
    lines: str = ""
    collection: str = ""

    @classmethod
    def of(cls, hit: Hit, **more: Any) -> Self:
        """Return the view of a hit."""
        return cls(**shown_fields(hit), **more)


class ReadView(PassageView):
    """A passage of the context of an answer, without sentences that another one has.

    `spans` are the character ranges of its sentences in the document's text.
    """

    number: int
    spans: list[tuple[int, int]]

    @classmethod
    def of_passage(cls, passage: Passage) -> Self:
        """Return the view of a passage of the context."""
        fields = shown_fields(passage.hit) | {"text": passage.text}
        spans = document_spans(passage.hit, passage.spans)
        return cls(**fields, number=passage.number, spans=spans)


class QuoteView(PassageView):
    """A quoted passage; `matches` are the character ranges of its text that bear the answer."""

    number: int
    matches: list[tuple[int, int]]

    @classmethod
    def of_quote(cls, quote: Quote) -> Self:
        """Return the view of a quote."""
        return cls(**shown_fields(quote.hit), number=quote.number, matches=list(quote.matches))

    def quote(self) -> Quote:
        """Return the quote of this view."""
        hit = Hit(**self.model_dump(exclude={"number", "matches"}))
        return Quote(self.number, hit, tuple(self.matches))


class QuotationView(View):
    """A quotation in an answer, compared with the documents that were asked.

    `start` and `end` are characters of the answer, with the marks. `status` is exact, near (in
    other spelling, case or punctuation), elsewhere (not where it is cited), not found, or
    unchecked. `printed` are the book's own words, at the characters `spans` of the document;
    of a quotation that was not found, the closest ones. `change` is repaired or unmarked, if the
    option `quotations` is strict, and `original` is what the model wrote before that.
    """

    text: str
    start: int
    end: int
    status: QuotationStatus
    printed: str = ""
    document: str = ""
    title: str = ""
    section: str = ""
    pages: str = ""
    lines: str = ""
    place: str = ""
    spans: list[tuple[int, int]] = []
    cited: list[int] = []
    differences: list[str] = []
    differs_in_words: bool = False
    change: QuotationChange = ""
    original: str = ""

    @classmethod
    def of_quotation(cls, quotation: CheckedQuotation) -> Self:
        """Return the view of a quotation."""
        hit = quotation.hit
        names = ("document", "title", "section", "pages", "lines")
        return cls(
            text=quotation.text,
            start=quotation.start,
            end=quotation.end,
            status=quotation.status,
            printed=quotation.printed,
            place=quotation.place,
            spans=list(quotation.spans),
            cited=list(quotation.cited),
            differences=list(quotation.differences),
            differs_in_words=quotation.differs_in_words,
            change=quotation.change,
            original=quotation.original,
            **{name: getattr(hit, name) for name in names if hit},
        )


class WeakCitationView(View):
    """A citation whose passage has no content word and no name of the sentence that cites it.

    `start` and `end` are the characters of the answer that are the citation.
    """

    number: int
    sentence: str
    start: int
    end: int

    @classmethod
    def of_weak(cls, weak: WeakCitation) -> Self:
        """Return the view of a weak citation."""
        return cls(**asdict(weak))


class StepHit(View):
    """A hit of a step: its score there, and whether the next step got it."""

    id: str
    score: float
    kept: bool


class StepView(View):
    """A step of a retrieval, with the steps inside it."""

    step: str
    note: str
    seconds: float
    hits: list[StepHit]
    steps: list[StepView]

    @classmethod
    def of(cls, step: TraceStep) -> Self:
        """Return the view of a step."""
        return cls(
            step=step.name,
            note=step.note,
            seconds=round(step.seconds, 6),
            hits=[
                StepHit(id=hit.id, score=hit.score, kept=hit.id in step.passed_on)
                for hit in step.hits
            ],
            steps=[cls.of(inner) for inner in step.steps],
        )


def document_of(collection: Collection, id: str) -> Entry:
    """Return the document of an id. Raises NotFound, also for a title or the start of an id."""
    for entry in collection.store.find_named(collection.name, id, 2, whole=True):
        if entry.id == id:
            return entry
    raise NotFound(
        f"There is no document {quote_name(id)} in collection {quote_name(collection.name)}."
    )


def version_of(entry: Entry, *more: object) -> str:
    """Return a digest that changes whenever a document, one of its graphs or `more` changes."""
    graphs = sorted((name, record.updated_at) for name, record in entry.graphs.items())
    content = repr((entry.sha256, entry.updated_at, graphs, more))
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def read_text(
    collection: Collection,
    entry: Entry,
    start: int = 0,
    end: int | None = None,
) -> TextView:
    """Return a part of a document's text, joined from its chunks, which tile the text.

    Args:
        collection: The document's collection. The text, its chunks and its sections end where its
            reader has come to.
        entry: The document.
        start: The first character.
        end: The character after the last one; None for the end of the text.

    """
    structure = collection.store.structure(entry)
    rows = collection.store.find_chunks(entry, 0, END_OF_TEXT)
    length = rows[-1]["end"] if rows else 0
    last = length if end is None else min(end, length)
    first = min(start, last)
    overlapping = [row for row in rows if row["end"] > first and row["start"] < last]
    pieces = [
        row["text"][max(0, first - row["start"]) : last - row["start"]] for row in overlapping
    ]
    return TextView(
        document=entry.id,
        title=entry.title,
        language=entry.language,
        start=first,
        end=last,
        length=length,
        text="".join(pieces),
        sections=_sections(structure),
        chunks=[
            ChunkView(**{key: row[key] for key in ChunkView.model_fields}) for row in overlapping
        ],
        pages=_labels(structure.pages, first, last),
        lines=_labels(structure.lines, first, last),
    )


def _sections(structure: TextStructure) -> list[SectionView]:
    outline = structure.outline
    rows = zip(outline.sections, structure.paths, outline.depths, strict=True)
    return [
        SectionView(title=section.title, path=path, depth=depth, start=section.start)
        for section, path, depth in rows
    ]


def _labels(labels: LocatorLabels, first: int, last: int) -> list[LabelView]:
    """Return the labels of a range of characters, with the one that it begins in."""
    begin = max(bisect_right(labels.starts, first) - 1, 0)
    end = max(bisect_left(labels.starts, last), begin)
    rows = zip(labels.labels[begin:end], labels.starts[begin:end], strict=True)
    return [LabelView(label=label, start=start) for label, start in rows]


class PlaceView(View):
    """Up to where the reader of an answer had read: nothing of what comes later was used.

    `name` says it in words, as "A Christmas Carol, up to the end of STAVE TWO (38 %)". `document`
    and `until`, its characters that were read, are those of a place in one text; `volumes` are the
    ids of the documents of a series that were read.
    """

    name: str
    document: str = ""
    until: int | None = None
    volumes: list[str] = []

    @classmethod
    def of(cls, scope: QuestionScope) -> PlaceView | None:
        """Return the place of a question; None if its reader had none."""
        if not scope.is_limited:
            return None
        return cls(
            name=scope.place,
            document=scope.document,
            until=scope.until,
            volumes=list(scope.volumes),
        )


class AnswerView(MoneyView):
    """An answer, the numbered passages it was given, and the numbers it cites.

    `sought` is the question as it was searched for. `quotes` are the cited passages with the
    sentences that bear the answer, or, if no model was asked, those that the answer consists of.
    `cut` is whether the answer ends at a limit of tokens, and not where the model would have ended.
    `quotations` are what the answer quotes, compared with the books, and `weak_citations` those
    whose passages have nothing to do with the sentences that cite them.
    `document` is the id of the only document that was asked, '' for all, and `place` is up to where
    the reader had read; null if the whole text was asked. `brief` are the summaries of the whole
    documents that a model was given beside the passages. `note` is what was assumed to understand a
    follow-up without a model.
    `kept` is whether the answer is saved in its conversation; null without a conversation.
    `warning` is what the reader has to know beside the answer, such as that it is not saved; ''
    if there is nothing. Where several collections were asked, `collections` are those that were
    searched, and `left_out` says of the others why they were not.
    """

    question: str
    sought: str
    answer: str
    cut: bool = False
    mode: str
    model: str
    offline: bool
    cited: list[int]
    context: list[ReadView]
    quotes: list[QuoteView]
    quotations: list[QuotationView] = []
    weak_citations: list[WeakCitationView] = []
    hits: list[PassageView]
    path: list[StepView]
    usage: UsageByStep
    seconds: float
    conversation: str | None = None
    turn: str | None = None
    kept: bool | None = None
    warning: str = ""
    document: str = ""
    place: PlaceView | None = None
    brief: str = ""
    note: str = ""
    collections: list[str] = []
    left_out: dict[str, str] = {}

    @property
    def scope(self) -> QuestionScope:
        """What the question was asked of."""
        if self.place is None:
            return QuestionScope(self.document)
        return QuestionScope(
            self.document, self.place.until, tuple(self.place.volumes), self.place.name
        )

    @property
    def documents(self) -> tuple[str, ...]:
        """The ids of the documents that the answer cites or quotes."""
        cited = {passage.document for passage in self.context if passage.number in self.cited}
        return tuple(sorted((cited | {quote.document for quote in self.quotes}) - {""}))
