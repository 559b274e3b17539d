"""What is quoted: the closest passages, where no model answers; what bears a model's words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fabula.ask.answer import Answer, citations, shown
from fabula.ask.context import Sentence, in_text_order, match, score
from fabula.graph.hits import Passage, Quote
from fabula.models import NO_ANSWER, Reply
from fabula.text.ranking import inverse_document_frequencies, scaled
from fabula.text.sentences import spans
from fabula.text.stems import stemmer_of

MOST = 4
"""Passages that a screen holds."""
TELLING = 2
"""A passage is as close as its best sentences are together: one alone may be so by chance."""
MATCHING = 0.5
"""A sentence matches that has half as much of the question's words as the one that has most."""

_LATER_WORD = re.compile(r"(?<=[\w,;:] )(?!I\b)[^\W_][\w'’]*|\d+")


def closest(question: str, passages: Sequence[Passage]) -> list[Quote]:
    """The passages that are closest to the question, best first.

    Those without a word of the question only where all are. None, where it names somebody or
    something and no passage does.
    """
    sentences = in_text_order([passage.hit for passage in passages])
    if not sentences or not _are_named(question, passages):
        return []
    within: dict[str, list[int]] = defaultdict(list)
    for row, sentence in enumerate(sentences):
        within[sentence.hit.id].append(row)
    close = _closeness(question, sentences, within)
    words = match(question, sentences)
    enough = MATCHING * words.max()
    quotes = [
        Quote(
            passage.number,
            passage.hit,
            tuple(_span(sentences[row]) for row in within[passage.hit.id] if words[row] > enough),
        )
        for passage in passages
        if passage.hit.id in within and (words[within[passage.hit.id]].any() or not words.any())
    ]
    quotes.sort(key=lambda quote: (-close[quote.hit.id], quote.number))
    return quotes[:MOST]


def _closeness(
    question: str, sentences: Sequence[Sentence], within: Mapping[str, Sequence[int]]
) -> dict[str, float]:
    """How close each passage is: by its best sentences, and by the question's words it has in all.

    Half each: of 40 questions about three novels, the first passage answers 19, and 13 by the
    sentences alone.
    """
    near = score(question, sentences)
    best = np.array([np.sort(near[rows])[-TELLING:].sum() for rows in within.values()])
    terms = [
        {term for row in rows for term in stemmer_of(language).terms(sentences[row].text)}
        for rows in within.values()
        for language in [sentences[rows[0]].hit.language]
    ]
    languages = {one.hit.language for one in sentences}
    asked = {term for language in languages for term in stemmer_of(language).terms(question)}
    weights = inverse_document_frequencies([asked & one for one in terms])
    held = np.array([sum(weights[term] for term in asked & one) for one in terms])
    return dict(zip(within, (scaled(best) + scaled(held)).tolist(), strict=True))


def quote_cited(answer: Answer) -> list[Quote]:
    """The passages that an answer cites, in the order of their numbers.

    Of each the sentence matches, of those that the answer was given, that has most of the words of
    what cites it.
    """
    quotes = []
    for passage in answer.context:
        if passage.number not in answer.cited:
            continue
        language = passage.hit.language
        said = " ".join(
            answer.text[start:end]
            for start, end in spans(answer.text, language)
            if passage.number in citations(answer.text[start:end], len(answer.context))
        )
        given = [
            one
            for one in in_text_order([passage.hit])
            if any(start <= one.start < end for start, end in passage.spans)
        ]
        borne = [_span(given[int(match(said, given).argmax())])] if given else []
        quotes.append(Quote(passage.number, passage.hit, tuple(borne)))
    return quotes


def say(quotes: Sequence[Quote]) -> Iterator[Reply]:
    """The quotes as an answer's text, each with the number of its passage after it."""
    if not quotes:
        yield Reply(NO_ANSWER)
    for index, quote in enumerate(quotes):
        between = "\n\n" if index else ""
        yield Reply(f"{between}{shown(quote.hit.text.strip())} [{quote.number}]")


def names(text: str) -> list[str]:
    """The words that have a capital inside a sentence, and the numbers, in order."""
    return [word for word in _LATER_WORD.findall(text) if not word[0].islower()]


def _are_named(question: str, passages: Sequence[Passage]) -> bool:
    """Whether a passage has one of the question's names, or it has none."""
    asked = " ".join(names(question))
    for passage in passages:
        stemmer = stemmer_of(passage.hit.language)
        named = stemmer.content(asked)
        if not named or not named.isdisjoint(stemmer.stems(passage.hit.text)):
            return True
    return False


def _span(sentence: Sentence) -> tuple[int, int]:
    return sentence.start, sentence.start + len(sentence.text.rstrip())
