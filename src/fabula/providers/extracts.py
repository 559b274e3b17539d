"""Scores for choosing sentences: salience, names, shared words; and the clauses of a sentence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from fabula.providers.stems import words
from fabula.ranking import Scores

SMOOTHING = 4
"""Words added to a sentence's length, so that the shortest do not always score highest."""
FEWEST_WORDS = 3
"""A clause of fewer words says nothing alone and stays with its neighbour."""

_BREAK = re.compile(r"(?<=[;:,—–])\s+|(?<=[—–，、；：])|\s+(?=[—–(])|(?<=\))\s+|(?<=--)|(?=--)")
_EDGES = " \t\n,;:.!?—–-_*\"'“”‘’«»„()[]…，、；：。！？「」『』（）"
_QUOTES = re.compile('["“”„«»「」『』]')
_JOINING = re.compile(r"^(?:and|but|or|nor|so|yet|for|then)\s+", re.IGNORECASE)
_LATER_WORD = re.compile(r"(?<=[\w,;:] )(?!I\b)[^\W_][\w'’]*|\d+")


def salience(sentences: Sequence[Sequence[str]], idf: Mapping[str, float]) -> Scores:
    """How much of what is particular to these sentences each one holds, shape (sentences,).

    The sum over a sentence's stems of log(1 + count among all) x idf, over its length + 4. Stems
    that are not in `idf` add to the length alone.
    """
    counts = Counter(stem for stems in sentences for stem in stems)
    weights = {stem: math.log1p(count) * idf.get(stem, 0.0) for stem, count in counts.items()}
    sums = [sum(weights[stem] for stem in stems) for stems in sentences]
    lengths = [len(stems) + SMOOTHING for stems in sentences]
    return np.array(sums, np.float64) / np.array(lengths, np.float64)


def overlap(
    sentences: Sequence[Collection[str]], wanted: Collection[str], idf: Mapping[str, float]
) -> Scores:
    """The summed idf of the `wanted` stems that each sentence has, shape (sentences,)."""
    return np.array(
        [sum(idf.get(stem, 0.0) for stem in set(wanted) & set(stems)) for stems in sentences]
    )


def naming(sentences: Sequence[str]) -> Scores:
    """Names and numbers for each sentence's length, shape (sentences,)."""
    return np.array([len(names(text)) / (len(words(text)) + SMOOTHING) for text in sentences])


def names(text: str) -> list[str]:
    """The words that have a capital inside a sentence, and the numbers, in order."""
    return [word for word in _LATER_WORD.findall(text) if not word[0].islower()]


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
