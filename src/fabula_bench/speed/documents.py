"""Documents of any number and size whose words and embeddings mean nothing: quickly made."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from fabula.graph import Part
from fabula.graph.parts import text_part
from fabula.graph.recipes import text_recipe
from fabula.text import ids
from fabula.text.document import Chunk, Document

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
    """Documents of so many chunks, the same for the same numbers."""
    for number in numbers:
        draw = random.Random(number)
        rows = np.random.default_rng(number).standard_normal((chunks, DIMENSIONS))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        title = f"The {' '.join(draw.sample(WORDS, 3))} number {number}".title()
        source = f"/books/{number:06d} {title.lower().replace(' ', '-')}.txt"
        texts = [" ".join(draw.choices(WORDS, k=CHUNK_WORDS)) + f" {n}. " for n in range(chunks)]
        document = Document(
            id=ids.document_id(collection, source),
            collection=collection,
            source=source,
            title=title,
            author="Nobody",
            language="en",
            text="".join(texts),
            sections=(),
            sha256=f"{number:064x}",
        )
        recipe = text_recipe(document.sha256, 200, MODEL)
        yield text_part(document, _chunks(document, texts, rows.astype(np.float32)), recipe, {})


def _chunks(document: Document, texts: list[str], rows: np.ndarray) -> list[Chunk]:
    made, start = [], 0
    for index, (text, row) in enumerate(zip(texts, rows, strict=True)):
        id = ids.chunk_id(document.id, text, 0)
        end = start + len(text)
        made.append(Chunk(id, index, "", start, end, text, CHUNK_WORDS, row))
        start = end
    return made
