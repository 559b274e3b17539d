"""Words in the full-text indexes: what a node stores of them, and the query of a question.

Neo4j's own score can't be used: it counts how many nodes of all collections have a word. So each
node stores its distinct words in `search_terms`, each with a class for how much it weighs in this
text ("captain_c"), and `tenant`, a token of its collection. A query requires the token and gives
each word and class the weight that BM25 has for it in this collection. Each of its clauses has a
constant score, so the sum depends on nothing outside the collection. The best nodes by it are then
scored exactly (`exact_scores`).
"""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabula.text.folding import SOLID, clusters, search_pieces, search_words, segment_pieces
from fabula.text.ranking import LENGTH_NORMALIZATION, SATURATION

MEAN_WORDS = 100
"""The length of a text whose words the classes neither raise nor lower. It is a constant, because
they are stored: the collection's mean changes with every document. Exact scores use that."""
CLASSES = 8
"""How many classes of weight there are; each is a clause of a query for each word.

With 8, the 120 best nodes by the query, which are scored exactly for the best 100, had all of the
exact best 10 and 99.2 to 99.8 % of the exact best 100; with 4 classes 94.5 to 99.0 % of these, with
16 99.6 to 100 %. These were 156 to 926 chunks of 150, of 400 or of 12 to 400 words, of one English
novel and of four books, and 100 or 150 questions of 9 words in a row. Other languages, scripts
without spaces, and what it does to answers were not measured."""
LOWEST_BOUND, HIGHEST_BOUND = 0.5, 2.0
"""The weights below and above which all words are of the first and the last class. A word that
stands once in a text of 100 words weighs 1, and none weighs more than 2.2."""
_RATIO = (HIGHEST_BOUND / LOWEST_BOUND) ** (1 / (CLASSES - 2))
CLASS_BOUNDS = tuple(LOWEST_BOUND * _RATIO**number for number in range(CLASSES - 1))
"""Where the next class begins, by equal ratios."""
CLASS_WEIGHTS = tuple(LOWEST_BOUND * _RATIO ** (number - 0.5) for number in range(CLASSES))
"""What a word of each class counts."""
CLASS_LETTERS = "abcdefgh"
"""What a term ends in, by its class."""
SCORE_UNIT = 1000
"""A clause scores a whole number of thousandths: such sums are exact in any order."""
MAX_QUERY_WORDS = 120
"""How many words of a question are searched for, the rarest ones: Lucene takes 1,024 clauses."""
LARGE_COLLECTION = 1000
"""From this many nodes on, words that more than a third of them have choose no candidates if a
question has others: they take most of the time. In 2,313 chunks of four books, the 120 best nodes
had all of the exact best 10 without them, and 93 % of the exact best 100; with them 99.6 %."""
MAX_TERM_CHARACTERS = 200
"""Lucene's tokenizer splits a longer word."""
LAST_PLAIN_LETTER = "\u0dff"
"""Up to this letter Lucene's standard tokenizer keeps a word whole; terms of others are encoded."""


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """What BM25 has to know of the nodes of a collection that are in a full-text index.

    Attributes:
        counts: How many nodes have each term of a question.
        total: How many nodes there are.
        mean_length: Their mean length in words.
        revision: That of the collection when they were counted.
    """

    counts: Mapping[str, int]
    total: int
    mean_length: float
    revision: str = ""


