"""What is told of documents, passages and answers: the same to the API, the page and MCP."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict

from fabula.app.collection import Collection, Settled
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.graph import Record
from fabula.graph.entries import Entry, Layer
from fabula.graph.hits import Hit, Passage, Quote, in_document
from fabula.graph.path import Step
from fabula.models.usage import Usage
from fabula.store.space import Space
from fabula.text.names import quoted

if TYPE_CHECKING:
    pass


WHOLE = 10**9
"""Beyond the last character of any text."""


class View(BaseModel):
    """What is told; it does not change."""

    model_config = ConfigDict(frozen=True)


class UsageView(View):
    """What models were asked: as `Usage` counts it."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    saved: int = 0
    faults: int = 0
    saved_prompt_tokens: int = 0
    saved_completion_tokens: int = 0
    cached_tokens: int = 0


UsageByStep = dict[str, UsageView]


def usage_view(usage: Mapping[str, Usage]) -> UsageByStep:
    """The usage of each step."""
    return {step: UsageView(**one.counts) for step, one in usage.items()}


class MoneyView(View):
    """What something cost.

    `money` is in US dollars, as far as prices are known; null where no price is. `unpriced` are the
    models that were asked and whose price is not known: what they cost is not in `money`.
    """

    money: float | None
    unpriced: list[str] = []


def money(settings: Settings, usage: Mapping[str, Usage]) -> dict[str, Any]:
    """What a usage cost, as the fields of a `MoneyView`."""
    cost = settings.cost(usage)
    return {"money": cost.money, "unpriced": list(cost.unpriced)}


class GraphView(View):
    """A graph of a document: when it was made, what it cost, and how much of it no model gave."""

    updated_at: str
    gaps: int
    usage: UsageByStep
    facts: dict[str, Any]

    @classmethod
    def of(cls, record: Record) -> Self:
        """That of a record."""
        return cls(
            updated_at=record.updated_at,
            gaps=record.gaps,
            usage=usage_view(record.usage),
            facts=dict(record.facts),
        )


class LayerView(View):
    """How many passages of one kind, aspect and level a document has."""

    kind: str
    aspect: str
    level: int
    passages: int
    tokens: int

    @classmethod
    def of(cls, layer: Layer) -> Self:
        """That of a layer."""
        return cls(**asdict(layer))


class DocumentView(MoneyView):
    """A document as a list shows it; `layers` and `stale` where they are asked for."""

    id: str
    collection: str
    title: str
    author: str
    language: str
    source: str
    sha256: str
    tokens: int
    created_at: str
    updated_at: str
    gaps: int
    graphs: dict[str, GraphView]
    usage: UsageByStep
    layers: list[LayerView] | None = None
    stale: dict[str, list[str]] | None = None

    @classmethod
    def of(
        cls,
        entry: Entry,
        settings: Settings,
        layers: Iterable[Layer] | None = None,
        stale: Mapping[str, list[str]] | None = None,
    ) -> Self:
        """That of an entry."""
        own = ("id", "collection", "title", "author", "language", "source", "sha256", "tokens")
        told = {name: getattr(entry, name) for name in (*own, "created_at", "updated_at", "gaps")}
        return cls(
            **told,
            graphs={name: GraphView.of(one) for name, one in entry.graphs.items()},
            usage=usage_view(entry.usage),
            **money(settings, entry.usage),
            layers=None if layers is None else [LayerView.of(one) for one in layers],
            stale=None if stale is None else dict(stale),
        )


class CollectionView(View):
    """A collection: how much is in it, and what its passages may be searched by."""

    name: str
    documents: int
    embedding_model: str
    dimensions: int
    kinds: list[str]
    aspects: list[str]
    reembedding: bool

    @classmethod
    def of(cls, space: Space) -> Self:
        """That of its embedding space."""
        return cls(
            name=space.collection,
            documents=space.documents,
            embedding_model=space.model,
            dimensions=space.dimensions,
            kinds=sorted({*space.kinds, *space.element_kinds}),
            aspects=[one for one in space.aspects if one],
            reembedding=bool(space.phase),
        )


class SettledView(GraphView):
    """A graph of the collection itself; `stale` is what it would be made from otherwise now."""

    graph: str
    stale: list[str]

    @classmethod
    def made(cls, settled: Settled) -> Self:
        """That of what is settled."""
        told = GraphView.of(settled.record).model_dump()
        return cls(graph=settled.graph, stale=list(settled.stale), **told)


class SectionView(View):
    """A heading, and the character where what it is of begins."""

    title: str
    start: int


class ChunkView(View):
    """A stretch of the text: `text[start:end]` of the document."""

    id: str
    index: int
    section: str
    start: int
    end: int


