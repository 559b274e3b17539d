"""Models of a build without an endpoint: offline, or the stand-ins of a dry run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from building import finish
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graphs.aspects import GRAPH
from fabula.load import read_text
from fabula.models import Chat, Embedder
from fabula.models.counted import CountedChat, Meter
from fabula.models.offline import StaticEmbedder
from fabula.models.placeholders import PlaceholderChat
from fabula.models.roles import Role
from fabula.models.usage import Usage
from fabula.text.chunk import split

STATIC = StaticEmbedder()


@dataclass
class SmallModels:
    """No chat model where `offline`; else what a dry run has in its place."""

    offline: bool = True
    meter: Meter = field(default_factory=Meter)
    embedder: Embedder = STATIC
    static: Embedder = STATIC
    temperature: float = 0.5

    @property
    def batch(self) -> int:
        return self.embedder.batch

    def chat(self, role: Role, step: str) -> Chat:
        model = self.model(role)
        return CountedChat(PlaceholderChat(), self.meter, step, model)

    def model(self, role: Role) -> str:
        return "any"


class Heard:
    """Counts what a build tells of its steps."""

    def __init__(self) -> None:
        self.expected = 0
        self.steps_done = 0

    def expect(self, step: str, count: int) -> None:
        self.expected += count

    def done(self, step: str, usage: Usage) -> None:
        self.steps_done += 1


def read(text: str, known: Known, chunk_tokens: int = 48) -> BuildText:
    """A text as the core hands it over: chunks embedded, those that are known found again."""
    document = read_text(text, source="story.txt", collection="default")
    chunks = split(document, chunk_tokens, [chunk.text for chunk in known.chunks])
    vectors = STATIC.embed([chunk.text.strip() for chunk in chunks]).vectors
    embedded = (replace(one, embedding=row) for one, row in zip(chunks, vectors, strict=True))
    return BuildText(document, tuple(embedded))


def build(
    text: BuildText,
    models: SmallModels,
    known: Known = Known(),  # noqa: B008  it is immutable
    **knobs: Any,
) -> Built:
    """The aspect graph of a text."""
    assert GRAPH.build is not None
    work, heard = BuildWork(), Heard()
    wanted = GRAPH.build(text, GRAPH.options(**knobs), models, known, work)
    built = finish(wanted, models, work, heard, count=2)
    assert heard.expected == heard.steps_done
    return built


def as_known(text: BuildText, built: Built, means: Mapping[str, float] | None = None) -> Known:
    """What the store would give back of it, nodes by their ids."""
    bare = tuple(replace(chunk, embedding=chunk.embedding[:0]) for chunk in text.chunks)
    nodes = tuple(sorted(built.nodes, key=lambda node: node.id))
    return Known(bare, nodes, built.edges, built.facts, means or {})
