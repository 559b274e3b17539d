"""Compare a quotation with stretches of a book, word by word.

Words are compared as `fabula.text.folding` folds them, first letter by letter, then by the key that
old and new spellings share. Nothing else is allowed: a word that is another one, is missing or was
added makes it no quotation of this place.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from fabula.text.folding import SOLID, printed_words
from fabula.text.spelling import spelling_key

Difference = Literal[
    "white space",
    "marks",
    "punctuation",
    "case",
    "letters",
    "hyphens",
    "spelling",
    "ellipsis",
    "brackets",
]
"""What a quotation has otherwise than the book: white space and line ends; the forms of quotation
marks, apostrophes and dashes; other punctuation; capitals; diacritics, ligatures and old letters;
hyphens, and words written as one; the spelling of a word; words left out; words put in brackets."""

MAX_OCCURRENCES = 200
"""Places of one wording that are compared; more are of a phrase that proves nothing."""
MAX_GAP_CHARACTERS = 1500
"""What an ellipsis may leave out: about 250 words."""
GAP_CHARACTERS_PER_WORD = 150
"""A few words between two ellipses stand in most texts somewhere, so less may be left out then."""
MAX_BRACKET_CHARACTERS = 60
"""What words in brackets may stand for: a name, or a few words."""
MIN_PART_WORDS = 3
"""One part of a quotation with ellipses has at least this many words."""
SHORT_GAP_CHARACTERS = 40
"""An ellipsis that leaves out so little, and a negation with it, turns what is said around."""
CLOSEST_SHARE = 0.6
"""The words that a passage shares, in order, to be shown as the closest to a false quotation."""

_GAP = re.compile(r"[\[(]\s*(?:…+|\.(?:\s?\.)+)\s*[\])]|…+|\.(?:\s?\.){2,}|\[([^\]\n]{1,80})\]")
_LETTER_IN_BRACKETS = re.compile(r"\[(\w{1,2})\](?=\w)")
_NO_GAP = re.compile(r"\[(?:sic|!|\?)[!?]*\]", re.IGNORECASE)
_NOTE_NUMBER = re.compile(r"[\[(]\d{1,3}[\])]")
_HYPHENATED = re.compile(r"[-\u00ad\u00ac\u2010\u2011\u200b-\u200f\u2060]\s*\Z|\A[\u2010\u2011-]")
_WHITE = re.compile(r"\s+")
_MARKS = {
    **dict.fromkeys(map(ord, "“”„‟«»‹›「」『』〝〞〟｢｣＂‘’‚‛'`´ʼ＇"), '"'),
    **dict.fromkeys(map(ord, "—–―‒-‐‑"), "-"),
}
_LINE = re.compile(r"\s+/{1,2}\s+")
_SOLID = re.compile(SOLID)
_FINAL = "?!"
_NEGATION_WORDS = """
not no never nor none nobody nothing neither nowhere without hardly cannot
nicht kein keine keinen keinem keiner nie niemals nichts ne pas jamais point rien non mai
nada nunca nao jamas nie nigdy nic не ни нет никогда ничего
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a stretch of text: folded, with their characters in it."""

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def read_wording(text: str) -> Wording:
    """Return the words of a text, without the numbers of notes."""
    notes = [match.span() for match in _NOTE_NUMBER.finditer(text)]
    words = [
        (word, start, end)
        for word, start, end in printed_words(text)
        if not any(first <= start < last for first, last in notes)
    ]
    return Wording(
        text,
        tuple(word for word, _, _ in words),
        tuple(start for _, start, _ in words),
        tuple(end for _, _, end in words),
    )


class _Letters:
    """Words written without anything between them, and where each begins and ends."""

    def __init__(self, words: Sequence[str]) -> None:
        self.text = "".join(words)
        self.offsets: list[int] = []
        at = 0
        for word in words:
            self.offsets.append(at)
            at += len(word)
        self.starts = {offset: number for number, offset in enumerate(self.offsets)}
        ends = [*self.offsets[1:], at]
        self.ends = {end: number for number, end in enumerate(ends)}

    def find(self, letters: str) -> Iterator[tuple[int, int]]:
        """Yield the first and the last word of each occurrence that begins and ends with one."""
        at = self.text.find(letters)
        while at >= 0:
            first, last = self.starts.get(at), self.ends.get(at + len(letters))
            if first is not None and last is not None:
                yield first, last
            at = self.text.find(letters, at + 1)


class PrintedStretch:
    """A stretch of a document that quotations are compared with: chunks that follow each other.

    Attributes:
        document: The id of the document.
        start: The character of the document at which it begins.
        language: The language of the document.
        text: Its text.
    """

    def __init__(self, document: str, start: int, language: str, text: str) -> None:
        self.document = document
        self.start = start
        self.language = language
        self.text = text

    @cached_property
    def wording(self) -> Wording:
        """Its words."""
        return read_wording(self.text)

    @cached_property
    def letters(self) -> _Letters:
        """Its words as letters."""
        return _Letters(self.wording.words)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The spelling keys of its words."""
        return tuple(spelling_key(word, self.language) for word in self.wording.words)

    @cached_property
    def key_letters(self) -> _Letters:
        """Its spelling keys as letters."""
        return _Letters(self.keys)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The numbers of its words by their keys."""
        places: dict[str, list[int]] = defaultdict(list)
        for number, key in enumerate(self.keys):
            places[key].append(number)
        return places


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a quotation between ellipses or brackets, and what stands before it."""

    wording: Wording
    gap: Literal["", "ellipsis", "brackets"] = ""
    inserted: str = ""


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """Words of a stretch that a part of a quotation is."""

    stretch: PrintedStretch
    first: int
    last: int
    part: _Part

    @property
    def start(self) -> int:
        return self.stretch.start + self.stretch.wording.starts[self.first]

    @property
    def end(self) -> int:
        return self.stretch.start + self.stretch.wording.ends[self.last]

    @property
    def printed(self) -> str:
        return self.stretch.text[self.start - self.stretch.start : self.end - self.stretch.start]


