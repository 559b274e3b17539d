"""Passages made by hand, as a mode finds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fabula.graph.hits import Hit
from fabula.text import tokens


def hit(name: str, text: str, language: str = "", *, start: int = 0, score: float = 0.5) -> Hit:
    return Hit(
        id=name,
        kind="chunk",
        document="d",
        title="T",
        language=language,
        section="",
        aspect="",
        level=0,
        start=start,
        end=start + len(text),
        text=text,
        tokens=tokens.count(text),
        score=score,
    )


def rounded(hits: Iterable[Hit]) -> list[Hit]:
    """Hits with scores of six digits, to be compared with those that another question found.

    Neo4j adds up a product of vectors in another order once Java has compiled the loop: the last
    digit of a score differs from question to question.
    """
    return [replace(hit, score=round(hit.score, 6)) for hit in hits]
