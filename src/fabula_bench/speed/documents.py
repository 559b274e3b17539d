"""Documents of any number and size whose words and embeddings mean nothing: quickly made."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabula.graph import Edge, Node, Owner, Part, Record
from fabula.graph.parts import text_part
from fabula.graph.recipes import text_recipe
from fabula.text import ids
from fabula.text.document import Chunk, Document, Vector, Vectors

MODEL, DIMENSIONS = "random", 256
WORDS = (
    "amber", "anchor", "autumn", "beacon", "bridge", "candle", "castle", "clock", "copper",
    "crown", "desert", "dragon", "ember", "falcon", "feather", "forest", "garden", "ghost",
    "glass", "harbour", "hollow", "island", "ivory", "jewel", "kingdom", "lantern", "letter",
    "mirror", "moon", "mountain", "night", "ocean", "orchard", "palace", "prince", "raven",
    "river", "rose", "sailor", "shadow", "silver", "storm", "sword", "thief", "tower", "valley",
    "voyage", "whisper", "window", "winter",
)  # fmt: skip
CHUNK_WORDS = 40
"""Fewer than in a chunk of a book: what is written is mostly vectors."""


def documents(collection: str, numbers: range, chunks: int) -> Iterator[Part]:
    """The texts of documents of so many chunks, the same for the same numbers."""
    for number in numbers:
        draw = random.Random(number)
        vectors = to_unit(np.random.default_rng(number).standard_normal((chunks, DIMENSIONS)))
        title = f"The {' '.join(draw.sample(WORDS, 3))} number {number}".title()
        texts = [" ".join(draw.choices(WORDS, k=CHUNK_WORDS)) + f" {n}. " for n in range(chunks)]
        yield make_text(collection, number, title, texts, vectors)


def document_id(collection: str, number: int) -> str:
    """The id of a document."""
    return ids.document_id(collection, f"/books/{number:06d}.txt")


def make_text(
    collection: str, number: int, title: str, texts: Sequence[str], vectors: Vectors
) -> Part:
    """The text of a document of these chunks, whose ids are the document's and their numbers."""
    document = Document(
        id=document_id(collection, number),
        collection=collection,
        source=f"/books/{number:06d}.txt",
        title=title,
        author="Nobody",
        language="en",
        text="".join(texts),
        sections=(),
        sha256=f"{number:064x}",
    )
    starts = accumulate(map(len, texts), initial=0)
    chunks = [
        Chunk(
            f"{document.id}-{index:05d}",
            index,
            "",
            start,
            start + len(text),
            text,
            len(text.split()),
            vector,
        )
        for index, (text, start, vector) in enumerate(zip(texts, starts, vectors, strict=False))
    ]
    return text_part(document, chunks, text_recipe(document.sha256, 200, MODEL), {})


def make_node(
    id: str, label: str, text: str, below: Sequence[Node], vector: Vector, **properties: Any
) -> Node:
    """A passage or an element that rests on some chunks."""
    place = {name: below[0].properties[name] for name in ("section", "start", "end")}
    common = {"text": text, "tokens": len(text.split()), "aspect": "", "level": 0}
    own = {**place, **common, **properties}
    return Node(id, label, own, tuple(node.id for node in below), vector)


def make_part(
    text: Part, graph: str, nodes: Sequence[Node], edges: Sequence[Edge] = (), *elements: str
) -> Part:
    """The part of a graph over a text; `elements` are the labels of those nodes that are none."""
    made_from = {"graph": graph, "rests_on": {"text": text.record.fingerprint}}
    owner = Owner(text.owner.collection, graph, text.owner.document)
    return Part(owner, tuple(nodes), tuple(edges), Record(made_from), frozenset(elements))


def to_unit(vectors: NDArray[np.floating[Any]]) -> Vectors:
    """Vectors of length 1."""
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit
