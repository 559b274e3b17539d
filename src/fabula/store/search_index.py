"""Words in the full-text indexes: what a node stores of them, and the query of a question.

Neo4j's own score can't be used: it counts how many nodes of all collections have a word. So each
node stores its distinct words in `search_terms`, each with a class for how much it weighs in this
text ("captain_c"), and `tenant`, a token of its collection. A query requires the token and gives
each word and class the weight that BM25 has for it in this collection. Each of its clauses has a
constant score, so the sum depends on nothing outside the collection.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from fabula.text.folding import clusters, search_pieces, search_words
from fabula.text.ranking import LENGTH_NORMALIZATION, SATURATION

MEAN_WORDS = 100
"""The length of a text whose words BM25 neither raises nor lowers. It is a constant, because the
classes of a text's words are stored with it: a mean would change with every document."""
CLASSES = 16
"""How many classes of weight there are. With 16 the ranking finds as much evidence as with exact
weights: 55.2 and 55.0 % on three novels, 277 questions, 1,000 tokens of sentences."""
LOWEST_BOUND, HIGHEST_BOUND = 0.5, 2.0
"""The weights below and above which all words are of the first and the last class. A word that
stands once in a text of 100 words weighs 1, and none weighs more than 2.2."""
_RATIO = (HIGHEST_BOUND / LOWEST_BOUND) ** (1 / (CLASSES - 2))
CLASS_BOUNDS = tuple(LOWEST_BOUND * _RATIO**number for number in range(CLASSES - 1))
"""Where the next class begins, by equal ratios."""
CLASS_WEIGHTS = tuple(LOWEST_BOUND * _RATIO ** (number - 0.5) for number in range(CLASSES))
"""What a word of each class counts."""
CLASS_LETTERS = "abcdefghijklmnop"
"""What a term ends in, by its class."""
SCORE_UNIT = 1000
"""A score in the index is a whole number of thousandths: such sums are exact in any order."""
MAX_QUERY_WORDS = 60
"""How many words of a question are searched for, the rarest ones: Lucene takes 1,024 clauses."""
LARGE_COLLECTION = 1000
"""From this many nodes on, words that more than half of them have are left out of a question that
has others: they take most of the time and change the ranking little."""
MAX_TERM_CHARACTERS = 200
"""Lucene's tokenizer splits a longer word."""
LAST_PLAIN_LETTER = "\u0dff"
"""Up to this letter Lucene's standard tokenizer keeps a word whole; terms of others are encoded."""


def tenant_token(collection: str) -> str:
    """Return the token that all nodes of a collection have in the full-text indexes."""
    digest = hashlib.blake2b(collection.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"c{digest.hexdigest()}"


def search_properties(collection: str, text: str) -> dict[str, str]:
    """Return the properties by which a node is found by its words.

    Returns:
        `search_text`, its folded words in order, for analysts; `search_terms`, its distinct words
        with their classes of weight, for `query`; `tenant`.

    """
    return {
        "search_text": " ".join(search_words(text)),
        "search_terms": " ".join(_classified_terms(text)),
        "tenant": tenant_token(collection),
    }


def question_terms(question: str) -> list[str]:
    """Return the distinct terms of a question, in order.

    Where a script has no spaces, each two letters that follow each other are a term, so that a name
    is found that no dictionary has. A letter alone is a term as well.
    """
    terms: dict[str, None] = {}
    for word, is_solid in search_pieces(question):
        if not is_solid:
            terms[_encode(word)] = None
            continue
        letters = clusters(word)
        pairs = ["".join(pair) for pair in pairwise(letters)]
        terms |= dict.fromkeys(map(_encode, pairs or letters))
    return list(terms)


def count_query(collection: str, term: str = "") -> str:
    """Return the query for all nodes of a collection, or for those that have a term."""
    tenant = f"+tenant:{tenant_token(collection)}^0"
    if not term:
        return tenant
    return f"{tenant} +search_terms:[{term}_{CLASS_LETTERS[0]} TO {term}_{CLASS_LETTERS[-1]}]"


def search_query(collection: str, counts: Mapping[str, int], total: int) -> str:
    """Return the query that scores nodes of a collection by BM25 of its own statistics.

    Args:
        collection: The collection.
        counts: How many nodes of the collection have each term of the question.
        total: How many nodes the collection has in the index.

    Returns:
        The query in Lucene's syntax; '' if the collection has none of the terms.

    """
    present = sorted((count, term) for term, count in counts.items() if count > 0)
    if total > LARGE_COLLECTION:
        present = [row for row in present if 2 * row[0] <= total] or present
    clauses = []
    for count, term in present[:MAX_QUERY_WORDS]:
        rarity = math.log1p((max(total, count) - count + 0.5) / (count + 0.5))
        for letter, weight in zip(CLASS_LETTERS, CLASS_WEIGHTS, strict=True):
            boost = max(1, round(SCORE_UNIT * rarity * weight))
            clauses.append(f"search_terms:[{term}_{letter} TO {term}_{letter}]^{boost}")
    return f"{count_query(collection)} +({' '.join(clauses)})" if clauses else ""


def _classified_terms(text: str) -> list[str]:
    """Return each distinct term of a text with its class of weight, in order of appearance."""
    terms: list[str] = []
    length = 0.0
    for word, is_solid in search_pieces(text):
        if not is_solid:
            terms.append(_encode(word))
            length += 1
            continue
        letters = clusters(word)
        terms += map(_encode, _letters_and_pairs(letters))
        length += len(letters) / 2
    damped = SATURATION * (1 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * length / MEAN_WORDS)
    classified = []
    for term, count in Counter(terms).items():
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
