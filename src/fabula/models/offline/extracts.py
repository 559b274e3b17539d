"""What the writer and the answerer choose sentences by: their words' weight and their vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fabula.models import Embedder
from fabula.text.document import Vector
from fabula.text.ranking import Scores
from fabula.text.sentences import sentences

SMOOTHING = 4
"""Words added to a sentence's length, so that the shortest do not always score highest."""
FEWEST_WORDS = 3
"""A sentence or a clause of fewer words says nothing alone."""


def lines(text: str, language: str) -> list[str]:
    """The sentences of a text, each on one line."""
    return [" ".join(sentence.split()) for sentence in sentences(text, language)]


def embed(texts: Sequence[str], embedder: Embedder) -> Iterator[Vector]:
    """The vectors of the texts, in order, in batches as the embedder takes them."""
    for start in range(0, len(texts), embedder.batch):
        yield from embedder.embed(texts[start : start + embedder.batch]).vectors


def salience(sentences: Sequence[Sequence[str]], idf: Mapping[str, float]) -> Scores:
    """How much of what is particular to these sentences each one holds, shape (sentences,).

    The sum over a sentence's stems of log(1 + count among all) x idf, over its length + 4. Stems
    that are not in `idf` add to the length alone.
    """
    counts = Counter(stem for stems in sentences for stem in stems)
    weights = {stem: math.log1p(count) * idf.get(stem, 0.0) for stem, count in counts.items()}
    return np.array(
        [sum(weights[stem] for stem in stems) / (len(stems) + SMOOTHING) for stems in sentences],
        np.float64,
    )
