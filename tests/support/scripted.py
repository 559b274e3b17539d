"""A chat that says of a story what a test wants said, for the tests of the entity graph."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from building import finish
from fabula.graph import Gap
from fabula.graph.extraction import TextWindow
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graph.parts import known_of, part_of
from fabula.graphs.entities import GRAPH
from fabula.graphs.entities.build import build
from fabula.graphs.entities.options import Options
from fabula.models import Chat, Embeddings, Prompt, Reply, TextKind
from fabula.models.counted import CountedChat, Meter
from fabula.models.roles import Role
from fabula.text import ids
from fabula.text.document import Chunk, Document
from graphs import vector

Records = Mapping[str, Sequence[Mapping[str, Any]]]
NOTHING: Records = {"entities": [], "relations": []}


def entity(name: str, *parts: Any, **other: Any) -> dict[str, Any]:
    """A record as a model writes it."""
    record = {"type": "person", "aliases": [], "description": f"{name} is there."}
    return {"name": name, **record, "parts": list(parts), **other}


def relation(source: str, target: str, *parts: Any, **other: Any) -> dict[str, Any]:
    """A record as a model writes it."""
    record = {"description": f"{source} meets {target}.", "keywords": ["meeting"], "strength": 5}
    return {"source": source, "target": target, **record, "parts": list(parts), **other}


def made_chunks(*texts: str, section: str = "I", tokens: int = 100) -> tuple[Chunk, ...]:
    """Chunks that tile a text."""
    found: list[Chunk] = []
    start = 0
    for index, text in enumerate(texts):
        id = ids.chunk_id("d", text, 0)
        found.append(Chunk(id, index, section, start, start + len(text), text, tokens))
        start += len(text)
    return tuple(found)


def window(*texts: str) -> TextWindow:
    """A window of chunks with these texts."""
    return TextWindow(made_chunks(*texts))


def told(chunks: Sequence[Chunk], language: str = "en") -> BuildText:
    """A document of these chunks."""
    text = "".join(chunk.text for chunk in chunks)
    return BuildText(
        Document("d", "default", "d.txt", "D", "", language, text, (), "sha"), tuple(chunks)
    )


@dataclass
class Says:
    """A chat that replies what `say` makes of the prompt's text; keeps what it was asked."""

    say: Callable[[str], str]
    prompts: list[Prompt] = field(default_factory=list)

    def complete(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        return Reply(self.say(prompt.user + prompt.correction))

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Nothing is kept."""


def script(by_words: Mapping[str, Records], gleaned: Mapping[str, Records] = {}) -> Says:
    """Says of each window what is scripted for the first words that its passages have."""

    def say(user: str) -> str:
        if "<statements>" in user:
            return "All of this was said."
        if "state?" in user:
            return json.dumps({"triples": []})
        is_gleaned = "What was missed" in user
        passages = user.partition("<passages>")[2].partition("</passages>")[0]
        own = re.sub(r"\[before\] .*", "", passages)
        for words, records in (gleaned if is_gleaned else by_words).items():
            if words in own:
                return json.dumps(records)
        return json.dumps(NOTHING)

    return Says(say)


class Hashed:
    """An embedder of small vectors, equal ones for equal texts; keeps what it was sent."""

    model, batch = "hashed", 16

    def __init__(self) -> None:
        self.sent: list[str] = []

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        import zlib

        import numpy as np

        self.sent += texts
        return Embeddings(np.stack([vector(zlib.crc32(text.encode())) for text in texts]))


@dataclass
class Models:
    """What a build is given: `fabula.models.roles.Models` of a scripted chat."""

    says: Chat
    offline: bool = False
    temperature: float = 0.5
    meter: Meter = field(default_factory=Meter)
    embedder: Hashed = field(default_factory=Hashed)

    @property
    def batch(self) -> int:
        return self.embedder.batch

    @property
    def static(self) -> Hashed:
        return self.embedder

    def chat(self, role: Role, step: str) -> Chat:
        return CountedChat(self.says, self.meter, step, "m")

    def model(self, role: Role) -> str:
        return "scripted"


def built(
    chunks: Sequence[Chunk], models: Models, known: Known | None = None, **knobs: Any
) -> tuple[Built, tuple[Gap, ...]]:
    """What a build makes of chunks, with a worker for each call."""
    work = BuildWork()
    wanted = build(told(chunks), Options(**knobs), models, known or Known(), work)
    made = finish(wanted, models, work)
    return made, made.gaps


def known_from(made: Built, chunks: Sequence[Chunk]) -> Known:
    """What the next build of the same document knows."""
    part = part_of(GRAPH, told(chunks), made, {}, {})
    return known_of(part, tuple(chunks), {})
