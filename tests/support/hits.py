"""Passages made by hand, as a mode finds them."""

from __future__ import annotations

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