def tenant_token(collection: str) -> str:
    """Return the token that all nodes of a collection have in the full-text indexes."""
    digest = hashlib.blake2b(collection.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"c{digest.hexdigest()}"


def search_properties(collection: str, text: str) -> dict[str, str | float]:
    """Return the properties by which a node is found by its words.

    Returns:
        `search_text`, its folded words in order; `search_length`, how many these are, two letters
        of a script without spaces being one; `search_terms`, its distinct words with their classes
        of weight; `tenant`, the token of its collection.
    """
    pieces = list(search_pieces(text))
    terms, length = _terms(pieces)
    return {
        "search_text": " ".join(segment_pieces(pieces)),
        "search_terms": " ".join(_with_classes(terms, length)),
        "search_length": length,
        "tenant": tenant_token(collection),
    }


def question_terms(question: str) -> dict[str, str]:
    """Return the distinct terms of a question, in order, each with its folded word.

    Where a script has no spaces, each two letters that follow each other are a term, so that a name
    is found that no dictionary has. A letter alone is a term as well.
    """
    terms: dict[str, str] = {}
    for word, is_solid in search_pieces(question):
        letters = clusters(word) if is_solid else [word]
        pairs = ["".join(pair) for pair in pairwise(letters)]
        terms |= {_encode(part): part for part in pairs or letters}
    return terms


def count_query(collection: str, term: str = "") -> str:
    """Return the query for all nodes of a collection, or for those that have a term."""
    tenant = f"+tenant:{tenant_token(collection)}^0"
    if not term:
        return tenant
    return f"{tenant} +search_terms:[{term}_{CLASS_LETTERS[0]} TO {term}_{CLASS_LETTERS[-1]}]"


def phrase_query(collection: str, *phrases: Sequence[str]) -> str:
    """Return the query for all nodes of a collection that have each phrase of some alternatives.

    Args:
        collection: The collection.
        *phrases: Alternatives: the texts of phrases that a node must have all.

    Returns:
        The query in Lucene's syntax; '' if no alternative has a word.
    """
    alternatives = []
    for texts in phrases:
        words = [" ".join(search_words(text)) for text in texts]
        # Words are letters, digits and marks, so that nothing of them is syntax.
        clauses = [f'+search_text:"{phrase}"' for phrase in words if phrase]
        if clauses:
            alternatives.append(f"({' '.join(clauses)})")
    return f"{count_query(collection)} +({' '.join(alternatives)})" if alternatives else ""


def search_query(collection: str, statistics: WordStatistics) -> str:
    """Return the query that scores nodes of a collection nearly by BM25 of its own statistics.

    Args:
        collection: The collection.
        statistics: Of the question's terms in it.

    Returns:
        The query in Lucene's syntax; '' if the collection has none of the terms.
    """
    total = statistics.total
    present = sorted((count, term) for term, count in statistics.counts.items() if count > 0)
    if total > LARGE_COLLECTION:
        present = [row for row in present if 3 * row[0] <= total] or present
    clauses = []
    for count, term in present[:MAX_QUERY_WORDS]:
        rarity = _rarity(count, total)
        for letter, weight in zip(CLASS_LETTERS, CLASS_WEIGHTS, strict=True):
            boost = max(1, round(SCORE_UNIT * rarity * weight))
            clauses.append(f"search_terms:[{term}_{letter} TO {term}_{letter}]^{boost}")
    return f"{count_query(collection)} +({' '.join(clauses)})" if clauses else ""


def exact_scores(
    terms: Mapping[str, str],
    statistics: WordStatistics,
    texts: Sequence[tuple[str, float]],
) -> list[float]:
    """Return the BM25 score of each text, by the statistics of its collection.

    Args:
        terms: Those of the question, with their words.
        statistics: Of the collection.
        texts: `search_text` and `search_length` of each text.
    """
    weights = {
        word: _rarity(statistics.counts[term], statistics.total)
        for term, word in terms.items()
        if statistics.counts[term]
    }
    solid = [word for word in weights if re.match(SOLID, word)]
    scores = []
    for text, length in texts:
        words = text.split()
        counts = dict.fromkeys(weights, 0)
        for word in words:
            if word in counts:
                counts[word] += 1
        if solid:
            whole = "".join(words)
            counts |= {word: whole.count(word) for word in solid}
        relative = length / (statistics.mean_length or 1.0)
        damped = SATURATION * (1 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * relative)
        scores.append(
            sum(
                weights[word] * count * (SATURATION + 1) / (count + damped)
                for word, count in counts.items()
                if count
            )
        )
    return scores


def _rarity(count: int, total: int) -> float:
    """Return BM25's weight of a word that `count` of `total` texts have."""
    return math.log1p((max(total, count) - count + 0.5) / (count + 0.5))


def _terms(pieces: Iterable[tuple[str, bool]]) -> tuple[Counter[str], float]:
    """Return how often a text has each of its terms, in order, and its length in words."""
    counts: Counter[str] = Counter()
    length = 0.0
    for word, is_solid in pieces:
        if not is_solid:
            counts[word] += 1
            length += 1
            continue
        letters = clusters(word)
        counts.update(_letters_and_pairs(letters))
        length += len(letters) / 2
    terms: Counter[str] = Counter()
    for word, count in counts.items():
        # Words that are cut at the same character are one term.
        terms[_encode(word)] += count
    return terms, length


def _with_classes(terms: Mapping[str, int], length: float) -> list[str]:
    """Return each term with its class of weight, in order of appearance."""
    damped = SATURATION * (1 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * length / MEAN_WORDS)
    classified = []
    for term, count in terms.items():
        weight = count * (SATURATION + 1) / (count + damped)
        classified.append(f"{term}_{CLASS_LETTERS[bisect_right(CLASS_BOUNDS, weight)]}")
    return classified


def _letters_and_pairs(letters: Sequence[str]) -> Iterable[str]:
    yield from letters
    yield from map("".join, pairwise(letters))


def _encode(word: str) -> str:
    """Return a word as a term that Lucene's tokenizer and its query syntax take as it is."""
    if max(word) <= LAST_PLAIN_LETTER:
        return word
    return ("x" + "".join(f"{ord(letter):04x}" for letter in word))[:MAX_TERM_CHARACTERS]
