"""Details: the densest clauses of a chunk, as fragments that are none of its sentences again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from fabula.models.offline.extracts import FEWEST_WORDS, salience
from fabula.text.document import Vectors
from fabula.text.ranking import maximal_marginal_relevance, scaled
from fabula.text.stems import Stemmer, words
from fabula.text.tokens import count, cut

BALANCE = 0.6
"""Of salience against likeness to the clauses already chosen; measured."""
CLAUSES = 3
"""Clauses in a fragment: some 40 tokens."""
ALIKE = 0.5
"""Fragments that share more of their stems than this say the same."""

_BREAK = re.compile(r"(?<=[;:,—–])\s+|(?<=[—–，、；：])|\s+(?=[—–(])|(?<=\))\s+|(?<=--)|(?=--)")
_EDGES = " \t\n,;:.!?—–-_*\"'“”‘’«»„()[]…，、；：。！？「」『』（）"
_QUOTES = re.compile('["“”„«»「」『』]')
_JOINING = re.compile(r"^(?:and|but|or|nor|so|yet|for|then)\s+", re.IGNORECASE)


def fragments(
    sentences: Sequence[str], stemmer: Stemmer, idf: Mapping[str, float], most: int, limit: int
) -> tuple[str, ...]:
    """At most `most` fragments of at most `limit` tokens, in text order, no two alike.

    A fragment is a few clauses joined by semicolons, and never just a sentence of the chunk or the
    whole of it: one sentence gives at most one fragment, and a few words give none.
    """
    parts = [part for text in sentences for part in clauses(text)]
    most = min(most, len(sentences), len(parts) // 2)
    if most < 1:
        return ()
    stems = [stemmer.stems(part) for part in parts]
    relevance = scaled(salience(stems, idf))
    ranked = maximal_marginal_relevance(
        relevance, _directions(stems), [1] * len(parts), CLAUSES * most, BALANCE
    )
    whole = {tuple(words(text)) for text in (*sentences, " ".join(sentences))}
    made: list[str] = []
    for rows in np.array_split(sorted(ranked), most):
        best_first = [parts[row] for row in ranked if row in rows]
        fragment = _join(best_first, parts, whole, limit)
        if fragment and not any(_alike(fragment, other, stemmer) for other in made):
            made.append(fragment)
    return tuple(made)


def clauses(sentence: str) -> list[str]:
    """The parts of a sentence between commas, semicolons and dashes, without marks or quotes."""
    parts: list[str] = []
    carried, length = "", 0
    for part in _BREAK.split(sentence):
        carried = f"{carried} {part}".strip()
        length += len(words(part))
        if length >= FEWEST_WORDS:
            parts.append(carried)
            carried, length = "", 0
    if carried and parts:
        parts[-1] = f"{parts[-1]} {carried}"
    bare = [_JOINING.sub("", _QUOTES.sub("", part).strip(_EDGES)) for part in parts]
    return [part for part in bare if len(words(part)) >= FEWEST_WORDS]


def _join(
    best_first: list[str], in_order: Sequence[str], whole: set[tuple[str, ...]], limit: int
) -> str:
    """As many of the clauses, the best before the others, as fit and are no whole sentence."""
    for number in range(len(best_first), 0, -1):
        text = "; ".join(sorted(best_first[:number], key=in_order.index))
        if number == 1:
            text = cut(text, limit).strip()
        if count(text) <= limit and tuple(words(text)) not in whole:
            return text
    return ""


def _alike(one: str, other: str, stemmer: Stemmer) -> bool:
    a, b = set(stemmer.stems(one)), set(stemmer.stems(other))
    return len(a & b) > ALIKE * len(a | b)


def _directions(stems: Sequence[Sequence[str]]) -> Vectors:
    """Unit rows, shape (clauses, distinct stems), whose products are the share of common stems."""
    columns = {stem: column for column, stem in enumerate({s: 0 for one in stems for s in one})}
    rows = np.zeros((len(stems), len(columns)), np.float32)
    for row, one in enumerate(stems):
        rows[row, [columns[stem] for stem in one]] = 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
