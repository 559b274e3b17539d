"""Documents and passages as the API, the page and MCP show them."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from fabula.app.collection import Collection, CollectionGraph
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.graph import Record
from fabula.graph.entries import Entry, Layer
from fabula.graph.hits import Hit, shown_fields
from fabula.graph.structure import TextStructure
from fabula.load.version import READING_VERSION
from fabula.models.usage import Usage
from fabula.store.embedding_space import Space
from fabula.text.locator import LocatorLabels
from fabula.text.names import quote_name

END_OF_TEXT = 10**9
"""An offset beyond the last character of any text."""


class View(BaseModel):
    """The base class of all views; they are frozen."""

    model_config = ConfigDict(frozen=True)


UsageByStep = Mapping[str, Usage]


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


class GraphView(View):
    """A graph of a document; `gaps` is how many parts are missing, as a model or rule failed."""

    updated_at: str
    gaps: int
    usage: UsageByStep
    facts: dict[str, Any]

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return the view of a record."""
        return cls(
            updated_at=record.updated_at,
            gaps=record.gaps,
            usage=record.usage,
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
        """Return the view of a layer."""
        return cls(**asdict(layer))


class DocumentView(MoneyView):
    """A document in a list; `layers` and `stale` are null unless the request includes them.

    `outdated_reading` is whether an earlier version of Fabula read its file, so that another ingest
    of the file may read it better. `left_out` is how many characters of the file are not in the
    document's text, by kind, and `warnings` say what was wrong with the file.
    """

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
    published: str
    edition: str
    outdated_reading: bool
    left_out: dict[str, int]
    warnings: list[str]
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
        """Return the view of a catalogue entry."""
        names = (
            *("id", "collection", "title", "author", "language", "source", "sha256", "tokens"),
            *("created_at", "updated_at", "gaps", "published", "edition"),
        )
        fields = {name: getattr(entry, name) for name in names}
        return cls(
            **fields,
            outdated_reading=entry.reading < READING_VERSION,
            left_out=dict(entry.left_out),
            warnings=list(entry.warnings),
            graphs={name: GraphView.of(record) for name, record in entry.graphs.items()},
            usage=entry.usage,
            **money(settings, entry.usage),
            layers=None if layers is None else [LayerView.of(layer) for layer in layers],
            stale=None if stale is None else dict(stale),
        )


class CollectionView(View):
    """A collection, and the kinds and aspects by which its passages can be searched."""

    name: str
    documents: int
    embedding_model: str
    dimensions: int
    kinds: list[str]
    aspects: list[str]
    reembedding: bool

    @classmethod
    def of(cls, space: Space, documents: int) -> Self:
        """Return the view of a collection: its space and its number of documents."""
        return cls(
            name=space.collection,
            documents=documents,
            embedding_model=space.model,
            dimensions=space.dimensions,
            kinds=sorted({*space.kinds, *space.element_kinds}),
            aspects=[name for name in space.aspects if name],
            reembedding=bool(space.phase),
        )


class CollectionGraphView(GraphView):
    """A graph of the collection as a whole; `stale` is what has changed since it was built."""

    graph: str
    stale: list[str]

    @classmethod
    def of_graph(cls, graph: CollectionGraph) -> Self:
        """Return the view of a graph of the collection."""
        fields = GraphView.of(graph.record).model_dump()
        return cls(graph=graph.graph, stale=list(graph.stale), **fields)


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
