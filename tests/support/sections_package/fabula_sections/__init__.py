"""A graph as a stranger's package brings it: the sections of a text, each under its heading."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fabula.graph import Edge, Node
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.method import BuildText, BuildWork, Built, Graph, Known
from fabula.graph.mode import Mode, Tools
from fabula.graph.queries import read_statement_file
from fabula.models import Reply
from fabula.models.roles import Models
from fabula.text import tokens
from fabula.text.document import Chunk, Vector

CYPHER = Path(__file__).parent / "cypher"


class Knobs(BaseModel):
    """The table `[sections]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: int = Field(12, ge=1, description="words of a section's beginning that stand for it")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A section: its heading, how it begins, and the chunks that it is."""

    heading: str
    beginning: str
    chunks: tuple[Chunk, ...]

    @property
    def text(self) -> str:
        """What is embedded."""
        return f"{self.heading}\n{self.beginning}"


def build(text: BuildText, knobs: Knobs, models: Models, known: Known, work: BuildWork) -> Built:
    """A passage for each section, an element for each heading, and the chunks below."""
    found = [_stretch(list(chunks), knobs.words) for chunks in _sections(text.chunks)]
    ids = [_id(text.document.id, str(place), one.text) for place, one in enumerate(found)]
    texts: dict[str, str] = {}
    nodes: list[Node] = []
    edges = [Edge("NEXT_SECTION", one, other) for one, other in pairwise(ids)]
    for id, one in zip(ids, found, strict=True):
        section, heading = _nodes(id, one)
        nodes += [section, heading]
        texts |= {section.id: one.text, heading.id: one.text}
        edges.append(Edge("HEADED", section.id, heading.id))
        edges += [Edge("COVERS", section.id, chunk.id) for chunk in one.chunks]
    kept = {node.id: node.embedding for node in known.nodes if node.embedding is not None}
    missing = {id: text for id, text in texts.items() if id not in kept}
    vectors = kept | dict(_embed(missing, models, work))
    embedded = tuple(replace(node, embedding=vectors[node.id]) for node in nodes)
    return Built(embedded, tuple(edges), {"sections": len(found), "words": knobs.words})


def _sections(chunks: Sequence[Chunk]) -> Iterator[Iterable[Chunk]]:
    for _, section in groupby(chunks, key=lambda chunk: chunk.section):
        yield section


def _stretch(chunks: Sequence[Chunk], words: int) -> Stretch:
    said = " ".join(chunk.text for chunk in chunks).split()
    return Stretch(chunks[0].section, " ".join(said[:words]), tuple(chunks))


def _embed(
    texts: Mapping[str, str], models: Models, work: BuildWork
) -> Iterator[tuple[str, Vector]]:
    waiting = iter(texts.items())
    while batch := list(islice(waiting, models.embedder.batch)):
        work.progress.expect("embeddings", 1)
        vectors = models.embedder.embed([text for _, text in batch]).vectors
        work.progress.done("embeddings", models.meter.total())
        yield from zip((id for id, _ in batch), vectors, strict=True)


def _nodes(id: str, one: Stretch) -> tuple[Node, Node]:
    """A section and its heading, which is found by what it is the heading of."""
    first, last = one.chunks[0], one.chunks[-1]
    shared = {"name": one.heading, "aspect": "", "section": one.heading, "start": first.start}
    section = {"level": 1, "end": last.end, **_said(one.text)}
    heading = {"level": 0, "end": first.end, **_said(one.heading), "embedded_text": one.text}
    sources = tuple(chunk.id for chunk in one.chunks)
    return (
        Node(id, "Section", shared | section, sources),
        Node(_id(id, "heading"), "Heading", shared | heading, sources[:1]),
    )


def _said(text: str) -> dict[str, Any]:
    return {"text": text, "tokens": tokens.count(text)}


def _id(*parts: str) -> str:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=10).hexdigest()


def tell(facts: Mapping[str, Any]) -> Sequence[str]:
    """What a build says of itself."""
    return [f"{facts['sections']} sections, {facts['words']} words of each"]


# Its own way to ask


class Width(BaseModel):
    """The table `[contents]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(50, ge=1, description="sections that the index is asked for")


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The sections whose beginnings are nearest."""
    vector = tools.embed(question)
    with tools.trace.step("contents") as step:
        statement = read_statement_file(CYPHER / "find_sections.cypher")
        hits = tools.find_hits(statement, vector, filters, depth=tools.options.width, limit=tools.k)
        step.record(hits)
    return hits


def retrieve_headings(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The headings whose sections begin nearest; no other mode finds them."""
    return tools.elements(tools.embed(question), filters, tools.k, ["heading"])


def answer(
    question: str, context: Sequence[Passage], filters: Filters, tools: Tools
) -> Iterator[Reply]:
    """Where to read, and no more: a table of contents."""
    del question, filters, tools
    for passage in context:
        yield Reply(f"Read {passage.hit.section} [{passage.number}]. ")


GRAPH = Graph(
    name="sections",
    about="the sections of a text, each under its heading",
    version=2,
    options=Knobs,
    build=build,
    passages=("Section",),
    elements=("Heading",),
    edges=("NEXT_SECTION", "HEADED", "COVERS"),
    modes={
        "contents": Mode(retrieve, "sections alone", Width, "sections", answer),
        "headings": Mode(retrieve_headings, "headings alone", graph="sections"),
    },
    cypher=CYPHER,
    describe=tell,
)
