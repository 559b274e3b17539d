"""How offline summaries and answers choose sentences: by the weights of words, and by vectors."""

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
"""Words added to each sentence's length, so that short ones do not always score highest."""
MIN_WORDS = 3
"""Sentences and clauses with fewer words are not understandable alone."""


def sentence_lines(text: str, language: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    return [" ".join(sentence.split()) for sentence in sentences(text, language)]


def embed(texts: Sequence[str], embedder: Embedder) -> Iterator[Vector]:
    """Yield the vectors of texts, in order; the embedder gets them in its batches."""
    for start in range(0, len(texts), embedder.batch):
        yield from embedder.embed(texts[start : start + embedder.batch], "passage").vectors


def salience(sentences: Sequence[Sequence[str]], idf: Mapping[str, float]) -> Scores:
    """Return how salient each sentence is: how much it has of what these sentences are about.

    The score is the sum over the sentence's stems of log(1 + count in all sentences) x idf, divided
    by the number of its stems + SMOOTHING.

    Args:
        sentences: The stems of each sentence.
        idf: The weights of stems; those without one count only for the length.

    Returns:
        Scores, shape (sentences,).
    """
    counts = Counter(stem for stems in sentences for stem in stems)
    weights = {stem: math.log1p(count) * idf.get(stem, 0.0) for stem, count in counts.items()}
    return np.array(
        [sum(weights[stem] for stem in stems) / (len(stems) + SMOOTHING) for stems in sentences],
        np.float64,
    )
