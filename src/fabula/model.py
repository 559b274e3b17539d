"""What flows between the steps: small frozen values, from a document to an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabula.text.names import quoted

if TYPE_CHECKING:
    from fabula.graph import Record

Vector = NDArray[np.float32]
"""One embedding, shape (dimensions,), of unit length."""
Vectors = NDArray[np.float32]
"""Embeddings, shape (texts, dimensions), one unit row a text."""


def not_embedded() -> Vector:
    """The embedding of what has none yet, shape (0,)."""
    return np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the text and the character offset where it begins."""

    title: str
    start: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text, cleaned, with what its file says of it.

    `sections` are in text order; text before the first belongs to no section. `sha256` is of
    all that the graph is made from: the text, its sections, title, author and language.
    """

    id: str
    collection: str
    source: str
    title: str
    author: str
    language: str
    text: str
    sections: tuple[Section, ...]
    sha256: str

    def __repr__(self) -> str:
        return f"<Document {_named(self)}: {len(self.text):,} characters>"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole sentences: `document.text[start:end]`, offsets in characters."""

    id: str
    index: int
    section: str
    start: int
    end: int
    text: str
    tokens: int
    embedding: Vector = field(default_factory=not_embedded, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Chunk {self.index}, characters {self.start}-{self.end}: {_begun(self.text)}>"


@dataclass(frozen=True, slots=True)
class Usage:
    """What models were asked: calls answered, and tokens as the endpoint counted them.

    `saved` are calls that needed no asking, as the graph or the response cache had what they would
    have brought; `faults` are replies that failed, or could not be used, and were asked for again.
    The saved tokens are of what the response cache answered; those of a graph's are not known.
    `cached_tokens` are those of the prompts' that the endpoint had in its own prefix cache.
    `models` has the part of each model that was asked, by its name. What was recorded by an earlier
    version names no model, and neither do calls that a graph saved.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    saved: int = 0
    faults: int = 0
    saved_prompt_tokens: int = 0
    saved_completion_tokens: int = 0
    cached_tokens: int = 0
    models: Mapping[str, Usage] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={count}" for name, count in self.counts.items() if count)
        return f"Usage({told})"

    @classmethod
    def of_model(cls, model: str, usage: Usage) -> Usage:
        """Return a usage with the name of the one model that was asked."""
        return replace(usage, models={model: replace(usage, models={})})

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Usage:
        """Return a usage from what `row` made of it."""
        models = {name: cls.read(part) for name, part in row.get("models", {}).items()}
        return cls(**{**row, "models": models})

    @property
    def counts(self) -> dict[str, int]:
        """All numbers by their names."""
        return {name: getattr(self, name) for name in COUNTS}

    @property
    def row(self) -> dict[str, Any]:
        """The usage as JSON holds it; the part of each model only where models are known."""
        models = {name: part.counts for name, part in self.models.items()}
        return {**self.counts, "models": models} if models else dict(self.counts)

    @property
    def unnamed(self) -> Usage:
        """The part of which no model is known."""
        return self - sum(self.models.values(), Usage())

    @property
    def uncached(self) -> Usage:
        """What it would have been without a cache: what was saved counts as asked."""
        return Usage(
            self.calls + self.saved,
            self.prompt_tokens + self.saved_prompt_tokens,
            self.completion_tokens + self.saved_completion_tokens,
            faults=self.faults,
            models={name: part.uncached for name, part in self.models.items()},
        )

    def __add__(self, other: Usage) -> Usage:
        models = {**self.models}
        for name, part in other.models.items():
            models[name] = models[name] + part if name in models else part
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.saved + other.saved,
            self.faults + other.faults,
            self.saved_prompt_tokens + other.saved_prompt_tokens,
            self.saved_completion_tokens + other.saved_completion_tokens,
            self.cached_tokens + other.cached_tokens,
            models,
        )

    def __sub__(self, other: Usage) -> Usage:
        """Return what was added since `other`; no number is below 0."""
        counts = {name: max(0, getattr(self, name) - getattr(other, name)) for name in COUNTS}
        models = {
            name: part - other.models[name] if name in other.models else part
            for name, part in self.models.items()
        }
        return Usage(**counts, models=models)


COUNTS = tuple(one.name for one in fields(Usage) if one.name != "models")
"""The names of the numbers of a usage."""


def sum_usage(parts: Iterable[Mapping[str, Usage]]) -> dict[str, Usage]:
    """The usage of each step, or of each model, in all parts together."""
    total: dict[str, Usage] = {}
    for part in parts:
        for name, usage in part.items():
            total[name] = total.get(name, Usage()) + usage
    return total


@dataclass(frozen=True, slots=True)
class Filters:
    """Where retrieval looks: in one collection. What is empty lets all through.

    '' is the aspect of what has none, as chunks and details; levels are inclusive.
    """

    collection: str
    document: str = ""
    kinds: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    lowest: int = 0
    highest: int = 99


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found, and its score: the cosine, or what the ranking that found it says.

    `start` and `end` are character offsets in the document's cleaned text. A detail has those of
    its chunk; a summary those of the stretch of text that it summarises.
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

    def __repr__(self) -> str:
        return f"<Hit {self.score:.3f}: {_placed(self)}>"


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit as the context holds it: its number, and its sentences that no other hit said.

    `spans` are the stretches of `hit.text` that these are, in characters.
    """

    number: int
    hit: Hit
    text: str
    spans: tuple[tuple[int, int], ...]

    def __repr__(self) -> str:
        return f"<Passage {self.number}: {_placed(self.hit)}>"


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage that is quoted: `hit.text`, as the book prints it, if it is of the book.

    `number` is that of the passage in the context; `matches` are the stretches of `hit.text`, in
    characters, that are meant: sentences with the question's words, or with those of what cites it.
    """

    number: int
    hit: Hit
    matches: tuple[tuple[int, int], ...]

    def __repr__(self) -> str:
        return f"<Quote {self.number}: {_placed(self.hit)}>"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, the numbered passages it was given, and the numbers it cites.

    Where no model was asked, `quotes` are the passages that it is made of, the closest first.
    """

    question: str
    text: str
    hits: tuple[Hit, ...]
    context: tuple[Passage, ...]
    cited: tuple[int, ...]
    usage: Mapping[str, Usage] = field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()

    def __repr__(self) -> str:
        cited = f"{len(self.cited)} of {len(self.context)} passages cited"
        return f"<Answer to {quoted(self.question)}, {cited}: {_begun(self.text)}>"

    def _repr_html_(self) -> str:
        from fabula.ask.notebook import show_answer

        return show_answer(self)


class Turn(NamedTuple):
    """A question of a conversation, as it was asked, and what was answered."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as the graph lists it, with what each of its graphs was made from and cost."""

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
    graphs: Mapping[str, Record]

    def __repr__(self) -> str:
        return f"<Entry {self.id} {_named(self)}: {self.tokens:,} tokens, {', '.join(self.graphs)}>"

    @property
    def usage(self) -> dict[str, Usage]:
        """What each step of all its graphs asked of models."""
        return sum_usage(record.usage for record in self.graphs.values())

    @property
    def gaps(self) -> int:
        """How many pieces of all its graphs no model gave."""
        return sum(record.gaps for record in self.graphs.values())


@dataclass(frozen=True, slots=True)
class Layer:
    """How many passages of one kind, aspect and level a document has."""

    kind: str
    aspect: str
    level: int
    passages: int
    tokens: int


def place(hit: Hit, spans: Sequence[tuple[int, int]] = ()) -> str:
    """Where a hit is: document, section, what it is, and character offsets.

    `spans` are the stretches of its text that are meant, where it is not all of it.
    """
    what = f"{hit.aspect}, level {hit.level}" if hit.aspect else hit.kind
    where = ", ".join(f"{start}-{end}" for start, end in in_document(hit, spans))
    parts = [hit.title, hit.section, what, f"characters {where}"]
    return " · ".join(part for part in parts if part)


def in_document(hit: Hit, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches of a hit's text as those of its document, or all that it rests on.

    A summary and a detail are not in the document word by word.
    """
    if hit.kind != "chunk" or not spans:
        return [(hit.start, hit.end)]
    return [(hit.start + start, hit.start + end) for start, end in spans]


def _begun(text: str) -> str:
    """How a text begins, on one line, in quotation marks."""
    return quoted(" ".join(text[:200].split()))


def _placed(hit: Hit) -> str:
    title = f"{quoted(hit.title)}, characters {hit.start}-{hit.end}"
    what = f"{hit.aspect}, level {hit.level}" if hit.aspect else hit.kind
    return f"{what} of {title}: {_begun(hit.text)}"


def _named(document: Document | Entry) -> str:
    author = f" by {quoted(document.author)}" if document.author else ""
    return quoted(document.title) + author
