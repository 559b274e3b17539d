"""Find the words of a gold text in a document, so that places can be carried over."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate

_WORD = re.compile(r"[^\W_]+")
_GRAM = 6
"""Words that follow each other, by which a passage is found in a book."""
_MARGIN = 300
"""Words before and after the place at which a passage is looked for."""


class Alignment:
    """Where the characters of a gold text are in a document's text, by words that both have."""

    def __init__(self, gold: str, document: str) -> None:
        self._gold = [match.span() for match in _WORD.finditer(gold)]
        self._document = [match.span() for match in _WORD.finditer(document)]
        words = [gold[start:end].casefold() for start, end in self._gold]
        others = [document[start:end].casefold() for start, end in self._document]
        self._word_of: dict[int, int] = dict(_pairs(words, others))
        # At every character, how many words of the gold text have begun before it.
        begun = [0] * (len(gold) + 2)
        for start, _ in self._gold:
            begun[start + 1] += 1
        self._begun = list(accumulate(begun))

    @property
    def share(self) -> float:
        """The share of the gold text's words that the document has."""
        return len(self._word_of) / max(1, len(self._gold))

    @property
    def extent(self) -> tuple[int, int]:
        """The characters of the document between which the gold text is; (0, 0) if nowhere."""
        if not self._word_of:
            return 0, 0
        found = self._word_of.values()
        return self._document[min(found)][0], self._document[max(found)][1]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where the words between two characters are; None if the document lacks them."""
        words = range(self._first_word(start), self._begun[min(end, len(self._begun) - 1)])
        found = [self._word_of[word] for word in words if word in self._word_of]
        return (self._document[found[0]][0], self._document[found[-1]][1]) if found else None

    def _first_word(self, start: int) -> int:
        word = self._begun[start]
        # The character may be inside the word that began last.
        return word - 1 if word and self._gold[word - 1][1] > start else word


def _pairs(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    if words == others:
        return [(number, number) for number in range(len(words))]
    first, last = _window(words, others)
    matcher = SequenceMatcher(None, words, others[first:last], autojunk=False)
    return [
        (block.a + step, first + block.b + step)
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    ]


def _window(words: Sequence[str], others: Sequence[str]) -> tuple[int, int]:
    """Between which words of a document a gold text is: most of its runs of words agree on that."""
    if len(others) <= len(words) + 2 * _MARGIN:
        return 0, len(others)
    places: dict[tuple[str, ...], list[int]] = {}
    for place in range(len(others) - _GRAM + 1):
        places.setdefault(tuple(others[place : place + _GRAM]), []).append(place)
    offsets = Counter(
        (place - number) // _MARGIN
        for number in range(len(words) - _GRAM + 1)
        for place in places.get(tuple(words[number : number + _GRAM]), ())
    )
    if not offsets:
        return 0, 0
    offset = offsets.most_common(1)[0][0] * _MARGIN
    return max(0, offset - _MARGIN), min(len(others), offset + len(words) + 2 * _MARGIN)
