"""Passages at hand by a question's words: BM25 without an index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from fabula.model import Hit
from fabula.ranking import inverse_document_frequencies

SATURATION, LENGTH = 1.2, 0.75
"""BM25's k1 and b, as the full-text index has them."""


def by_words(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits by BM25 (Robertson and Zaragoza 2009, section 3), words counted among themselves."""
    asked = set(re.findall(r"\w+", question.lower()))
    spoken = [re.findall(r"\w+", hit.text.lower()) for hit in hits]
    counts = [Counter(word for word in words if word in asked) for words in spoken]
    weights = inverse_document_frequencies(spoken)
    usual = sum(map(len, spoken)) / max(1, len(hits)) or 1.0
    scored = []
    for hit, words, count in zip(hits, spoken, counts, strict=True):
        damped = SATURATION * (1 - LENGTH + LENGTH * len(words) / usual)
        score = sum(
            weights[word] * times * (SATURATION + 1) / (times + damped)
            for word, times in count.items()
        )
        scored.append(replace(hit, score=score))
    return sorted(scored, key=lambda hit: (-hit.score, hit.id))
