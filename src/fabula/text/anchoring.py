"""Find in a text the words that an annotation marks, also after the text was edited.

An annotation keeps the characters between which its words stood, the words themselves, and some
characters before and after them: the TextPositionSelector and the TextQuoteSelector of the W3C's
Web Annotation Data Model (https://www.w3.org/TR/annotation-model/, sections 4.2.4 and 4.2.5).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rapidfuzz import fuzz

from fabula.errors import BadValue

MAX_MARKED_CHARACTERS = 100_000_000
"""Of all annotations of a layer together, which keep their words."""
CONTEXT_CHARACTERS = 32
"""How many characters before and after its words an annotation keeps, as Hypothesis does."""
NEAR_CHARACTERS = 2_000
"""How far from the expected place the words are looked for first."""
MAX_CANDIDATES = 200
"""Of equal words, how many are compared by what is around them: those nearest to the place."""
MIN_CONTEXT = 75.0
"""How much alike (0 to 100) what is around short words must be, if they moved."""
LONG_CHARACTERS = 24
"""From this length on, words are distinctive: a single occurrence needs no equal context."""
FAR_CHARACTERS = 60
"""From this length on, a single occurrence is taken however far it is from the expected place."""
MIN_FAR_CONTEXT = 90.0
"""How much alike (0 to 100) each side must be at a place where the words are not to be expected.

A novel repeats its phrases: words that were cut are often printed once more elsewhere."""
MIN_FUZZY_CHARACTERS = 8
"""Shorter words that were changed are not looked for: too much is like them."""
MIN_ALIKE = 80.0
"""How much alike (0 to 100, of the normalised indel similarity) changed words must be."""
MAX_RARE_PLACES = 50
"""A word with more places than this says too little of where changed words may stand."""
RARE_WORDS = 4
"""How many of the rarest words of a changed quotation are followed to where they stand."""
WORD_CHARACTERS = 32
"""Changed words may begin so much before or after the place of a neighbour."""
_WORD = re.compile(r"\w+")

POSITION, QUOTE, FUZZY = "position", "quote", "fuzzy"
"""How words were found: where they stood; elsewhere, the same; or with small changes."""


@dataclass(frozen=True, slots=True)
class TextQuote:
    """Words of a text, what is around them, and where they stood.

    Attributes:
        exact: The words; '' if only their place is known.
        prefix: Some characters before them.
        suffix: Some characters after them.
        start: The first character; -1 if it is not known.
        end: The one after the last; -1 if it is not known.

    """

    exact: str
    prefix: str = ""
    suffix: str = ""
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where words stand in a text, and how they were found: POSITION, QUOTE or FUZZY."""

    start: int
    end: int
    how: str


def quote_at(text: str, start: int, end: int) -> TextQuote:
    """Return the words between two characters of a text, with what is around them."""
    return TextQuote(
        text[start:end],
        text[max(0, start - CONTEXT_CHARACTERS) : start],
        text[end : end + CONTEXT_CHARACTERS],
        start,
        end,
    )


class QuoteReader:
    """Reads quotations of a text for annotations, as `quote_at` does, up to a number of characters.

    A small file may mark the whole of a novel ten thousand times.
    """

    def __init__(self, text: str, most: int = MAX_MARKED_CHARACTERS) -> None:
        self._text = text
        self._left = most

    def read(self, start: int, end: int) -> TextQuote:
        """Return the words between two characters; raises BadValue if they are too many by now."""
        self._left -= end - start
        if self._left < 0:
            raise BadValue(
                f"The annotations mark more than {MAX_MARKED_CHARACTERS:,} characters together: "
                "import them in parts."
            )
        return quote_at(self._text, start, end)


class _Neighbour(NamedTuple):
    """Where a quotation that was found unchanged stands now, and how far it has moved."""

    place: int
    moved: int


