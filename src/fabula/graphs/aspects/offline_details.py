"""Details without a model: clauses of a chunk, as key facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from fabula.models.offline.extracts import MIN_WORDS, salience
from fabula.text.document import Vectors
from fabula.text.ranking import maximal_marginal_relevance, scale
from fabula.text.stems import Stemmer, words
from fabula.text.tokens import count, cut

BALANCE = 0.6
"""The weight of salience against similarity to clauses that are already chosen; measured."""
CLAUSES_PER_FRAGMENT = 3
"""About 40 tokens."""
MAX_SHARED_STEMS = 0.5
"""Two fragments whose Jaccard index of stems is above this repeat each other."""

_BREAK = re.compile(r"(?<=[;:,—–])\s+|(?<=[—–，、；：])|\s+(?=[—–(])|(?<=\))\s+|(?<=--)|(?=--)")
_EDGES = " \t\n,;:.!?—–-_*\"'“”‘’«»„()[]…，、；：。！？「」『』（）"
_QUOTES = re.compile('["“”„«»「」『』]')
_JOINING = re.compile(r"^(?:and|but|or|nor|so|yet|for|then)\s+", re.IGNORECASE)


def fragments(
    sentences: Sequence[str], stemmer: Stemmer, idf: Mapping[str, float], most: int, limit: int
) -> tuple[str, ...]:
    """Return fragments of a chunk in text order, of which none repeats another.

    A fragment is a few clauses joined by semicolons, and never exactly a sentence of the chunk, nor
    the whole chunk. A single sentence gives at most one fragment, and a few words give none.

    Args:
        sentences: The chunk's sentences.
        stemmer: The stemmer of its language.
        idf: The inverse document frequencies of stems.
        most: Maximum number of fragments.
        limit: Maximum tokens of a fragment.
    """
    parts = [part for sentence in sentences for part in clauses(sentence)]
    most = min(most, len(sentences), len(parts) // 2)
    if most < 1:
        return ()
    stems = [stemmer.stems(part) for part in parts]
    relevance = scale(salience(stems, idf))
    ranked = maximal_marginal_relevance(
        relevance, _directions(stems), [1] * len(parts), CLAUSES_PER_FRAGMENT * most, BALANCE
    )
    printed = {tuple(words(text)) for text in (*sentences, " ".join(sentences))}
    chosen: list[str] = []
    for rows in np.array_split(sorted(ranked), most):
        best_first = [parts[row] for row in ranked if row in rows]
        fragment = _join(best_first, parts, printed, limit)
        if fragment and not any(_repeats(fragment, other, stemmer) for other in chosen):
            chosen.append(fragment)
    return tuple(chosen)


def clauses(sentence: str) -> list[str]:
    """Return the parts of a sentence between commas, semicolons and dashes, without quotes.

    A part of too few words is joined to its neighbour.
    """
    parts: list[str] = []
    pending, length = "", 0
    for part in _BREAK.split(sentence):
        pending = f"{pending} {part}".strip()
        length += len(words(part))
        if length >= MIN_WORDS:
            parts.append(pending)
            pending, length = "", 0
    if pending and parts:
        parts[-1] = f"{parts[-1]} {pending}"
    bare = [_JOINING.sub("", _QUOTES.sub("", part).strip(_EDGES)) for part in parts]
    return [part for part in bare if len(words(part)) >= MIN_WORDS]


def _join(
    best_first: list[str], in_order: Sequence[str], printed: set[tuple[str, ...]], limit: int
) -> str:
    """Join as many clauses, best first, as fit and are not printed exactly so; '' if none is."""
    for number in range(len(best_first), 0, -1):
        text = "; ".join(sorted(best_first[:number], key=in_order.index))
        if number == 1:
            text = cut(text, limit).strip()
        if count(text) <= limit and tuple(words(text)) not in printed:
            return text
    return ""


def _repeats(fragment: str, other: str, stemmer: Stemmer) -> bool:
    left, right = set(stemmer.stems(fragment)), set(stemmer.stems(other))
    return len(left & right) > MAX_SHARED_STEMS * len(left | right)


def _directions(stems: Sequence[Sequence[str]]) -> Vectors:
    """Return unit vectors of stems, shape (clauses, distinct stems)."""
    distinct = dict.fromkeys(stem for clause in stems for stem in clause)
    columns = {stem: column for column, stem in enumerate(distinct)}
    rows = np.zeros((len(stems), len(columns)), np.float32)
    for row, clause in enumerate(stems):
        rows[row, [columns[stem] for stem in clause]] = 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
