"""A text as numbered tokens, in which BookNLP says where something stands.

Tokens are words, and each other sign by itself; "'s" and the like are tokens of their own. A word
in which an annotation begins or ends, as "me" in "wi'me", is two tokens, so that none is widened by
being written. Where files of others are read, their tokens are found in the text again, whatever
white space and quotation marks they have.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabula.graph.annotations import Annotation
from fabula.text.anchoring import QuoteReader, TextQuote
from fabula.text.document import Document
from fabula.text.sentences import spans
from fabula.text.units import UnitPlaces

_ENDING = r"['’](?:s|S|ll|re|ve|d|m)(?![^\W_])"
_TOKEN = re.compile(rf"{_ENDING}|[^\W_]+(?:(?!{_ENDING})['’][^\W_]+)*|[^\w\s]|_")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_MARKS = str.maketrans("“”„«»‘’‚´`–—", '"' * 5 + "'" * 5 + "--")
"""Signs that others write in other forms, letter by letter."""
_MARKS_OF_TREEBANK = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]"}
"""Signs as the Penn Treebank writes them."""
PROBE = 12
"""Tokens in a row by which it is found where in the text tokens begin."""
NEAR = 3
"""Characters, such as a bracket, that the text may have more before a short word."""
REACH = 600
"""Characters, white space left out, in which the next token must stand."""


@dataclass(frozen=True, slots=True)
class TextToken:
    """A token with its characters, and the numbers of its sentence and paragraph."""

    text: str
    start: int
    end: int
    sentence: int
    number_in_sentence: int
    paragraph: int


class TokenizedText:
    """The tokens of a document in order.

    Args:
        document: The document.
        annotations: No token goes over the beginning or the end of one of these.
    """

    def __init__(self, document: Document, annotations: Iterable[Annotation] = ()) -> None:
        text = document.text
        edges = sorted({at for each in annotations for at in (each.start, each.end)})
        breaks = [match.start() for match in _PARAGRAPH.finditer(text)]
        self.tokens: list[TextToken] = []
        for sentence, (start, end) in enumerate(spans(text, document.language)):
            for number, (first, last) in enumerate(_split(text, start, end, edges)):
                paragraph = bisect_right(breaks, first)
                token = TextToken(text[first:last], first, last, sentence, number, paragraph)
                self.tokens.append(token)
        self._starts = [token.start for token in self.tokens]
        self._ends = [token.end for token in self.tokens]

    def find(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and the last token of some characters; None if there is none."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end) - 1
        return (first, last) if first <= last else None


def find_tokens(text: str) -> list[tuple[int, int]]:
    """Return the characters of the tokens of a text, in order."""
    return [match.span() for match in _TOKEN.finditer(text)]


def align_tokens(tokens: Sequence[str], text: str) -> list[tuple[int, int] | None]:
    """Return the characters of a text at which tokens stand, in order; None for those it lacks.

    The tokens may be of a part of the text, or of another edition of it. White space does not
    count, and neither do the forms of quotation marks and dashes.
    """
    places = [at for at, letter in enumerate(text) if not letter.isspace()]
    bare = "".join(text[at] for at in places).translate(_MARKS)
    forms = [_bare(token) for token in tokens]
    anchors = _find_anchors(forms, bare)
    stops = iter([*anchors.values(), len(bare)])
    stop = next(stops)
    at = _find_beginning(forms, bare)
    found: list[tuple[int, int] | None] = []
    for row, form in enumerate(forms):
        if row in anchors:
            at, stop = anchors[row], next(stops)
        # Between two anchors no word is taken for one behind the second: what the text lacks, as a
        # long note, would else lead on and on.
        place = _find_next(forms, row, bare, at, stop) if form else -1
        if place < 0:
            found.append(None)
            continue
        at = place + len(form)
        found.append((places[place], places[at - 1] + 1))
    return found


def _bare(token: str) -> str:
    token = _MARKS_OF_TREEBANK.get(token, token)
    return "".join(token.split()).translate(_MARKS)


def _find_beginning(forms: Sequence[str], bare: str) -> int:
    """Where the first tokens stand that the text has in a row."""
    for first in range(0, max(1, min(len(forms), 200)), 4):
        run = "".join(forms[first : first + PROBE])
        if run and (place := bare.find(run)) >= 0:
            before = sum(map(len, forms[:first]))
            return max(0, place - before - 50)
    return 0


def _find_anchors(forms: Sequence[str], bare: str) -> dict[int, int]:
    """Return where runs of PROBE tokens stand that the text has once, by their first number."""
    found: list[tuple[int, int]] = []
    expected = 0
    for row in range(0, len(forms) - PROBE + 1, PROBE):
        run = "".join(forms[row : row + PROBE])
        place = bare.find(run, expected, expected + REACH)
        if place < 0:
            place = bare.find(run)
            if place < 0 or bare.find(run, place + 1) >= 0:
                continue
        found.append((row, place))
        expected = place + len(run)
    # Of those that are not in the order of the text as few as possible are left out.
    return dict(found[number] for number in _longest_rise([place for _, place in found]))


def _longest_rise(values: Sequence[int]) -> list[int]:
    """Return the numbers of the values of a longest subsequence that rises."""
    ends: list[int] = []
    numbers: list[int] = []
    before: list[int] = []
    for number, value in enumerate(values):
        length = bisect_left(ends, value)
        ends[length : length + 1] = [value]
        numbers[length : length + 1] = [number]
        before.append(numbers[length - 1] if length else -1)
    rise = []
    number = numbers[-1] if numbers else -1
    while number >= 0:
        rise.append(number)
        number = before[number]
    return rise[::-1]


def _split(text: str, start: int, end: int, edges: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the tokens between two characters, divided at edges that are inside of one."""
    for match in _TOKEN.finditer(text, start, end):
        first, last = match.span()
        inside = edges[bisect_right(edges, first) : bisect_left(edges, last)]
        yield from pairwise((first, *inside, last))