@dataclass(frozen=True, slots=True)
class QuotationMatch:
    """Where a quotation is in a book.

    Attributes:
        document: The id of the document.
        spans: The characters of the document that it is: one range for each part.
        printed: The book's own words for each part.
        differences: What it has otherwise than the book.
    """

    document: str
    spans: tuple[tuple[int, int], ...]
    printed: tuple[str, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Closest:
    """The place of a book that a quotation resembles, though it is not there."""

    document: str
    span: tuple[int, int]
    printed: str
    shared: float


def normalize(text: str) -> str:
    """Return a quotation without brackets around a letter, and without "[sic]"."""
    return _NO_GAP.sub(" ", _LETTER_IN_BRACKETS.sub(r"\1", text))


def split_parts(text: str) -> list[tuple[int, int]]:
    """Return the characters of the parts of a quotation between ellipses and brackets."""
    parts = []
    at = 0
    for gap in [*_gaps(text), None]:
        wording = read_wording(text[at : gap.start() if gap else len(text)])
        if wording.words:
            parts.append((at + wording.starts[0], at + wording.ends[-1]))
        at = gap.end() if gap else at
    return parts


def find_matches(text: str, stretches: Sequence[PrintedStretch]) -> list[QuotationMatch]:
    """Return where a quotation is in stretches of books, in their order.

    Args:
        text: What is quoted, without its marks, as `normalize` returns it.
        stretches: Those of each document in its order; they do not touch each other.
    """
    whole = [_Part(read_wording(text))]
    if not whole[0].wording.words:
        return []
    has_gaps = any(True for _ in _gaps(text))
    ways = [whole] if not has_gaps else [whole, _read_parts(text)]
    for find in (_find_letters, _find_keys):
        for parts in ways:
            if len(parts) > 1 and max(len(p.wording.words) for p in parts) < MIN_PART_WORDS:
                continue
            found = [
                [each for stretch in stretches for each in find(part, stretch)] for part in parts
            ]
            if all(found) and (matches := [*_chain(found)]):
                return matches
    return []


def find_closest(text: str, stretches: Sequence[PrintedStretch]) -> Closest | None:
    """Return the words of a book that share most with a quotation in order, if that is most of it.

    Args:
        text: What is quoted.
        stretches: Stretches of books.
    """
    wording = read_wording(text)
    count = len(wording.words)
    best: tuple[float, PrintedStretch, int, int] | None = None
    for stretch in stretches:
        votes: Counter[int] = Counter()
        matching: dict[int, list[int]] = defaultdict(list)
        for number, word in enumerate(wording.words):
            for place in stretch.places.get(spelling_key(word, stretch.language), ()):
                votes[place - number] += 1
                matching[place - number].append(place)
        for diagonal, _ in votes.most_common(3):
            near = sorted(
                place
                for shift in range(diagonal - 3, diagonal + 4)
                for place in matching.get(shift, ())
                if diagonal - 1 <= place <= diagonal + count
            )
            distinct = sorted(set(near))
            share = min(len(distinct), count) / count
            if distinct and (best is None or share > best[0]):
                best = (share, stretch, distinct[0], distinct[-1])
    if best is None or best[0] < CLOSEST_SHARE or best[0] * count < MIN_PART_WORDS:
        return None
    share, stretch, first, last = best
    start, end = stretch.wording.starts[first], stretch.wording.ends[last]
    span = (stretch.start + start, stretch.start + end)
    return Closest(stretch.document, span, stretch.text[start:end], share)


def _gaps(text: str) -> Iterator[re.Match[str]]:
    return (gap for gap in _GAP.finditer(text) if not _NOTE_NUMBER.fullmatch(gap[0]))


def _read_parts(text: str) -> list[_Part]:
    parts: list[_Part] = []
    at = 0
    gap_before: Literal["", "ellipsis", "brackets"] = ""
    inserted = ""
    for gap in [*_gaps(text), None]:
        wording = read_wording(text[at : gap.start() if gap else len(text)])
        if wording.words:
            parts.append(_Part(wording, gap_before if parts else "", inserted if parts else ""))
            gap_before, inserted = "", ""
        if gap:
            at = gap.end()
            kind: Literal["ellipsis", "brackets"] = "brackets" if gap[1] else "ellipsis"
            # Two gaps with nothing between them leave out as much as the wider one may.
            gap_before = "ellipsis" if "ellipsis" in (gap_before, kind) else kind
            inserted = f"{inserted} {gap[1] or ''}".strip()
    return parts


def _find_letters(part: _Part, stretch: PrintedStretch) -> Iterator[_Occurrence]:
    """Yield where a part is, letter by letter."""
    yield from _find_in(part, stretch, stretch.letters, part.wording.words)


def _find_keys(part: _Part, stretch: PrintedStretch) -> Iterator[_Occurrence]:
    """Yield where a part is, in any spelling that the rules know."""
    keys = tuple(spelling_key(word, stretch.language) for word in part.wording.words)
    yield from _find_in(part, stretch, stretch.key_letters, keys)


def _find_in(
    part: _Part, stretch: PrintedStretch, letters: _Letters, words: Sequence[str]
) -> Iterator[_Occurrence]:
    sought = _Letters(words)
    for count, (first, last) in enumerate(letters.find(sought.text)):
        if count >= MAX_OCCURRENCES:
            return
        if _are_joined_alike(part, stretch, first, last, letters, sought):
            yield _Occurrence(stretch, first, last, part)


def _are_joined_alike(
    part: _Part,
    stretch: PrintedStretch,
    first: int,
    last: int,
    letters: _Letters,
    sought: _Letters,
) -> bool:
    """Return whether words are divided at the same letters, or may be written both ways."""
    begin = letters.offsets[first]
    printed = {letters.offsets[number] - begin: number for number in range(first + 1, last + 1)}
    quoted = {at: number for number, at in enumerate(sought.offsets) if number}
    if printed.keys() == quoted.keys():
        return True
    sides = [(printed, quoted, stretch.wording), (quoted, printed, part.wording)]
    return all(
        _may_be_joined(wording, number)
        for divided, joined, wording in sides
        for at, number in divided.items()
        if at not in joined
    )


def _may_be_joined(wording: Wording, number: int) -> bool:
    """Return whether a word and the one before it may be written as one, as "some one"."""
    between = wording.text[wording.ends[number - 1] : wording.starts[number]]
    if not between or _HYPHENATED.search(between):
        return True
    before, after = wording.words[number - 1], wording.words[number]
    if _SOLID.match(before) and _SOLID.match(after):
        return True
    if not between.isspace():
        return False
    if before == "to":
        return after in ("day", "morrow", "night")
    # But "not able" is not "notable".
    return len(before) >= 3 and len(after) >= 3 and before not in _NEGATIONS


def _chain(found: Sequence[Sequence[_Occurrence]]) -> Iterator[QuotationMatch]:
    """Yield the matches of a quotation's parts that follow each other closely in one document."""
    for first in found[0][:MAX_OCCURRENCES]:
        chain = [first]
        for occurrences in found[1:]:
            following = _next_part(chain[-1], occurrences)
            if following is None:
                break
            chain.append(following)
        else:
            yield QuotationMatch(
                document=first.stretch.document,
                spans=tuple((each.start, each.end) for each in chain),
                printed=tuple(each.printed for each in chain),
                differences=_compare(chain),
            )


def _next_part(before: _Occurrence, occurrences: Sequence[_Occurrence]) -> _Occurrence | None:
    """Return the nearest occurrence of the next part that may follow; None if there is none."""
    for each in occurrences:
        if each.stretch.document != before.stretch.document or each.start < before.end:
            continue
        gap = each.start - before.end
        fewest = min(len(before.part.wording.words), len(each.part.wording.words))
        limit = MAX_BRACKET_CHARACTERS
        if each.part.gap == "ellipsis":
            limit = min(MAX_GAP_CHARACTERS, GAP_CHARACTERS_PER_WORD * fewest)
        if gap > limit:
            return None
        if _turns_around(before, each, gap):
            continue
        return each
    return None


def _turns_around(before: _Occurrence, after: _Occurrence, gap: int) -> bool:
    """Return whether a negation is left out with a few words, or put in with brackets."""
    inserted = _has_negation(after.part.inserted)
    if after.stretch is not before.stretch:
        return inserted
    start, end = before.end - before.stretch.start, after.start - after.stretch.start
    left_out = _has_negation(before.stretch.text[start:end])
    if after.part.inserted:
        return inserted != left_out
    return gap <= SHORT_GAP_CHARACTERS and left_out


def _has_negation(text: str) -> bool:
    return any(word in _NEGATIONS or word.endswith("n't") for word, _, _ in printed_words(text))


def _compare(chain: Sequence[_Occurrence]) -> tuple[Difference, ...]:
    """Return what a quotation has otherwise than the book, in a fixed order."""
    found: set[Difference] = set()
    for each in chain:
        found |= _compare_part(each)
    for before, after in pairwise(chain):
        if after.part.gap:
            found.add(after.part.gap)
        assert before.end <= after.start
    order: tuple[Difference, ...] = (
        *("white space", "marks", "punctuation", "case", "letters"),
        *("hyphens", "spelling", "ellipsis", "brackets"),
    )
    return tuple(difference for difference in order if difference in found)


def _compare_part(occurrence: _Occurrence) -> set[Difference]:
    quoted, printed = occurrence.part.wording, occurrence.stretch.wording
    first, last = occurrence.first, occurrence.last
    ours = quoted.text[quoted.starts[0] : quoted.ends[-1]]
    theirs = printed.text[printed.starts[first] : printed.ends[last]]
    found: set[Difference] = set()
    # Of the punctuation at the end, only a question and an exclamation are the book's own words.
    ending = quoted.text[quoted.ends[-1] :].lstrip("\"'”’»").strip()[:1]
    following = printed.text[printed.ends[last] :].lstrip("\"'”’»")[:1]
    if ending and ending in _FINAL and ending != following:
        found.add("punctuation")
    if ours == theirs:
        return found
    if len(quoted.words) != last - first + 1:
        found.add("hyphens")
        return found | _compare_letters(ours, theirs)
    for number, place in zip(range(len(quoted.words)), range(first, last + 1), strict=True):
        word = quoted.text[quoted.starts[number] : quoted.ends[number]]
        other = printed.text[printed.starts[place] : printed.ends[place]]
        if quoted.words[number] != printed.words[place]:
            found.add("spelling")
        elif word != other:
            found |= _compare_words(word, other)
        if number:
            between = quoted.text[quoted.ends[number - 1] : quoted.starts[number]]
            printed_between = printed.text[printed.ends[place - 1] : printed.starts[place]]
            if between != printed_between:
                found |= _compare_signs(between, printed_between)
    return found


def _compare_letters(ours: str, theirs: str) -> set[Difference]:
    """Return how the letters of words differ that are divided otherwise."""
    ours, theirs = (re.sub(r"[\W_]", "", each) for each in (ours, theirs))
    if ours == theirs:
        return set()
    return {"case"} if ours.lower() == theirs.lower() else {"spelling"}


def _compare_words(word: str, other: str) -> set[Difference]:
    word, other = (unicodedata.normalize("NFC", each).translate(_MARKS) for each in (word, other))
    if word == other:
        return {"marks"}
    if word.casefold() == other.casefold():
        # Case folding also writes ß as ss and the long s as s, which are other letters.
        return {"case"} if word.lower() == other.lower() else {"letters"}
    return {"letters"}


def _compare_signs(between: str, printed: str) -> set[Difference]:
    """Return how what stands between words differs from what the book has there."""
    if between.split() == printed.split():
        return {"white space"}
    ours, theirs = (
        _WHITE.sub(" ", _LINE.sub(" ", _NOTE_NUMBER.sub("", each))) for each in (between, printed)
    )
    if ours == theirs:
        return {"white space"}
    ours, theirs = (
        _WHITE.sub("", each.translate(_MARKS)).replace("--", "-").replace("_", "").replace("*", "")
        for each in (ours, theirs)
    )
    if ours == theirs or ours.replace('"', "") == theirs.replace('"', ""):
        return {"marks"}
    if ours.replace("-", "") == theirs.replace("-", ""):
        return {"hyphens"} if "-" in (ours, theirs) else {"marks"}
    return {"punctuation"}