class QuoteFinder:
    """Finds quotations in one text; quotations in text order are found fastest.

    It remembers how far the last quotation had moved: where a text was edited, those that follow
    have moved as far.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._moved = 0
        self._neighbours: tuple[_Neighbour | None, _Neighbour | None] = None, None

    def find(self, quote: TextQuote) -> Anchor | None:
        """Return where a quotation stands now; None if it stands nowhere, or may be any of several.

        It is taken where it stood if it stands there with the same context; else where it stands
        with the context that is most like its own, nearest first; else where words stand that are
        at least MIN_ALIKE like it.
        """
        return self.find_unchanged(quote) or self.find_similar(quote)

    def find_unchanged(self, quote: TextQuote) -> Anchor | None:
        """Return where a quotation stands with all of its context; None if that is nowhere."""
        if not quote.exact:
            return self._at_position(quote)
        if quote.start >= 0 and self._stands_at(quote, quote.start):
            self._moved = 0
            return Anchor(quote.start, quote.start + len(quote.exact), POSITION)
        found = self._find_whole(quote)
        return (
            self._make_anchor(quote, found, found + len(quote.exact), QUOTE) if found >= 0 else None
        )

    def find_similar(
        self,
        quote: TextQuote,
        before: _Neighbour | None = None,
        after: _Neighbour | None = None,
    ) -> Anchor | None:
        """Return where a quotation stands with a context like its own, or words like it do.

        Args:
            quote: The quotation, which `find_unchanged` did not find.
            before: The nearest quotation before it that was found unchanged.
            after: The nearest one after it.

        """
        if not quote.exact:
            return None
        self._neighbours = before, after
        if before or after:
            nearest = before or after
            assert nearest is not None
            self._moved = nearest.moved
        found = self._find_exact(quote)
        if found >= 0:
            return self._make_anchor(quote, found, found + len(quote.exact), QUOTE)
        is_bare = not (quote.prefix or quote.suffix) and quote.start < 0
        if is_bare and quote.exact in self._text:
            return None  # it stands several times: nothing says which one is meant
        return self._find_changed(quote)

    def _at_position(self, quote: TextQuote) -> Anchor | None:
        if 0 <= quote.start < quote.end <= len(self._text):
            return Anchor(quote.start, quote.end, POSITION)
        return None

    def _stands_at(self, quote: TextQuote, start: int) -> bool:
        text, end = self._text, start + len(quote.exact)
        return (
            text.startswith(quote.exact, start)
            and text.endswith(quote.prefix, 0, start)
            and text.startswith(quote.suffix, end)
        )

    def _make_anchor(self, quote: TextQuote, start: int, end: int, how: str) -> Anchor:
        if quote.start >= 0:
            self._moved = start - quote.start
        return Anchor(start, end, POSITION if start == quote.start and how == QUOTE else how)

    def _expected_start(self, quote: TextQuote) -> int:
        """The character at which a quotation is to be expected; -1 if nothing is known of it."""
        if quote.start < 0:
            return -1
        return min(max(0, quote.start + self._moved), len(self._text))

    def _find_whole(self, quote: TextQuote) -> int:
        """Where the quotation stands with all of its context, nearest to its place; -1: nowhere."""
        if not (quote.prefix or quote.suffix):
            return -1
        whole = quote.prefix + quote.exact + quote.suffix
        expected = self._expected_start(quote)
        # First near to where it should be, which mostly saves a search of the whole text.
        if expected >= 0:
            first = max(0, expected - len(quote.prefix) - NEAR_CHARACTERS)
            last = expected + len(whole) + NEAR_CHARACTERS
            if places := list(_occurrences(self._text, whole, first, last)):
                starts = [place + len(quote.prefix) for place in places]
                return min(starts, key=lambda start: (abs(start - expected), start))
        place = self._text.find(whole)
        if place < 0:
            return -1
        if self._text.find(whole, place + 1) >= 0:
            return self._nearest(quote, whole)
        return place + len(quote.prefix)

    def _nearest(self, quote: TextQuote, whole: str) -> int:
        """The nearest of several equal places; -1 if it is not known what they are near to."""
        expected = self._expected_start(quote)
        if expected < 0:
            return -1
        starts = [place + len(quote.prefix) for place in _occurrences(self._text, whole)]
        return min(starts, key=lambda start: (abs(start - expected), start))

    def _find_exact(self, quote: TextQuote) -> int:
        """Where the words stand in a context like their own; -1 if that is nowhere, or not one."""
        places = list(_occurrences(self._text, quote.exact))
        if not places:
            return -1
        expected = self._expected_start(quote)
        has_context = bool(quote.prefix.strip() or quote.suffix.strip())
        size = len(quote.exact)
        if len(places) == 1 and not has_context:
            return places[0]
        if len(places) == 1 and size >= LONG_CHARACTERS:
            is_sure = size >= FAR_CHARACTERS or self._is_trusted(quote, places[0], places[0] + size)
            return places[0] if is_sure else -1
        if not has_context:
            # Nothing says which one it was but its place.
            return min(places, key=lambda at: abs(at - expected)) if expected >= 0 else -1
        # A short word stands at thousands of places; only the nearest are compared.
        if len(places) > MAX_CANDIDATES and expected >= 0:
            middle = bisect_left(places, expected)
            first = max(0, middle - MAX_CANDIDATES // 2)
            places = places[first : first + MAX_CANDIDATES]
        scored = [(self._context_score(quote, at, at + size), at) for at in places]
        scored = [
            (score, at)
            for score, at in scored
            if score >= MIN_CONTEXT and self._is_trusted(quote, at, at + size)
        ]
        if not scored:
            return -1
        best = max(score for score, _ in scored)
        candidates = [at for score, at in scored if score == best]
        # Better none than one of several by chance: a note must not move to other words.
        if len(candidates) > 1 and expected < 0:
            return -1
        return min(candidates, key=lambda at: (abs(at - expected), at))

    def _is_in_context(self, quote: TextQuote, start: int, end: int) -> bool:
        """Whether changed words are long enough to be the ones, or stand as these did."""
        if not self._is_trusted(quote, start, end):
            return False
        if len(quote.exact) >= LONG_CHARACTERS or not (quote.prefix or quote.suffix):
            return True
        return self._context_score(quote, start, end) >= MIN_CONTEXT

    def _is_trusted(self, quote: TextQuote, start: int, end: int) -> bool:
        """Whether a place is where the quotation is to be expected, or is alike on both sides.

        It is to be expected where it stood or as far from there as a neighbour moved, and between
        its neighbours if these stand in their old order.
        """
        if quote.start < 0:
            return True
        before, after = self._neighbours
        moves = [each.moved for each in self._neighbours if each] or [self._moved]
        is_near = any(abs(start - quote.start - moved) <= NEAR_CHARACTERS for moved in moves)
        is_ordered = not (before and after and before.place <= after.place) or (
            before.place - WORD_CHARACTERS <= start <= after.place + WORD_CHARACTERS
        )
        if is_near and is_ordered:
            return True
        return min(self._compare_sides(quote, start, end), default=0.0) >= MIN_FAR_CONTEXT

    def _context_score(self, quote: TextQuote, start: int, end: int) -> float:
        """How much alike what is around the words is at a place, from 0 to 100.

        Of both sides the better one counts double: an edit beside the words changes one of them.
        """
        sides = self._compare_sides(quote, start, end)
        return (max(sides) * 2 + min(sides)) / 3 if sides else 0.0

    def _compare_sides(self, quote: TextQuote, start: int, end: int) -> list[float]:
        """How much alike the text before a place and that after it are, without empty sides."""
        before = self._text[max(0, start - len(quote.prefix)) : start]
        after = self._text[end : end + len(quote.suffix)]
        return [
            fuzz.ratio(wanted, there)
            for wanted, there in ((quote.prefix, before), (quote.suffix, after))
            if wanted
        ]

    def _find_changed(self, quote: TextQuote) -> Anchor | None:
        """Words that are like the quotation, where its context or its rare words stand."""
        if len(quote.exact) < MIN_FUZZY_CHARACTERS:
            return None
        if between := self._between_context(quote):
            return self._make_anchor(quote, *between, FUZZY)
        best: tuple[float, int, int] | None = None
        for first, last in self._windows(quote):
            score, start, end = self._align(quote, first, last)
            is_meant = score >= MIN_ALIKE and self._is_in_context(quote, start, end)
            if is_meant and (best is None or score > best[0]):
                best = score, start, end
        return self._make_anchor(quote, best[1], best[2], FUZZY) if best else None

    def _between_context(self, quote: TextQuote) -> tuple[int, int] | None:
        """Where the prefix and the suffix stand around words that are like the quotation."""
        if not (quote.prefix.strip() and quote.suffix.strip()):
            return None
        longest = 2 * len(quote.exact) + CONTEXT_CHARACTERS
        places = list(_occurrences(self._text, quote.prefix))[:MAX_CANDIDATES]
        spans = []
        for place in places:
            start = place + len(quote.prefix)
            end = self._text.find(quote.suffix, start, start + longest + len(quote.suffix))
            if end > start and fuzz.ratio(quote.exact, self._text[start:end]) >= MIN_ALIKE:
                spans.append((start, end))
        if not spans:
            return None
        expected = self._expected_start(quote)
        if len(spans) > 1 and expected < 0:
            return None
        return min(spans, key=lambda span: abs(span[0] - expected))

    def _windows(self, quote: TextQuote) -> list[tuple[int, int]]:
        """Stretches of the text in which the rarest words of a quotation stand as in it."""
        words = [(match[0], match.start()) for match in _WORD.finditer(quote.exact)]
        places = self._places
        rare = sorted(
            ((len(places[word]), word, at) for word, at in words if word in places),
        )[:RARE_WORDS]
        windows = set()
        slack = max(40, len(quote.exact) // 3)
        for count, word, at in rare:
            # They are sorted, so that all further words are more frequent still.
            if count > MAX_RARE_PLACES:
                break
            for place in places[word]:
                first = max(0, place - at - slack)
                windows.add((first, min(len(self._text), first + len(quote.exact) + 2 * slack)))
        return sorted(windows)

    def _align(self, quote: TextQuote, first: int, last: int) -> tuple[float, int, int]:
        """How much alike the best words of a stretch are, and where these are.

        Returns:
            The normalised indel similarity from 0 to 100, and the first and the last character.

        """
        stretch = self._text[first:last]
        found = fuzz.partial_ratio_alignment(quote.exact, stretch, score_cutoff=MIN_ALIKE)
        if found is None:
            return 0.0, 0, 0
        start, end = self._whole_words(first + found.dest_start, first + found.dest_end)
        return fuzz.ratio(quote.exact, self._text[start:end]), start, end

    def _whole_words(self, start: int, end: int) -> tuple[int, int]:
        """Widen a span to whole words, and leave out white space at its ends."""
        text = self._text
        while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
            start -= 1
        while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
            end += 1
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        return start, end

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each word of the text begins; made when the first changed words are looked for."""
        places: dict[str, list[int]] = {}
        for match in _WORD.finditer(self._text):
            places.setdefault(match[0], []).append(match.start())
        return places


