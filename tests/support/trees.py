"""A small aspect graph, made by hand."""

from __future__ import annotations

import numpy as np

from fabula.graphs.aspects.ids import detail_id, summary_id
from fabula.graphs.aspects.values import ClusterMember, Detail, StoredAspects, Summary
from fabula.text.document import Chunk, Vector
from fabula.text.ids import chunk_id

DOCUMENT = "d"


def small_earlier(chunks: int = 4) -> StoredAspects:
    """Chunks, a plot and a theme tree of two levels, and two details a chunk."""
    made = tuple(_chunk(number) for number in range(chunks))
    summaries = tuple(one for aspect in ("plot", "theme") for one in _tree(aspect, made))
    details = tuple(_detail(chunk, ordinal) for chunk in made for ordinal in range(2))
    return StoredAspects(made, summaries, details)


def _chunk(number: int) -> Chunk:
    place = (number * 10, number * 10 + 10)
    text = f"word {number}."
    return Chunk(chunk_id(DOCUMENT, text, 0), number, "I", *place, text, 3, _vector(number))


def _tree(aspect: str, chunks: tuple[Chunk, ...]) -> list[Summary]:
    half = len(chunks) // 2
    parts = [[chunk.id for chunk in part] for part in (chunks[: half + 1], chunks[half:])]
    low = [_summary(aspect, 1, members) for members in parts]
    return [*low, _summary(aspect, 2, [one.id for one in low])]


def _summary(aspect: str, level: int, members: list[str]) -> Summary:
    weights = tuple(ClusterMember(member, 1 / (place + 1)) for place, member in enumerate(members))
    identity = summary_id(DOCUMENT, aspect, level, members)
    text = f"{aspect} at level {level}"
    return Summary(identity, aspect, level, "I", 0, 40, text, 5, weights, _vector(level))


def _detail(chunk: Chunk, ordinal: int) -> Detail:
    text = f"detail {ordinal} of {chunk.index}"
    identity = detail_id(chunk.id, ordinal)
    return Detail(
        identity, chunk.id, ordinal, "I", chunk.start, chunk.end, text, 4, _vector(ordinal)
    )


def _vector(seed: int) -> Vector:
    drawn = np.random.default_rng(seed).standard_normal(8).astype(np.float32)
    return drawn / np.linalg.norm(drawn)
