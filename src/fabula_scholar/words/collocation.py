"""Measures of how words go together, and of what tells one text from another.

The contingency tables of collocates are those of surface co-occurrence (Evert 2008, "Corpora and
collocations", section 3.2): the words within a number of words of a node are counted, once each,
however many nodes are near, and the nodes themselves are left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fabula.operations.kit import Column

MIN_COUNT = 0.5
"""What a count of 0 is taken for in a log ratio, so that it is finite (Hardie 2014)."""
DICE_MAXIMUM = 14
"""The logDice of words that stand nowhere without each other (Rychlý 2008)."""


@dataclass(frozen=True, slots=True)
class Collocate:
    """A word that stands near a node.

    Attributes:
        word: The word.
        count: How often it stands near.
        left: How often on the left of the nearest node.
        right: How often on the right.
        total: How often it stands in all of the texts, nodes left out.
        log_likelihood: `log_likelihood` of the table; negative if it is rarer than expected.
        log_dice: `log_dice`.
        mutual_information: `mutual_information`.
    """

    word: Annotated[str, Column(opens="concordance")]
    count: Annotated[int, Column("near")]
    left: int
    right: int
    total: Annotated[int, Column("in all")]
    log_likelihood: Annotated[float, Column("log-likelihood")]
    log_dice: Annotated[float, Column("logDice")]
    mutual_information: Annotated[float, Column("MI")]


@dataclass(frozen=True, slots=True)
class KeyWord:
    """A word that tells texts from others.

    Attributes:
        word: The word.
        count: How often it stands in the texts.
        reference_count: How often in the others.
        per_million: The former, in a million words.
        reference_per_million: The latter.
        log_likelihood: `keyness`; negative if the word is rarer than in the others.
        log_ratio: `log_ratio`.
        percent_difference: `percent_difference`; None if the others do not have the word.
    """

    word: Annotated[str, Column(opens="concordance")]
    count: Annotated[int, Column("here")]
    reference_count: Annotated[int, Column("there")]
    per_million: Annotated[float, Column("here per million")]
    reference_per_million: Annotated[float, Column("there per million")]
    log_likelihood: Annotated[float, Column("log-likelihood")]
    log_ratio: float
    percent_difference: Annotated[float | None, Column("%DIFF")]


def log_likelihood(both: float, first: float, second: float, total: float) -> float:
    """Return G2 of a table of four cells (Dunning 1993, "Accurate methods for the statistics of
    surprise and coincidence", Computational Linguistics 19:1, section 5).

    Args:
        both: How often both are observed (O11).
        first: The total of the first (R1): here, all places near a node.
        second: The total of the second (C1): here, all places of the word.
        total: All places (N).

    Returns:
        2 * sum(O * ln(O / E)) over the cells; with a minus if O11 is below its expectation.
    """
    observed = (both, first - both, second - both, total - first - second + both)
    sums = (
        (first, second),
        (first, total - second),
        (total - first, second),
        (total - first, total - second),
    )
    value = 0.0
    for cell, (row, column) in zip(observed, sums, strict=True):
        if cell > 0 and row > 0 and column > 0:
            value += cell * math.log(cell * total / (row * column))
    value = max(0.0, 2 * value)
    return -value if total and both * total < first * second else value


def log_dice(both: float, first: float, second: float) -> float:
    """Return logDice (Rychlý 2008, "A lexicographer-friendly association score", RASLAN).

    It is 14 + log2(2 * f(xy) / (f(x) + f(y))), at most 14, and does not depend on the size of the
    texts. `first` is how often the node stands, `second` how often the word.
    """
    if both <= 0:
        return -math.inf
    # A word may stand near several nodes, and a node has several words beside it.
    return DICE_MAXIMUM + math.log2(min(1.0, 2 * both / (first + second)))


def mutual_information(both: float, first: float, second: float, total: float) -> float:
    """Return log2(O11 / E11), pointwise mutual information (Church and Hanks 1990)."""
    if both <= 0 or first <= 0 or second <= 0:
        return -math.inf
    return math.log2(both * total / (first * second))


def keyness(count: float, reference: float, total: float, reference_total: float) -> float:
    """Return the log-likelihood of two frequencies (Rayson and Garside 2000, "Comparing corpora
    using frequency profiling", after Dunning 1993): 2 * sum(O * ln(O / E)) over the two counts.

    It is negative if the word is rarer in the texts than in the others. 3.84, 6.63, 10.83 and 15.13
    are the values for p < 0.05, 0.01, 0.001 and 0.0001.
    """
    both, size = count + reference, total + reference_total
    value = 0.0
    for observed, of in ((count, total), (reference, reference_total)):
        if observed > 0:
            value += observed * math.log(observed * size / (of * both))
    value = max(0.0, 2 * value)
    is_rarer = count * reference_total < reference * total
    return -value if is_rarer else value


def log_ratio(count: float, reference: float, total: float, reference_total: float) -> float:
    """Return the binary logarithm of the ratio of relative frequencies (Hardie 2014, "Log ratio:
    an informal introduction"): 1 is twice as frequent, 2 four times. A count of 0 is taken for 0.5.
    """
    first = (count or MIN_COUNT) / total
    return math.log2(first / ((reference or MIN_COUNT) / reference_total))


def percent_difference(
    count: float, reference: float, total: float, reference_total: float
) -> float | None:
    """Return %DIFF (Gabrielatos and Marchi 2012): by how many percent a word is more frequent; None
    if the others do not have it.
    """
    if not reference:
        return None
    first, second = count / total, reference / reference_total
    return 100 * (first - second) / second


class CollocateCounter:
    """Counts the words around nodes, text by text."""

    def __init__(self, left: int, right: int) -> None:
        """Count the words on each side of a node, up to a number."""
        self._reach = left, right
        self._near: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()
        self._nodes = 0

    @property
    def nodes(self) -> int:
        """How many nodes there were."""
        return self._nodes

    def add(self, forms: Sequence[str], nodes: Sequence[tuple[int, int]]) -> None:
        """Count a text.

        Args:
            forms: Its words.
            nodes: The first and the last word of each node, by their numbers, in order.
        """
        left, right = self._reach
        inside = {row for first, last in nodes for row in range(first, last + 1)}
        sides: dict[int, tuple[int, bool]] = {}
        for first, last in nodes:
            for row in range(max(0, first - left), min(len(forms), last + right + 1)):
                if row in inside:
                    continue
                distance, is_left = (first - row, True) if row < first else (row - last, False)
                if row not in sides or distance < sides[row][0]:
                    sides[row] = distance, is_left
        for row, (_, is_left) in sides.items():
            self._near[forms[row]] += 1
            self._left[forms[row]] += is_left
        self._totals.update(form for row, form in enumerate(forms) if row not in inside)
        self._nodes += len(nodes)

    def collocates(self, min_count: int = 2) -> list[Collocate]:
        """Return the words that stand near at least so often, by log-likelihood, highest first."""
        size, total = self._near.total(), self._totals.total()
        found = []
        for word, count in self._near.items():
            if count < min_count:
                continue
            of_word = self._totals[word]
            found.append(
                Collocate(
                    word,
                    count,
                    self._left[word],
                    count - self._left[word],
                    of_word,
                    log_likelihood(count, size, of_word, total),
                    log_dice(count, self._nodes, of_word),
                    mutual_information(count, size, of_word, total),
                )
            )
        return sorted(found, key=lambda item: (-item.log_likelihood, item.word))


def key_words(
    counts: Mapping[str, int],
    reference: Mapping[str, int],
    *,
    min_count: int = 3,
    negative: bool = False,
) -> list[KeyWord]:
    """Return the words that tell texts from others, by the amount of their log-likelihood.

    Args:
        counts: How often each word stands in the texts.
        reference: How often in the others.
        min_count: Words that stand less often in both are left out.
        negative: Return words that are rarer than in the others, in place of more frequent ones.
    """
    total, reference_total = sum(counts.values()), sum(reference.values())
    if not (total and reference_total):
        return []
    words: Iterable[str] = {*counts, *reference} if negative else counts
    found = []
    for word in words:
        first, second = counts.get(word, 0), reference.get(word, 0)
        if max(first, second) < min_count:
            continue
        sizes = first, second, total, reference_total
        value = keyness(*sizes)
        if value == 0 or (value < 0) != negative:
            continue
        found.append(
            KeyWord(
                word,
                first,
                second,
                1e6 * first / total,
                1e6 * second / reference_total,
                value,
                log_ratio(*sizes),
                percent_difference(*sizes),
            )
        )
    return sorted(found, key=lambda item: (-abs(item.log_likelihood), item.word))