class TextView(View):
    """A document's cleaned text from character `start` to before `end`.

    `length` is all of it. `chunks` tile it; the first and the last may reach beyond what is told.
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


class PassageView(View):
    """A passage; characters are those of its document's cleaned text."""

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

    @classmethod
    def of(cls, hit: Hit, **more: Any) -> Self:
        """That of a hit."""
        return cls(**asdict(hit), **more)


class ReadView(PassageView):
    """A passage as an answer was given it: its number, and its sentences that no other said.

    `spans` are those in the document's text, from a character to before another.
    """

    number: int
    spans: list[tuple[int, int]]

    @classmethod
    def read(cls, passage: Passage) -> Self:
        """That of a passage of the context."""
        told = asdict(passage.hit) | {"text": passage.text}
        spans = in_document(passage.hit, passage.spans)
        return cls(**told, number=passage.number, spans=spans)


class QuoteView(PassageView):
    """A passage that is quoted; `matches` are the stretches of its text that are meant."""

    number: int
    matches: list[tuple[int, int]]

    @classmethod
    def quoted(cls, quote: Quote) -> Self:
        """That of a quote."""
        return cls(**asdict(quote.hit), number=quote.number, matches=list(quote.matches))

    def quote(self) -> Quote:
        """What it shows."""
        hit = Hit(**self.model_dump(exclude={"number", "matches"}))
        return Quote(self.number, hit, tuple(self.matches))


class FoundBy(View):
    """A hit of a step: its score there, and whether it went on."""

    id: str
    score: float
    kept: bool


class StepView(View):
    """A step of a retrieval, how long it took, and the steps inside it."""

    step: str
    note: str
    seconds: float
    hits: list[FoundBy]
    steps: list[StepView]

    @classmethod
    def of(cls, step: Step) -> Self:
        """That of a step."""
        return cls(
            step=step.name,
            note=step.note,
            seconds=round(step.seconds, 6),
            hits=[
                FoundBy(id=hit.id, score=hit.score, kept=hit.id in step.kept) for hit in step.hits
            ],
            steps=[cls.of(inner) for inner in step.steps],
        )


def document_of(shelf: Collection, id: str) -> Entry:
    """The document of that id. Raises NotFound; a title or the beginning of an id is none."""
    found = shelf.store.named(shelf.name, id, 2, whole=True)
    for entry in found:
        if entry.id == id:
            return entry
    raise NotFound(f"There is no document {quoted(id)} in collection {quoted(shelf.name)}.")


def version_of(entry: Entry, *more: object) -> str:
    """What changes whenever a document, one of its graphs or what is said of it changes."""
    parts = sorted((name, one.updated_at) for name, one in entry.graphs.items())
    told = repr((entry.sha256, entry.updated_at, parts, more))
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def read_text(shelf: Collection, entry: Entry, start: int = 0, end: int | None = None) -> TextView:
    """A stretch of a document's text, put together of its chunks, which tile it."""
    rows = shelf.store.text(entry, 0, WHOLE)
    length = rows[-1]["end"] if rows else 0
    last = length if end is None else min(end, length)
    first = min(start, last)
    held = [row for row in rows if row["end"] > first and row["start"] < last]
    cut = [row["text"][max(0, first - row["start"]) : last - row["start"]] for row in held]
    return TextView(
        document=entry.id,
        title=entry.title,
        language=entry.language,
        start=first,
        end=last,
        length=length,
        text="".join(cut),
        sections=_sections(rows),
        chunks=[ChunkView(**{key: row[key] for key in ChunkView.model_fields}) for row in held],
    )


def _sections(rows: Sequence[Mapping[str, Any]]) -> list[SectionView]:
    """Where each section begins; one whose heading comes again begins again."""
    found: list[SectionView] = []
    for row in rows:
        if row["section"] and (not found or found[-1].title != row["section"]):
            found.append(SectionView(title=row["section"], start=row["start"]))
    return found


class AnswerView(MoneyView):
    """An answer, the numbered passages it was given, and the numbers it cites.

    `sought` is the question as it was searched with. `quotes` are passages that are cited, with
    what bears it, or, where no model was asked, those that the answer is made of. `kept` is whether
    the answer is in its conversation by now; null where it is of none. `warning` says what its
    reader has to know beside the answer, as that it is not kept; else ''.
    """

    question: str
    sought: str
    answer: str
    mode: str
    model: str
    offline: bool
    cited: list[int]
    context: list[ReadView]
    quotes: list[QuoteView]
    hits: list[PassageView]
    path: list[StepView]
    usage: UsageByStep
    seconds: float
    conversation: str | None = None
    turn: str | None = None
    kept: bool | None = None
    warning: str = ""
