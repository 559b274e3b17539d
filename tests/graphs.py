"""Small graphs made by hand, for tests of the store and of what reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from fabula import ids
from fabula.graphs.aspects.values import Detail, Member, Summary
from fabula.model import Chunk, Document, Section, Usage, Vector

DIMENSIONS = 8
BUILT = {"chunk_tokens": 200, "embedding_model": "test-model"}
"""The settings that a graph is said to be built with."""

Passage = TypeVar("Passage", Chunk, Summary, Detail)


@dataclass(frozen=True, slots=True)
class DocumentGraph:
    """A document, its chunks, and what their aspect graph is made of."""

    document: Document
    chunks: tuple[Chunk, ...]
    summaries: tuple[Summary, ...]
    details: tuple[Detail, ...]
    assigned: tuple[str, ...] = ()
    usage: Mapping[str, Usage] = field(default_factory=dict)


def vector(seed: int, dimensions: int = DIMENSIONS) -> Vector:
    """A unit vector, the same for the same seed."""
    drawn = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return drawn / np.linalg.norm(drawn)


def small_graph(
    source: str = "a.txt", chunks: int = 4, words: str = "word", collection: str = "default"
) -> DocumentGraph:
    """Chunks, a plot and a theme tree of two levels, and two details a chunk."""
    document = Document(
        id=ids.document_id(collection, source),
        collection=collection,
        source=source,
        title=source.removesuffix(".txt").title(),
        author="Nobody",
        language="en",
        text="",
        sections=(Section("I", 0),),
        sha256=f"sha of {words}",
    )
    seeds = iter(range(10_000))
    made = tuple(_chunk(document, number, words, next(seeds)) for number in range(chunks))
    summaries = [
        summary
        for aspect in ("plot", "theme")
        for summary in _tree(document, aspect, made, [next(seeds) for _ in range(3)])
    ]
    details = tuple(
        Detail(
            ids.detail_id(chunk.id, ordinal),
            chunk.id,
            ordinal,
            chunk.section,
            chunk.start,
            chunk.end,
            f"detail {ordinal} of {words} {chunk.index}",
            4,
            vector(next(seeds)),
        )
        for chunk in made
        for ordinal in range(2)
    )
    usage = {"details": Usage(chunks, 100, 10), "embed": Usage(2, 50, 0)}
    return DocumentGraph(document, made, tuple(summaries), details, ("theme",), usage)


def in_space(graph: DocumentGraph, dimensions: int) -> DocumentGraph:
    """The same graph with other embeddings."""
    return replace(
        graph,
        chunks=tuple(_moved(one, dimensions) for one in graph.chunks),
        summaries=tuple(_moved(one, dimensions) for one in graph.summaries),
        details=tuple(_moved(one, dimensions) for one in graph.details),
    )


def _moved(passage: Passage, dimensions: int) -> Passage:
    return replace(passage, embedding=vector(len(passage.text), dimensions))


def _chunk(document: Document, number: int, words: str, seed: int) -> Chunk:
    text = f"{words} {number}."
    identity = ids.chunk_id(document.id, text, 0)
    return Chunk(identity, number, "I", number * 10, number * 10 + 10, text, 3, vector(seed))


def _tree(
    document: Document, aspect: str, chunks: tuple[Chunk, ...], seeds: list[int]
) -> list[Summary]:
    half = len(chunks) // 2
    low = [
        _summary(document, aspect, 1, [chunk.id for chunk in part], seed)
        for part, seed in zip((chunks[: half + 1], chunks[half:]), seeds, strict=False)
    ]
    return [*low, _summary(document, aspect, 2, [one.id for one in low], seeds[2])]


def _summary(document: Document, aspect: str, level: int, members: list[str], seed: int) -> Summary:
    weights = tuple(Member(member, 1 / (place + 1)) for place, member in enumerate(members))
    identity = ids.summary_id(document.id, aspect, level, members)
    text = f"{aspect} at level {level}"
    return Summary(identity, aspect, level, "I", 0, 40, text, 5, weights, vector(seed))
