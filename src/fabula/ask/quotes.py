"""Quotations: the closest passages where no model answers, and the sentences that a model cites."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fabula.ask.answer import Answer, escape_citations, find_citations
from fabula.ask.context import ContextSentence, in_text_order, score_sentences, score_words
from fabula.graph.hits import Passage, Quote, locate
from fabula.models import NO_ANSWER, Reply
from fabula.text.ranking import inverse_document_frequencies, scale
from fabula.text.sentences import spans
from fabula.text.stems import stemmer_of

MAX_QUOTES = 4
"""As many passages as a screen holds."""
BEST_SENTENCES = 2
"""A passage is as close as this many of its best sentences together: one may be close by chance."""
MIN_MATCH = 0.5
"""A sentence matches if it scores this share of the sentence with most of the question's words."""

NOUNS_HAVE_CAPITALS = frozenset({"de", "lb"})
"""Languages in which a capital does not tell a name from any other noun: German, Luxembourgish."""

# A word inside a sentence: not the first one, which has a capital anyway, nor the English "I".
_LATER_WORD = re.compile(r"(?<=[\w,;:] )(?!I\b)[^\W_][\w'’]*|\d+")


def quote_closest(question: str, passages: Sequence[Passage]) -> list[Quote]:
    """Return the passages that are closest to the question, best first.

    A passage without any word of the question is quoted only if no passage has one. Nothing is
    quoted if the question names somebody or something that no passage names.
    """
    sentences = in_text_order([passage.hit for passage in passages])
    if not sentences or not _are_named(question, passages):
        return []
    within: dict[str, list[int]] = defaultdict(list)
    for row, sentence in enumerate(sentences):
        within[sentence.hit.id].append(row)
    closeness = _closeness(question, sentences, within)
    words = score_words(question, sentences)
    min_words = MIN_MATCH * words.max()
    quotes = [
        Quote(
            passage.number,
            passage.hit,
            tuple(
                _span(sentences[row]) for row in within[passage.hit.id] if words[row] > min_words
            ),
        )
        for passage in passages
        if passage.hit.id in within and (words[within[passage.hit.id]].any() or not words.any())
    ]
    quotes.sort(key=lambda quote: (-closeness[quote.hit.id], quote.number))
    return quotes[:MAX_QUOTES]


def _closeness(
    question: str, sentences: Sequence[ContextSentence], within: Mapping[str, Sequence[int]]
) -> dict[str, float]:
    """Return how close each passage is, by its id.

    Half of it is the score of its best sentences, half the question's words that it has in all: of
    40 questions about three novels the first passage answers 19 so, and 13 by the sentences alone.
    """
    scores = score_sentences(question, sentences)
    best = np.array([np.sort(scores[rows])[-BEST_SENTENCES:].sum() for rows in within.values()])
    terms = [
        {term for row in rows for term in stemmer_of(language).search_terms(sentences[row].text)}
        for rows in within.values()
        for language in [sentences[rows[0]].hit.language]
    ]
    languages = {sentence.hit.language for sentence in sentences}
    question_terms = {
        term for language in languages for term in stemmer_of(language).search_terms(question)
    }
    shared = [question_terms & passage_terms for passage_terms in terms]
    weights = inverse_document_frequencies(shared)
    coverage = np.array([sum(weights[term] for term in passage_terms) for passage_terms in shared])
    return dict(zip(within, (scale(best) + scale(coverage)).tolist(), strict=True))


def quote_cited(answer: Answer) -> list[Quote]:
    """Return the passages that an answer cites, in the order of their numbers.

    Of each passage one sentence matches: of those that the answer was given to read, the one with
    most of the words of the sentences that cite the passage.
    """
    quotes = []
    for passage in answer.context:
        if passage.number not in answer.cited:
            continue
        language = passage.hit.language
        citing = " ".join(
            answer.text[start:end]
            for start, end in spans(answer.text, language)
            if passage.number in find_citations(answer.text[start:end], len(answer.context))
        )
        sentences = [
            sentence
            for sentence in in_text_order([passage.hit])
            if any(start <= sentence.start < end for start, end in passage.spans)
        ]
        matches: tuple[tuple[int, int], ...] = ()
        if sentences:
            matches = (_span(sentences[int(score_words(citing, sentences).argmax())]),)
        hit = locate(passage.hit, answer.structures, matches)
        quotes.append(Quote(passage.number, hit, matches))
    return quotes


def write_quotes(quotes: Sequence[Quote]) -> Iterator[Reply]:
    """Yield the quotes as an answer's text, each with the number of its passage after it."""
    if not quotes:
        yield Reply(NO_ANSWER)
    for index, quote in enumerate(quotes):
        between = "\n\n" if index else ""
        yield Reply(f"{between}{escape_citations(quote.hit.text.strip())} [{quote.number}]")


def find_names(text: str, language: str = "") -> list[str]:
    """Return the words that have a capital inside a sentence, and the numbers, in order.

    In a language that writes all nouns with a capital they are the numbers alone: "Wer ist der
    Mörder?" names nobody.
    """
    words = (word for word in _LATER_WORD.findall(text) if not word[0].islower())
    if language in NOUNS_HAVE_CAPITALS:
        return [word for word in words if word[0].isdigit()]
    return list(words)


def _are_named(question: str, passages: Sequence[Passage]) -> bool:
    """Return whether a passage has one of the question's names, or the question has none."""
    for passage in passages:
        names = " ".join(find_names(question, passage.hit.language))
        stemmer = stemmer_of(passage.hit.language)
        stems = set(stemmer.search_terms(names))
        if not stems or not stems.isdisjoint(stemmer.search_terms(passage.hit.text)):
            return True
    return False


def _span(sentence: ContextSentence) -> tuple[int, int]:
    return sentence.start, sentence.start + len(sentence.text.rstrip())
