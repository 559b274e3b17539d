"""Find in a text the words that an annotation marks, also after the text was edited.

An annotation keeps the characters between which its words stood, the words themselves, and some
characters before and after them: the TextPositionSelector and the TextQuoteSelector of the W3C's
Web Annotation Data Model (https://www.w3.org/TR/annotation-model/, sections 4.2.4 and 4.2.5).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from rapidfuzz import fuzz

from fabula.errors import BadValue
from fabula.text.phrases import SearchBudget, find_phrases

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
MAX_CHANGED_CHARACTERS = 20_000
"""Of a quotation that is looked for with changed words: comparing it costs the square of these, and
with so many 3 milliseconds. Letters and digits of a longer one must stand as they are."""
MAX_SEEDS = 2_000
"""Of the places of a changed quotation's words, rarest first, how many say where it may stand."""
MAX_PLACES_COMPARED, MIN_PLACES_COMPARED = 200, 8
"""Of the places where a changed quotation may stand, how many a short and a long one is compared
with: few words are at many places."""
MAX_CHARACTERS_COMPARED = 10_000
"""Between these two, it is compared with so many characters."""
SHIFT_CHARACTERS = 32
"""Words of one place may stand so much nearer together, or farther apart, than in the quotation."""
END_CHARACTERS = 64
"""Of each end of a changed quotation, by which it is found where it begins and ends: so many
letters fit into one word of the processor, and take 30 microseconds."""
MAX_CONTEXT_CHARACTERS = 200
"""Of what is around a quotation that is compared; a file may say much more."""
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

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = MAX_MARKED_CHARACTERS

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

    def __init__(self, text: str, budget: SearchBudget | None = None) -> None:
        self._text = text
        self._budget = budget or SearchBudget()
        self._found: dict[str, Sequence[int]] = {}
        """Where phrases that were looked up begin in the text."""
        self._found_letters: dict[str, Sequence[int]] = {}
        """The same of the letters of phrases, in those of the text."""
        self._moved = 0
        self._neighbours: tuple[_Neighbour | None, _Neighbour | None] = None, None

    def look_up(self, quotes: Iterable[TextQuote]) -> None:
        """Look all of some quotations up at once, with their contexts: one by one takes longer."""
        self._found |= find_phrases(self._text, map(_whole, quotes), self._budget)

    def look_up_similar(self, quotes: Sequence[TextQuote]) -> None:
        """Look all of some quotations up at once by themselves, by their letters and prefixes."""
        phrases = [words for quote in quotes for words in (quote.exact, quote.prefix)]
        self._found |= find_phrases(self._text, phrases, self._budget)
        if left := [quote.exact for quote in quotes if not self._found.get(quote.exact, True)]:
            letters = map(_letters, left)
            self._found_letters |= find_phrases(self._letters[0], letters, self._budget)

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
            return None
        if self.stands(quote):
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
            return self._at_position(quote, before, after)
        self._neighbours = before, after
        if before or after:
            nearest = before or after
            assert nearest is not None
            self._moved = nearest.moved
        if found := self._find_exact(quote):
            return self._make_anchor(quote, *found, QUOTE)
        is_bare = not (quote.prefix or quote.suffix) and quote.start < 0
        if is_bare and self._find_all(quote.exact):
            return None  # it stands several times: nothing says which one is meant
        if found := self._find_letters(quote):
            return self._make_anchor(quote, *found, FUZZY)
        return self._find_changed(quote)

    def stands(self, quote: TextQuote) -> bool:
        """Whether a quotation stands at its place with all of its context."""
        return quote.start >= 0 and self._stands_at(quote, quote.start)

    def _at_position(
        self, quote: TextQuote, before: _Neighbour | None, after: _Neighbour | None
    ) -> Anchor | None:
        """A place without words, moved as far as both of its neighbours; None if these differ.

        Beyond the first and the last quotation it counts only if these did not move.
        """
        moves = {each.moved if each else 0 for each in (before, after)}
        moved = moves.pop()
        start, end = quote.start + moved, quote.end + moved
        if moves or quote.start < 0 or not 0 <= start < end <= len(self._text):
            return None
        return Anchor(start, end, FUZZY if moved else POSITION)

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
        expected = self._expected_start(quote)
        starts = [at + len(quote.prefix) for at in self._find_all(_whole(quote))]
        if not starts or (len(starts) > 1 and expected < 0):
            return -1  # of several equal places, it is not known what they are near to
        return min(starts, key=lambda start: (abs(start - expected), start))

    def _find_all(self, words: str) -> Sequence[int]:
        """Where words begin in the text."""
        if words not in self._found:
            self._found |= find_phrases(self._text, [words], self._budget)
        return self._found.get(words, ())

    def _find_exact(self, quote: TextQuote) -> tuple[int, int] | None:
        """Where the words stand in a context like their own; None if that is no single place."""
        size = len(quote.exact)
        places = self._find_all(quote.exact)
        nearest = _take_nearest(places, self._expected_start(quote))
        return self._choose(quote, [(at, at + size) for at in nearest])

    def _find_letters(self, quote: TextQuote) -> tuple[int, int] | None:
        """The same for its letters and digits, whatever case, white space and signs they have."""
        wanted = _letters(quote.exact)
        if len(wanted) < MIN_FUZZY_CHARACTERS:
            return None
        letters, places = self._letters
        if wanted not in self._found_letters:
            self._found_letters |= find_phrases(letters, [wanted], self._budget)
        expected = self._expected_start(quote)
        expected = bisect_left(places, expected) if expected >= 0 else -1
        spans = [
            self._with_signs(quote.exact, places[at], places[at + len(wanted) - 1] + 1)
            for at in _take_nearest(self._found_letters[wanted], expected)
        ]
        return self._choose(quote, spans)

    def _with_signs(self, exact: str, start: int, end: int) -> tuple[int, int]:
        """Widen a span of letters by as many signs as a quotation has at its ends."""
        text = self._text
        for _ in takewhile(_is_sign, exact):
            start -= start > 0 and _is_sign(text[start - 1])
        for _ in takewhile(_is_sign, reversed(exact)):
            end += end < len(text) and _is_sign(text[end])
        return start, end

    def _choose(self, quote: TextQuote, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """The one of several places of equal words that is meant; None if that is not known."""
        if not spans:
            return None
        expected = self._expected_start(quote)
        has_context = bool(quote.prefix.strip() or quote.suffix.strip())
        size = len(quote.exact)
        if len(spans) == 1 and not has_context:
            return spans[0]
        if len(spans) == 1 and size >= LONG_CHARACTERS:
            is_sure = size >= FAR_CHARACTERS or self._is_trusted(quote, *spans[0])
            return spans[0] if is_sure else None
        if not has_context:
            # Nothing says which one it was but its place.
            return min(spans, key=lambda each: abs(each[0] - expected)) if expected >= 0 else None
        self._budget.spend(20 * len(spans))
        scored = [(self._context_score(quote, *span), span) for span in spans]
        scored = [
            (score, span)
            for score, span in scored
            if score >= MIN_CONTEXT and self._is_trusted(quote, *span)
        ]
        if not scored:
            return None
        best = max(score for score, _ in scored)
        candidates = [span for score, span in scored if score == best]
        # Better none than one of several by chance: a note must not move to other words.
        if len(candidates) > 1 and expected < 0:
            return None
        return min(candidates, key=lambda span: (abs(span[0] - expected), span))

    def _is_in_context(self, quote: TextQuote, start: int, end: int) -> bool:
        """Whether changed words are long enough to be the ones, or stand as these did."""
        if not self._is_trusted(quote, start, end):
            return False
        if len(quote.exact) >= LONG_CHARACTERS or not (quote.prefix or quote.suffix):
            return True
        return self._context_score(quote, start, end) >= MIN_CONTEXT

    def _is_trusted(self, quote: TextQuote, start: int, end: int) -> bool:
        """Whether a place is near the old one, between its neighbours, or alike on both sides."""
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
        """How much alike what is around the words is at a place, from 0 to 100."""
        sides = self._compare_sides(quote, start, end)
        # The better side counts double: an edit beside the words changes one of them.
        return (max(sides) * 2 + min(sides)) / 3 if sides else 0.0

    def _compare_sides(self, quote: TextQuote, start: int, end: int) -> list[float]:
        """How much alike the text before a place and that after it are, without empty sides."""
        prefix = quote.prefix[-MAX_CONTEXT_CHARACTERS:]
        suffix = quote.suffix[:MAX_CONTEXT_CHARACTERS]
        before = self._text[max(0, start - len(prefix)) : start]
        after = self._text[end : end + len(suffix)]
        return [
            fuzz.ratio(wanted, there)
            for wanted, there in ((prefix, before), (suffix, after))
            if wanted
        ]

    def _find_changed(self, quote: TextQuote) -> Anchor | None:
        """Words that are like the quotation, where its context or most of its words stand."""
        if len(quote.exact) < MIN_FUZZY_CHARACTERS:
            return None
        if len(quote.exact) > MAX_CHANGED_CHARACTERS or self._budget.is_spent:
            self._budget.untried += not self._budget.is_spent
            return None
        if between := self._between_context(quote):
            return self._make_anchor(quote, *between, FUZZY)
        best: tuple[float, int, int] | None = None
        words_there = 0
        for place, count in self._likely_starts(quote):
            if best and count < words_there:
                break  # where fewer of its words stand, it is less alike
            start, end = self._align(quote.exact, place)
            score = self._compare(quote.exact, start, end)
            is_meant = score >= MIN_ALIKE and self._is_in_context(quote, start, end)
            if is_meant and (best is None or score > best[0]):
                best, words_there = (score, start, end), count
        return self._make_anchor(quote, best[1], best[2], FUZZY) if best else None

    def _compare(self, words: str, start: int, end: int) -> float:
        """How alike words and the text between two characters are, 0 to 100; 0 below MIN_ALIKE."""
        # It compares 64 letters at a time with each other letter.
        self._budget.spend(10 + len(words) * (end - start) // 6_400)
        return fuzz.ratio(words, self._text[start:end], score_cutoff=MIN_ALIKE)

    def _between_context(self, quote: TextQuote) -> tuple[int, int] | None:
        """Where the prefix and the suffix stand around words that are like the quotation."""
        if not (quote.prefix.strip() and quote.suffix.strip()):
            return None
        expected = self._expected_start(quote)
        longest = 2 * len(quote.exact) + CONTEXT_CHARACTERS
        spans = []
        for place in _take_nearest(self._find_all(quote.prefix), expected)[:MAX_CANDIDATES]:
            start = place + len(quote.prefix)
            self._budget.spend(1 + longest // 1_000)
            end = self._text.find(quote.suffix, start, start + longest + len(quote.suffix))
            if end > start:
                spans.append((start, end))
        spans = sorted(spans, key=lambda span: abs(span[0] - expected))[:MIN_PLACES_COMPARED]
        alike = [span for span in spans if self._compare(quote.exact, *span)]
        if not alike or (len(alike) > 1 and expected < 0):
            return None
        return alike[0]

    def _likely_starts(self, quote: TextQuote) -> list[tuple[int, int]]:
        """Where a quotation may begin, and how many of its words say so; most are first."""
        words = [(match[0], match.start()) for match in _WORD.finditer(quote.exact)]
        known = [(word, at) for word, at in words if word in self._places]
        expected = self._expected_start(quote)
        most = MAX_CHARACTERS_COMPARED // len(quote.exact)
        most = min(max(most, MIN_PLACES_COMPARED), MAX_PLACES_COMPARED)
        starts: list[tuple[int, int]] = []
        # Near the expected place all words are counted, elsewhere the rarest first.
        if expected >= 0:
            first, last = expected - NEAR_CHARACTERS, expected + NEAR_CHARACTERS
            starts += self._count_starts(known, first, last)[: most // 2]
        rare = sorted(known, key=lambda each: len(self._places[each[0]]))
        starts += self._count_starts(rare, 0, len(self._text))[: most - len(starts)]
        return sorted(starts, key=lambda each: -each[1])

    def _count_starts(
        self, words: Iterable[tuple[str, int]], first: int, last: int
    ) -> list[tuple[int, int]]:
        """Return where words say their quotation begins between two characters, by how many."""
        starts: list[int] = []
        for word, at in words:
            places = self._places[word]
            low, high = bisect_left(places, first + at), bisect_right(places, last + at)
            if len(starts) + high - low > MAX_SEEDS:
                break
            starts += [place - at for place in places[low:high]]
        self._budget.spend(20 + 3 * len(starts))
        # Starts that are apart by less than SHIFT_CHARACTERS count as the least of them.
        counts: Counter[int] = Counter()
        group = -SHIFT_CHARACTERS
        for start in sorted(starts):
            if start - group >= SHIFT_CHARACTERS:
                group = start
            counts[group] += 1
        return counts.most_common()

    def _align(self, words: str, place: int) -> tuple[int, int]:
        """Return the first and the last character of what stands for words, near to a place."""
        slack = SHIFT_CHARACTERS + min(len(words) // 8, NEAR_CHARACTERS)
        head = self._find_end(words[:END_CHARACTERS], place - SHIFT_CHARACTERS, 2 * slack)
        start = head[0] if head else max(0, place)
        if len(words) <= END_CHARACTERS:
            return self._whole_words(*(head or (start, min(len(self._text), start + len(words)))))
        last = start + len(words) - END_CHARACTERS - slack
        tail = self._find_end(words[-END_CHARACTERS:], max(start, last), 2 * slack)
        end = tail[1] if tail else min(len(self._text), start + len(words))
        return self._whole_words(start, end)

    def _find_end(self, words: str, first: int, slack: int) -> tuple[int, int] | None:
        """Where some words at an end of a quotation, or words like them, stand from a character."""
        first = max(0, first)
        stretch = self._text[first : first + slack + len(words)]
        self._budget.spend(len(stretch))
        found = fuzz.partial_ratio_alignment(words, stretch, score_cutoff=MIN_ALIKE / 2)
        return (first + found.dest_start, first + found.dest_end) if found else None

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
    def _letters(self) -> tuple[str, Sequence[int]]:
        """The letters and digits of the text in lower case, and where each of them stands."""
        return _letters(self._text), array("L", _letter_places(self._text))

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each word of the text begins; made when the first changed words are looked for."""
        places: dict[str, list[int]] = {}
        for match in _WORD.finditer(self._text):
            places.setdefault(match[0], []).append(match.start())
        return places


def anchor_quotes(
    text: str,
    quotes: Sequence[TextQuote],
    budget: SearchBudget | None = None,
    report: Callable[[int, int], None] = lambda done, known: None,
) -> list[Anchor | None]:
    """Return where each quotation stands in a text, in their order; None for those that are gone.

    They are looked for in the order of their places, whatever their own order is: first all that
    are unchanged, which then say where the others are to be expected.

    Args:
        text: The text.
        quotes: The quotations.
        budget: How much may be done. It counts those that are not found as they were not looked
            for.
        report: Receives how many have been looked for, of how many.
    """
    report(0, len(quotes))
    budget = budget or SearchBudget()
    finder = QuoteFinder(text, budget)
    rows = sorted(range(len(quotes)), key=lambda row: (quotes[row].start, quotes[row].end))
    finder.look_up(quote for quote in quotes if not finder.stands(quote))
    found = {row: finder.find_unchanged(quotes[row]) for row in rows}
    # From the end, so that each row is given the nearest unchanged quotation behind it.
    after: dict[int, _Neighbour | None] = {}
    neighbour: _Neighbour | None = None
    for row in reversed(rows):
        after[row] = neighbour
        neighbour = _as_neighbour(quotes[row], found[row]) or neighbour
    # Where no quotation stands where it should, a place without words says nothing of this text.
    is_lost = neighbour is None and any(quote.exact and quote.start >= 0 for quote in quotes)
    finder.look_up_similar([quotes[row] for row in rows if not found[row]])
    neighbour = None
    for done, row in enumerate(rows, 1):
        if anchor := found[row]:
            neighbour = _as_neighbour(quotes[row], anchor) or neighbour
        elif quotes[row].exact or not is_lost:
            found[row] = finder.find_similar(quotes[row], neighbour, after[row])
            budget.untried += budget.is_spent and found[row] is None
        report(done, len(rows))
    return [found[row] for row in range(len(quotes))]


def _as_neighbour(quote: TextQuote, anchor: Anchor | None) -> _Neighbour | None:
    if anchor is None or quote.start < 0 or not quote.exact:
        return None
    return _Neighbour(anchor.start, anchor.start - quote.start)


def _whole(quote: TextQuote) -> str:
    """A quotation with what is around it; '' if one of these is nothing."""
    has_both = quote.exact and (quote.prefix or quote.suffix)
    return f"{quote.prefix}{quote.exact}{quote.suffix}" if has_both else ""


def _take_nearest(places: Sequence[int], expected: int) -> Sequence[int]:
    """Of many places those nearest to one; all if that is not known."""
    if len(places) <= MAX_CANDIDATES or expected < 0:
        return places
    first = max(0, bisect_left(places, expected) - MAX_CANDIDATES // 2)
    return places[first : first + MAX_CANDIDATES]


def _is_sign(character: str) -> bool:
    return not (character.isalnum() or character.isspace())


def _letter_places(text: str) -> list[int]:
    return [at for at, character in enumerate(text) if character.isalnum()]


def _letters(text: str) -> str:
    """The letters and digits of a text in lower case: what no edition prints in another way."""
    # All but this one are a single letter in lower case as well.
    return "".join(filter(str.isalnum, text)).replace("\u0130", "i").lower()
