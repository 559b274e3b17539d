"""A graph as a stranger's package brings it: the sections of a text, each under its heading."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fabula.graph import Edge, Node
from fabula.graph.builds import Build
from fabula.graph.calls import Calls
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.method import BuildText, BuildWork, Built, Graph, Known
from fabula.graph.mode import Mode, Tools
from fabula.graph.queries import read_statement_file
from fabula.models import Reply
from fabula.models.roles import ModelProfile
from fabula.text import tokens
from fabula.text.document import Chunk

CYPHER = Path(__file__).parent / "cypher"


class Options(BaseModel):
    """The table `[sections]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: int = Field(12, ge=1, description="words of a section's beginning that stand for it")


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its heading, how it begins, and its chunks."""

    heading: str
    beginning: str
    chunks: tuple[Chunk, ...]

    @property
    def text(self) -> str:
        """What is embedded."""
        return f"{self.heading}\n{self.beginning}"


def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Make a passage of each section, an element of each heading, and edges to the chunks."""
    sections = [_section(list(chunks), options.words) for chunks in _group(text.chunks)]
    ids = [
        _id(text.document.id, str(place), section.text) for place, section in enumerate(sections)
    ]
    nodes: list[Node] = []
    edges = [Edge("NEXT_SECTION", first, second) for first, second in pairwise(ids)]
    for id, section in zip(ids, sections, strict=True):
        passage, heading = _nodes(id, section)
        nodes += [passage, heading]
        edges.append(Edge("HEADED", passage.id, heading.id))
        edges += [Edge("COVERS", passage.id, chunk.id) for chunk in section.chunks]
    embedded = yield from Calls(models, work).embed_nodes(nodes, known)
    facts = {"sections": len(sections), "words": options.words}
    return Built(tuple(embedded), tuple(edges), facts)


def _group(chunks: Sequence[Chunk]) -> Iterator[Iterable[Chunk]]:
    for _, section in groupby(chunks, key=lambda chunk: chunk.section):
        yield section


def _section(chunks: Sequence[Chunk], words: int) -> Section:
    beginning = " ".join(chunk.text for chunk in chunks).split()[:words]
    return Section(chunks[0].section, " ".join(beginning), tuple(chunks))


def _nodes(id: str, section: Section) -> tuple[Node, Node]:
    """Return a section's passage, and its heading, which is found by the section's text."""
    first, last = section.chunks[0], section.chunks[-1]
    shared = {
        "name": section.heading,
        "aspect": "",
        "section": section.heading,
        "start": first.start,
    }
    passage = {"level": 1, "end": last.end, **_text(section.text)}
    heading = {
        "level": 0,
        "end": first.end,
        **_text(section.heading),
        "embedded_text": section.text,
    }
    sources = tuple(chunk.id for chunk in section.chunks)
    return (
        Node(id, "Section", shared | passage, sources),
        Node(_id(id, "heading"), "Heading", shared | heading, sources[:1]),
    )


def _text(text: str) -> dict[str, Any]:
    return {"text": text, "tokens": tokens.count(text)}


def _id(*parts: str) -> str:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=10).hexdigest()


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
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
    options=Options,
    build=build,
    passages=("Section",),
    elements=("Heading",),
    edges=("NEXT_SECTION", "HEADED", "COVERS"),
    modes={
        "contents": Mode(retrieve, "sections alone", Width, "sections", answer),
        "headings": Mode(retrieve_headings, "headings alone", graph="sections"),
    },
    cypher=CYPHER,
    describe=describe,
)