def anchor_quotes(text: str, quotes: Sequence[TextQuote]) -> list[Anchor | None]:
    """Return where each quotation stands in a text, in their order; None for those that are gone.

    They are looked for in the order of their places, whatever their own order is: first all that
    are unchanged, which then say where the others are to be expected.
    """
    finder = QuoteFinder(text)
    rows = sorted(range(len(quotes)), key=lambda row: (quotes[row].start, quotes[row].end))
    found = {row: finder.find_unchanged(quotes[row]) for row in rows}
    # From the end, so that each row is given the nearest unchanged quotation behind it.
    after: dict[int, _Neighbour | None] = {}
    neighbour: _Neighbour | None = None
    for row in reversed(rows):
        after[row] = neighbour
        neighbour = _as_neighbour(quotes[row], found[row]) or neighbour
    neighbour = None
    for row in rows:
        if anchor := found[row]:
            neighbour = _as_neighbour(quotes[row], anchor) or neighbour
        else:
            found[row] = finder.find_similar(quotes[row], neighbour, after[row])
    return [found[row] for row in range(len(quotes))]


def _as_neighbour(quote: TextQuote, anchor: Anchor | None) -> _Neighbour | None:
    if anchor is None or quote.start < 0 or not quote.exact:
        return None
    return _Neighbour(anchor.start, anchor.start - quote.start)


def _occurrences(text: str, words: str, first: int = 0, last: int | None = None) -> list[int]:
    """Return where words begin between two characters, in order; overlapping ones as well."""
    end = len(text) if last is None else last
    places = []
    at = text.find(words, first, end)
    while at >= 0:
        places.append(at)
        at = text.find(words, at + 1, end)
    return places
