"""What is said where no model answers: the closest passages, whole, as the book prints them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from fabula.context import Sentence, in_text_order, match, score
from fabula.model import Passage, Quote
from fabula.providers import NO_ANSWER, Reply
from fabula.providers.stems import stemmer_of

MOST = 4
"""Passages that a screen holds."""
TELLING = 2
"""A passage is as close as its best sentences are together: one alone may be so by chance.
Measured on 260 questions about three novels, as good as any other way tried."""
MATCHING = 0.5
"""A sentence matches that has half as much of the question's words as the one that has most."""

_LATER_WORD = re.compile(r"(?<=[\w,;:] )(?!I\b)[^\W_][\w'’]*|\d+")


def closest(question: str, passages: Sequence[Passage]) -> list[Quote]:
    """The passages that are closest to the question, best first.

    Where it names somebody or something, only those that do so too: maybe none.
    """
    passages = _naming(question, passages)
    sentences = in_text_order([passage.hit for passage in passages])
    if not sentences:
        return []
    within: dict[str, list[int]] = defaultdict(list)
    for row, sentence in enumerate(sentences):
        within[sentence.hit.id].append(row)
    near = score(question, sentences)
    close = {hit: sum(sorted(near[rows])[-TELLING:]) for hit, rows in within.items()}
    words = match(question, sentences)
    enough = MATCHING * words.max()
    quotes = [
        Quote(
            passage.number,
            passage.hit,
            tuple(_span(sentences[row]) for row in within[passage.hit.id] if words[row] > enough),
        )
        for passage in passages
        if passage.hit.id in within
    ]
    quotes.sort(key=lambda quote: (-close[quote.hit.id], quote.number))
    return quotes[:MOST]


def say(quotes: Sequence[Quote]) -> Iterator[Reply]:
    """The quotes as an answer's text, each with the number of its passage."""
    if not quotes:
        yield Reply(NO_ANSWER)
    for index, quote in enumerate(quotes):
        between = "\n\n" if index else ""
        yield Reply(f"{between}{quote.hit.text.strip()} [{quote.number}]")


def names(text: str) -> list[str]:
    """The words that have a capital inside a sentence, and the numbers, in order."""
    return [word for word in _LATER_WORD.findall(text) if not word[0].islower()]


def _naming(question: str, passages: Sequence[Passage]) -> list[Passage]:
    """The passages in which one of the question's names is; all, if it has none."""
    asked = " ".join(names(question))
    kept = []
    for passage in passages:
        stemmer = stemmer_of(passage.hit.language)
        named = stemmer.content(asked)
        if not named or not named.isdisjoint(stemmer.stems(passage.hit.text)):
            kept.append(passage)
    return kept


def _span(sentence: Sentence) -> tuple[int, int]:
    return sentence.start, sentence.start + len(sentence.text.rstrip())
