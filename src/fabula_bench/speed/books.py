"""Texts of any length: the shipped story over and over, never the same twice, or real books."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path

import fabula
from fabula.load import find, load

STORY = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"
MOST_BYTES = 100_000_000
CHAPTER_WORDS = 4_000
LEFT_OUT = 0.1
"""The share of sentences that a retelling leaves out."""
SYLLABLES = ("ba", "bin", "cor", "dal", "del", "dor", "far", "gar", "hel", "jen", "kas", "lan")

Paragraphs = list[str]


def book(words: int, folder: Path | None = None, seed: int = 0) -> str:
    """A text of `words` words in chapters: of the books in `folder`, or of the shipped story.

    Where that is not long enough it is told again, as often as needed, each time with other names,
    its paragraphs in another order and some sentences left out, so that no two chunks are equal.
    (Other words in the place of all but the commonest were tried: vectors of what means nothing
    scatter as no book's do.) The same arguments give the same text.
    """
    original = _paragraphs(folder)
    paragraphs = _retellings(original, seed)
    if folder:
        paragraphs = itertools.chain(_rest(original, seed * words), paragraphs)
    lines, total, due = [f"A Book of {words} Words, Number {seed}"], 0, 0
    chapter = 0
    for paragraph in paragraphs:
        if total >= words:
            break
        if total >= due:
            chapter += 1
            due += CHAPTER_WORDS
            lines.append(f"CHAPTER {chapter}")
        spoken = paragraph.split()[: words - total]
        total += len(spoken)
        lines.append(" ".join(spoken))
    return "\n\n".join(lines) + "\n"


def _rest(original: Paragraphs, words: int) -> Iterator[str]:
    """The paragraphs after the first `words` words."""
    total = 0
    for paragraph in original:
        if total >= words:
            yield paragraph
        total += len(paragraph.split())


def _retellings(original: Paragraphs, seed: int) -> Iterator[str]:
    for copy in itertools.count():
        yield from _retold(original, random.Random(f"{seed} {copy}"))


def _retold(original: Paragraphs, draw: random.Random) -> Iterator[str]:
    instead = _names(original, draw)
    for paragraph in draw.sample(original, len(original)):
        text = re.sub(r"[A-Za-z]+", lambda match: instead.get(match[0], match[0]), paragraph)
        sentences = re.split(r"(?<=[.!?]) +", text)
        remaining = [sentence for sentence in sentences if draw.random() > LEFT_OUT]
        yield " ".join(remaining or sentences)


def _names(paragraphs: Paragraphs, draw: random.Random) -> dict[str, str]:
    """A new name for each word that is never written small."""
    text = " ".join(paragraphs)
    small = set(re.findall(r"\b[a-z]+\b", text))
    capital = sorted(set(re.findall(r"\b[A-Z][a-z]{2,}\b", text)))
    return {word: _name(draw) for word in capital if word.lower() not in small}


def _name(draw: random.Random) -> str:
    return "".join(draw.choices(SYLLABLES, k=draw.choice((2, 3, 4)))).capitalize()


def _paragraphs(folder: Path | None) -> Paragraphs:
    texts = [load(file, "bench", MOST_BYTES).text for file in find([folder or STORY]).files]
    return [
        joined
        for text in texts
        for paragraph in re.split(r"\n\s*\n", text)
        if len((joined := " ".join(paragraph.split())).split()) > 3
    ]
