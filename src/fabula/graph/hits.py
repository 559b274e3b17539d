"""Passages as retrieval finds them, where to look for them, and where they are in a document.

A field of a hit is declared in `Hit`, and returned by every statement with the projection
`{.id, ...} AS hit`; tests/store/test_cypher.py holds them equal. What is shown of a hit is decided
in `fabula.operations.shown_answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

from pydantic import Field

from fabula.graph.structure import TextStructure
from fabula.text import tokens
from fabula.text.document import excerpt
from fabula.text.locator import name_labels
from fabula.text.metadata import Metadata
from fabula.text.names import quote_name

ALL_ROWS = 2**31 - 1
"""A limit of rows that no statement reaches."""
NO_LIMIT = 2**62
"""The place of a reader who may see everything: after all characters, and after `NEVER`."""
NEVER = 2**53
"""The `last` of what no reader with a place may see, as it rests on no single text."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Where retrieval looks: in one collection. What is empty lets all through.

    '' is the aspect of what has none, as chunks and details; levels are inclusive. `documents` are
    the ids of the only documents that count, where these are neither all nor the one `document`. If
    they are the volumes of a series that the reader has read, `read` says so in words.
    """

    collection: str
    document: str = ""
    kinds: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    lowest: int = 0
    highest: int = 99
    documents: tuple[str, ...] = ()
    read: str = field(default="", compare=False)

    @property
    def open(self) -> Filters:
        """The same collection and documents, with all kinds, aspects and levels."""
        return Filters(self.collection, self.document, documents=self.documents)

    @property
    def is_part(self) -> bool:
        """Whether not all documents of the collection count."""
        return bool(self.document or self.documents)

    def allows(self, kind: str, aspect: str = "", level: int = 0) -> bool:
        """Return whether a passage or an element of this kind, aspect and level counts."""
        return (
            (not self.kinds or kind in self.kinds)
            and (not self.aspects or aspect in self.aspects)
            and self.lowest <= level <= self.highest
        )

    def let_through(self, document: str) -> bool:
        """Return whether a document counts."""
        return document in self.documents if self.documents else self.document in ("", document)


@dataclass(frozen=True, slots=True)
class ConditionStep:
    """A step of a condition on documents, in postfix order.

    Attributes:
        do: A comparison by '=', '<', '<=', '>', '>=' or 'contains', which puts a truth value onto a
            stack; or 'and', 'or' and 'not', which replace the last ones there.
        properties: Of a comparison: the properties of a document's node; the first that it has
            counts.
        texts: What is compared with, as texts in small letters.
        numbers: Those that are numbers.
    """

    do: str
    properties: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk that a node rests on, with its place in its document's text."""

    chunk: str
    document: str
    section: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found, and its score: the cosine, or what the ranking that found it says.

    `start` and `end` are character offsets in the document's cleaned text. A detail has those of
    its chunk; a summary those of the stretch of text that it summarises. `pages` and `lines` are
    the labels of the printed pages and the numbered lines that are meant, as "113-114", where the
    document has them, and `metadata` are the fields of the document. No statement returns these:
    `locate` reads them from the structure. `collection` is named only where several collections
    were asked together. `since` is how many characters of the document a reader must have read to
    be shown the hit, as its node has it; None if it was not made from a node by the projection. It
    is not shown itself, also not in JSON.
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
    metadata: Metadata = field(default_factory=dict, compare=False)
    since: Annotated[int | None, Field(exclude=True)] = field(
        default=None, compare=False, repr=False
    )

    def __repr__(self) -> str:
        return f"<Hit {self.score:.3f}: {describe_hit(self)}>"


SHOWN_FIELDS = tuple(each.name for each in fields(Hit) if each.name != "since")
"""The fields of a hit that are shown to people and programs."""


def shown_fields(hit: Hit) -> dict[str, Any]:
    """Return the fields of a hit that are shown, by their names."""
    return {name: getattr(hit, name) for name in SHOWN_FIELDS}


def read_hit(row: Mapping[str, Any]) -> Hit:
    """Return the hit in a row of a statement.

    Args:
        row: The hit's fields as a map in the column `hit`, beside it its `score`, 0.0 if there is
            none. The statement of another package may return each field as a column instead.
    """
    if "hit" in row:
        return Hit(**row["hit"], score=row.get("score", 0.0))
    return Hit(**row)


