"""The offline answerer: sentences out of the passages that were found, no model asked."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from fabula.model import Vectors
from fabula.providers import NO_ANSWER, Embedder, Reply
from fabula.providers.offline.extracts import FEWEST_WORDS, SMOOTHING, embed, lines, salience
from fabula.providers.stems import Stemmer, guess, words
from fabula.ranking import Scores, inverse_document_frequencies, scaled
from fabula.tokens import count_all, cut

SHORT_TOKENS = 120
LONG_TOKENS = 240
"""For questions that ask for more than a fact."""

# Measured on 195 questions about 31 stories, each asked of its own story and of two others: 5% of
# the former are refused, and 75% of the latter where they ask for something by its own words.
FEWEST_SHARED = 1 / 3
NEAR = 0.3

_OPEN = re.compile(
    r"^\W*(?:why|describe|explain|discuss|summari[sz]e|tell|compare|"
    r"how(?! (?:many|much|old|long|far|often|tall|big)\b)|what\b.*\b(?:about|happens?|plot|role|"
    r"significance|relationship|importance)\b)",
    re.IGNORECASE | re.DOTALL,
)
_LATER_WORD = re.compile(r"(?<=[\w,;:] )(?!I\b)[^\W_][\w'’]*|\d+")
# Words that ask about a text and need not be in it.
_ABOUT_TEXTS = """
author book chapter character characters describe description discuss event events explain happen
happened happens important importance main narrative narrator part passage passages place plot plots
relationship role scene setting settings significance story stories style summarise summarize
summaries summary take tell text theme themes tone
"""


class ExtractiveAnswerer:
    """An `Answerer` that quotes: the sentences of the context nearest to the question.

    English is recognised; words of other languages are kept as they are.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._stemmer = functools.lru_cache(4)(Stemmer)

    def answer(self, question: str, context: Sequence[str]) -> Iterator[Reply]:
        """Sentences in the order of the context, a line and a number for each of its passages.

        Or NO_ANSWER, where the context names none of the question's names, or shares few of its
        words and means something else.
        """
        language = guess(" ".join([question, *context]))
        stemmer = self._stemmer(language)
        quotes = _quotes(context, language)
        if not quotes or not words(question):
            yield Reply(NO_ANSWER)
            return
        told = list(quotes)
        asked = stemmer.content(question) - stemmer.content(_ABOUT_TEXTS)
        vectors = np.stack(list(embed([question, *told], self._embedder)))
        named = {stem for name in names(question) for stem in stemmer.stems(name)} & asked
        if not _holds(asked, named, set(stemmer.stems(" ".join(told))), vectors):
            yield Reply(NO_ANSWER)
            return
        scores = _score(told, asked, vectors, stemmer)
        budget = LONG_TOKENS if _OPEN.search(question) else SHORT_TOKENS
        picked = _pick(told, scores, budget)
        between = ""
        for number, quoted in itertools.groupby(picked, key=lambda one: quotes[told[one[0]]]):
            said = " ".join(text for _, text in quoted)
            yield Reply(f"{between}{said} [{number}]")
            between = "\n"


def _quotes(context: Sequence[str], language: str) -> dict[str, int]:
    """Every sentence of the context once, on one line, with the number of its first passage.

    Those of a word or two are left out, unless there are no others.
    """
    quotes: dict[str, int] = {}
    for number, passage in enumerate(context, start=1):
        for line in lines(passage, language):
            quotes.setdefault(line, number)
    telling = {line: at for line, at in quotes.items() if len(words(line)) >= FEWEST_WORDS}
    return telling or quotes


def _holds(asked: set[str], named: set[str], stems: set[str], vectors: Vectors) -> bool:
    """Whether the context, of these `stems`, may hold the answer; row 0 is the question."""
    if named:
        return bool(named & stems)
    few = len(asked & stems) <= FEWEST_SHARED * len(asked)
    return not (asked and few and float((vectors[1:] @ vectors[0]).max()) < NEAR)


def _score(told: Sequence[str], asked: set[str], vectors: Vectors, stemmer: Stemmer) -> Scores:
    """A quarter each: centred cosine, the question's words, salience, names and numbers.

    Measured on 125 questions: 0.9 points of F1 at 120 tokens more than the cosine alone.
    """
    stems = [stemmer.stems(line) for line in told]
    idf = inverse_document_frequencies(stemmer.content(line) for line in told)
    centred = vectors - vectors[1:].mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    cosine = np.asarray(centred[1:] @ centred[0], np.float64)
    shared = np.array([sum(idf.get(stem, 0.0) for stem in asked & set(one)) for one in stems])
    lengths = np.array([len(one) + SMOOTHING for one in stems])
    named = np.array([len(names(line)) for line in told]) / lengths
    parts = (cosine, shared, salience(stems, idf), named)
    return np.asarray(np.mean([scaled(part) for part in parts], axis=0))


def names(text: str) -> list[str]:
    """The words that have a capital inside a sentence, and the numbers, in order."""
    return [word for word in _LATER_WORD.findall(text) if not word[0].islower()]


def _pick(told: Sequence[str], scores: Scores, budget: int) -> list[tuple[int, str]]:
    """The best sentences that fit the budget together, in their order, with their rows."""
    order = np.argsort(-scores, kind="stable").tolist()
    tokens = count_all(told)
    rows: list[int] = []
    for row in order:
        if tokens[row] <= budget:
            rows.append(row)
            budget -= tokens[row]
    if not rows:
        return [(order[0], cut(told[order[0]], budget))]
    return [(row, told[row]) for row in sorted(rows)]
