"""Rank passages that are in memory by the words of a question: BM25 without an index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fabula.graph.hits import Hit
from fabula.text.ranking import bm25


def by_words(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits by BM25, best first; word frequencies are those of the hits themselves."""
    words = set(re.findall(r"\w+", question.lower()))
    scores = bm25(words, [re.findall(r"\w+", hit.text.lower()) for hit in hits]).tolist()
    scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: (-hit.score, hit.id))