def make_hit(row: Mapping[str, Any], text: str, score: float = 0.0, **others: Any) -> Hit:
    """Return a hit with a text that was made of a row; what this and `others` lack is empty."""
    names = ("id", "kind", "document", "title", "language", "section", "aspect", "level", "start")
    empty: dict[str, Any] = {"language": "", "section": "", "aspect": "", "level": 0}
    place = empty | {name: row[name] for name in (*names, "end") if name in row} | others
    return Hit(**place, text=text, tokens=tokens.count(text), score=score)


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
        return f"<Passage {self.number}: {describe_hit(self.hit)}>"


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage that is quoted: `hit.text`, as the book prints it, if it is of the book.

    `number` is that of the passage in the context; `matches` are the stretches of `hit.text`, in
    characters, that are meant: sentences with the question's words, or with those of what cites it.
    `key` is the stretch that an excerpt begins from; it is empty if none is better than others.
    """

    number: int
    hit: Hit
    matches: tuple[tuple[int, int], ...]
    key: tuple[int, int] = (0, 0)

    def __repr__(self) -> str:
        return f"<Quote {self.number}: {describe_hit(self.hit)}>"


def describe_place(hit: Hit, spans: Sequence[tuple[int, int]] = ()) -> str:
    """Return where a hit is, for people: document, section, what it is, character offsets.

    Where several collections were asked, the collection comes first. What is a passage of the text
    needs no word for it.

    `spans` are the stretches of its text that are meant; all of it if there are none.
    """
    what = f"{hit.aspect}, level {hit.level}" if hit.aspect else hit.kind
    what = "" if what == "chunk" else what
    where = ", ".join(f"{start}-{end}" for start, end in document_spans(hit, spans))
    labels = (name_labels("page", hit.pages), name_labels("line", hit.lines))
    parts = [hit.collection, hit.title, hit.section, *labels, what, f"characters {where}"]
    return " · ".join(part for part in parts if part)


def name_place(hit: Hit, *, with_title: bool = False) -> str:
    """Return where a hit is as a prompt says it: its section, pages or lines, and what it is.

    A chunk is the book's own text, which needs no word; anything else is named, as "summary, plot".

    Args:
        hit: The hit, with the labels of its pages and lines.
        with_title: Whether the document's title comes first, and before it the collection, where
            several were asked.
    """
    what = "" if hit.kind == "chunk" else f"{hit.kind}, {hit.aspect}" if hit.aspect else hit.kind
    labels = (name_labels("page", hit.pages), name_labels("line", hit.lines))
    book = (hit.collection, hit.title) if with_title else ()
    parts = [*book, hit.section, *labels, what]
    return " · ".join(part for part in parts if part)


def locate(
    hit: Hit,
    structures: Mapping[str, TextStructure],
    spans: Sequence[tuple[int, int]] = (),
) -> Hit:
    """Return a hit with the labels of its printed pages and numbered lines, and its metadata.

    Args:
        hit: The hit.
        structures: The structures of documents, by their ids.
        spans: The stretches of its text that are meant; all of it if there are none.
    """
    structure = structures.get(hit.document)
    if structure is None:
        return hit
    if structure.metadata:
        hit = replace(hit, metadata=structure.metadata)
    if not (structure.pages.labels or structure.lines.labels):
        return hit
    # Not the whole passage, where a sentence is meant: a reader looks the page up.
    meant = document_spans(hit, spans)
    return replace(hit, pages=structure.pages.range(meant), lines=structure.lines.range(meant))


def document_spans(hit: Hit, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches of a hit's text as character offsets in its document.

    A summary or a detail is not in the document word by word: then it is all that it rests on.
    """
    if hit.kind != "chunk" or not spans:
        return [(hit.start, hit.end)]
    return [(hit.start + start, hit.start + end) for start, end in spans]


def describe_hit(hit: Hit) -> str:
    """Return what a hit is, of which document, and how it begins, for a developer."""
    title = f"{quote_name(hit.title)}, characters {hit.start}-{hit.end}"
    what = f"{hit.aspect}, level {hit.level}" if hit.aspect else hit.kind
    return f"{what} of {title}: {excerpt(hit.text)}"
