"""Passages at hand by a question's words: BM25 without an index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fabula.graph.hits import Hit
from fabula.text.ranking import bm25


def by_words(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits by BM25, words counted among themselves."""
    asked = set(re.findall(r"\w+", question.lower()))
    scores = bm25(asked, [re.findall(r"\w+", hit.text.lower()) for hit in hits]).tolist()
    scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: (-hit.score, hit.id))
