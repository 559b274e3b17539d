"""Documents built in this process, as an ingest builds them: no database, no cache."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from endpoint import Endpoint
from fabula.build.driver import run
from fabula.build.outcome import SilentProgress
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.graph import TEXT, Part
from fabula.graph.installed import graph
from fabula.graph.method import BuildText, BuildWork, Known
from fabula.graph.parts import part_of, text_part
from fabula.load import read_text
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.roles import Models
from fabula.models.usage import Usage
from fabula.text.chunk import split
from fabula.text.document import Chunk, Document

GRAPH = "aspects"


def read(text: str, collection: str = "bench", source: str = "bench") -> Document:
    """A text as a document in English, so that no time goes into finding its language."""
    return read_text(
        text, source=source, collection=collection, title=source, author="", language="en"
    )


def cut(kit: ModelFactory, document: Document, known: Sequence[Chunk] = ()) -> tuple[Chunk, ...]:
    """A document's chunks; those that are known already have their embeddings."""
    settings = kit.recipes(document.sha256, ())[TEXT]["settings"]
    bare = split(document, settings["chunk_tokens"], [chunk.text for chunk in known])
    embedded = {chunk.id: chunk.embedding for chunk in known}
    return tuple(
        replace(node, embedding=embedded[node.id]) if node.id in embedded else node for node in bare
    )


def make(
    kit: ModelFactory,
    document: Document,
    chunks: Sequence[Chunk],
    models: Models,
    known: Known = Known(),  # noqa: B008  it is immutable
) -> tuple[Part, Part]:
    """The parts of a document: its text, and its aspect graph."""
    method = graph(GRAPH)
    assert method.build is not None
    recipes = kit.recipes(document.sha256, [method])
    with TaskGroup(kit.workers) as job:
        text = BuildText(document, _embed(chunks, models, job))
        work = BuildWork()
        wanted = method.build(text, kit.graph_options(method), models, known, work)
        built = run(wanted, work, models, job, SilentProgress())
    base = text_part(document, text.chunks, recipes[TEXT], {})
    return base, part_of(method, text, built, recipes[GRAPH], {})


def _embed(chunks: Sequence[Chunk], models: Models, job: TaskGroup) -> tuple[Chunk, ...]:
    bare = [chunk for chunk in chunks if not len(chunk.embedding)]
    size = models.embedder.batch
    batches = [bare[start : start + size] for start in range(0, len(bare), size)]

    def embed(batch: Sequence[Chunk]) -> list[Chunk]:
        vectors = models.embedder.embed([chunk.text.strip() for chunk in batch]).vectors
        return [replace(node, embedding=row) for node, row in zip(batch, vectors, strict=True)]

    made = {node.id: node for batch in job.each(0, embed, batches) for node in batch}
    return tuple(made.get(chunk.id, chunk) for chunk in chunks)


@dataclass(frozen=True, slots=True)
class Made:
    """A document's chunks and aspect graph, what each step of their making cost, and seconds."""

    chunks: tuple[Chunk, ...]
    aspects: Part
    steps: Mapping[str, Usage]
    seconds: float

    @property
    def usage(self) -> Usage:
        return sum(self.steps.values(), Usage())

    def known(self) -> Known:
        """What the store would give back of it."""
        part = self.aspects
        return Known(self.chunks, part.nodes, part.edges, part.record.facts)

    def means(self) -> dict[str, float]:
        """Means of what was written, which a dry run learns from."""
        facts = self.aspects.record.facts
        return {name: value for name, value in facts.items() if name.startswith("mean_")}


class Maker:
    """Makes documents with one kit."""

    def __init__(self, kit: ModelFactory) -> None:
        self.kit = kit

    def made(self, text: str, known: Known = Known()) -> Made:  # noqa: B008  it is immutable
        """A text as a graph."""
        return self._make(text, known, dry=False)

    def expected(self, text: str, means: Mapping[str, float]) -> Usage:
        """What a dry run says of it."""
        return self._make(text, Known(means=means), dry=True).usage

    def _make(self, text: str, known: Known, *, dry: bool) -> Made:
        document, meter = read(text), Meter()
        models = self.kit.models(meter, dry=dry)
        began = time.monotonic()
        chunks = cut(self.kit, document, known.chunks)
        body, aspects = make(self.kit, document, chunks, models, known)
        seconds = time.monotonic() - began
        vectors = {node.id: node.embedding for node in body.nodes if node.embedding is not None}
        embedded = tuple(replace(chunk, embedding=vectors[chunk.id]) for chunk in chunks)
        return Made(embedded, aspects, meter.usage(), seconds)


@contextmanager
def making(endpoint: Endpoint, **settings: Any) -> Iterator[Maker]:
    """A maker that asks this endpoint."""
    flags = {"base_url": endpoint.url, "api_key": "any", "cache": False, **settings}
    kit = ModelFactory(Settings.read(**flags))
    try:
        yield Maker(kit)
    finally:
        kit.close()