def _find_next(forms: Sequence[str], row: int, bare: str, at: int, stop: int) -> int:
    """Where a token stands next, before `stop`; -1 if that is not near, or those after it are."""
    form = forms[row]
    if bare.startswith(form, at):
        return at
    # With those behind it, a short word is not mistaken for a later one.
    run = "".join(forms[row : row + 4])
    place = bare.find(run, at, at + REACH)
    if place < 0 and len(form) >= len("its"):
        place = bare.find(
            form, at, at + (REACH if len(form) >= len("letter") else NEAR + len(form))
        )
    return place if place + len(form) <= stop else -1


class Carrier:
    """Carries places of an edition's text over to the document's, word by word.

    Args:
        edition: The text that places are of.
        document: The text of the document.
    """

    def __init__(self, edition: str, document: str) -> None:
        self._edition = edition
        self._is_same = edition == document
        tokens = find_tokens(edition)
        self._starts = [start for start, _ in tokens]
        self._ends = [end for _, end in tokens]
        words = [edition[start:end] for start, end in tokens]
        self._spans: Sequence[tuple[int, int] | None] = (
            tokens if self._is_same else align_tokens(words, document)
        )

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where the words between two characters stand; None if the document lacks them."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end) - 1
        rows = [row for row in range(first, last + 1) if self._spans[row]]
        if not rows:
            return None
        begin = self._inside(rows[0], start, is_end=False)
        finish = self._inside(rows[-1], end, is_end=True)
        return (begin, finish) if begin < finish else None

    def _inside(self, row: int, at: int, *, is_end: bool) -> int:
        """The place of a character in a token that is as long in both, else the token's edge."""
        span = self._spans[row]
        assert span is not None
        first, last = self._starts[row], self._ends[row]
        if first < at < last and last - first == span[1] - span[0]:
            return span[0] + at - first
        return span[1] if is_end else span[0]


class ToolText:
    """The text that a tool annotated, as its files have it, beside the document's.

    Args:
        own: The tool's text.
        unit: What the tool's places count, a unit of `fabula.text.units`.
        document: The document.
    """

    def __init__(self, own: str, unit: str, document: Document) -> None:
        self._own, self._text = own, document.text
        self._places = UnitPlaces(own, unit)
        self._carrier = Carrier(own, document.text)
        self._quotes, self._own_quotes = QuoteReader(document.text), QuoteReader(own)

    def words(self, start: int, end: int) -> str:
        """Return the words between two places of the tool's text, on one line."""
        start, end = map(self._places.to_character, (start, end))
        return " ".join(self._own_quotes.read(start, end).exact.split())

    def quote(self, start: int, end: int) -> TextQuote:
        """Return the document's words between two places of the tool's text.

        What the document does not have word for word is the tool's quotation, without a place.
        """
        start, end = map(self._places.to_character, (start, end))
        own = self._own_quotes.read(start, end)
        if span := self._carrier.span(start, end):
            quote = self._quotes.read(*span)
            if _bare(quote.exact) == _bare(own.exact):
                return quote
        exact, prefix, suffix = (" ".join(x.split()) for x in (own.exact, own.prefix, own.suffix))
        return TextQuote(exact, prefix, suffix)
