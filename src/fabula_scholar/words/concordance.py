"""Words of a text in their contexts, and how often they stand: what concordancers count.

Words are those of `fabula.text.folding.printed_words`: case, diacritics and ligatures do not count,
possessives and short forms as "can't" are words of their own, and a part of a word before a hyphen
is a word.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from fabula.errors import BadValue
from fabula.text.folding import fold, printed_words
from fabula.text.stems import Stemmer, stemmer_of

SortOrder = Literal["position", "left", "right", "node"]
SORTED_WORDS = 3
"""How many words beside the node a sort compares, nearest first, as AntConc does by default."""
MAX_QUERY_WORDS = 20
"""Of a phrase that is looked for."""
MAX_WILDCARDS = 4
"""Of one word of it: each may take time with the length of a word."""
MAX_PATTERN_SECONDS = 20.0
"""Of processor time that a regular expression may take in one text."""
STANDARD_TOKENS = 1_000
"""The length of the stretches of which the standardised type-token ratio is the mean (Scott's
WordSmith Tools; a ratio of whole texts falls with their length)."""
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class TextMatch:
    """Characters of a text that a query found, and the words that these are, by their numbers."""

    start: int
    end: int
    first: int
    last: int


class WordText:
    """A text as the words that it prints, with their places.

    Attributes:
        text: The text.
        language: Its language, an ISO 639-1 code, by which words are stemmed.
    """

    def __init__(self, text: str, language: str = "") -> None:
        self.text = text
        self.language = language

    @cached_property
    def _printed(self) -> list[tuple[str, int, int]]:
        return list(printed_words(self.text))

    @cached_property
    def words(self) -> list[str]:
        """The words, folded, in order."""
        return [word for word, _, _ in self._printed]

    @cached_property
    def starts(self) -> list[int]:
        """The character at which each word begins."""
        return [start for _, start, _ in self._printed]

    @cached_property
    def ends(self) -> list[int]:
        """The character after each word."""
        return [end for _, _, end in self._printed]

    @cached_property
    def stems(self) -> list[str]:
        """The stem of each word."""
        stemmer = stemmer_of(self.language)
        return [_stem(stemmer, word) for word in self.words]

    def forms(self, *, stemmed: bool) -> list[str]:
        """Return the words, or their stems."""
        return self.stems if stemmed else self.words

    def find_words(self, query: str, *, stemmed: bool = False) -> list[TextMatch]:
        """Return where the words of a query stand one after the other.

        Args:
            query: Words; in each `*` is any letters, and `?` is one letter. `king|queen` is one or
                the other.
            stemmed: Whether words are the same that have the same stem.

        Raises:
            BadValue: It has no words, or too many, or too many wildcards.
        """
        patterns = [
            _WordPattern(word, self.language, stemmed=stemmed) for word in _query_words(query)
        ]
        forms = self.forms(stemmed=stemmed)
        matching = [{form for form in set(forms) if pattern(form)} for pattern in patterns]
        first = matching[0]
        found = []
        for row, form in enumerate(forms):
            if form in first and all(
                row + step < len(forms) and forms[row + step] in there
                for step, there in enumerate(matching)
            ):
                last = row + len(matching) - 1
                found.append(TextMatch(self.starts[row], self.ends[last], row, last))
        return found

    def find_pattern(self, pattern: str, seconds: float = MAX_PATTERN_SECONDS) -> list[TextMatch]:
        """Return where a regular expression of Python matches the text; empty matches are left out.

        Args:
            pattern: The expression.
            seconds: How much time of the processor it may take.

        Raises:
            BadValue: It is not a regular expression, or takes longer.
        """
        # Not `re`: an expression such as (a+)+b may take any time, and `re` can't be stopped.
        import regex

        try:
            compiled = regex.compile(pattern)
        except (regex.error, RecursionError) as error:
            raise BadValue(f"{pattern!r} is not a regular expression: {error}.") from error
        try:
            spans = [match.span() for match in compiled.finditer(self.text, timeout=seconds)]
        except TimeoutError:
            raise BadValue(
                f"{pattern!r} takes more than {seconds:g} seconds in one text: write it without "
                "repetitions inside of repetitions, such as (a+)+."
            ) from None
        found = []
        for start, end in spans:
            if end > start:
                first = bisect_right(self.ends, start)
                last = bisect_left(self.starts, end) - 1
                found.append(TextMatch(start, end, first, max(first, last)))
        return found

    def around(self, match: TextMatch, characters: int) -> tuple[str, str]:
        """Return the text before and after a match, on one line, cut between words."""
        first = max(0, match.start - characters - 20)
        before = self.text[first : match.start]
        after = self.text[match.end : match.end + characters + 20]
        left, right = " ".join(before.split()), " ".join(after.split())
        if before[-1:].isspace():
            left += " "
        if after[:1].isspace():
            right = " " + right
        if first and " " in left.rstrip():
            left = left[left.find(" ") + 1 :]  # what it begins with may be a part of a word
        return cut_before(left, characters), cut_after(right, characters)

    def sort_key(self, match: TextMatch, order: SortOrder) -> tuple[str, ...]:
        """Return what matches are sorted by: the words nearest to them on one side, or their own.

        Matches of equal keys are in text order if the sort is stable.
        """
        words = self.words
        if order == "left":
            return tuple(reversed(words[max(0, match.first - SORTED_WORDS) : match.first]))
        if order == "right":
            return tuple(words[match.last + 1 : match.last + 1 + SORTED_WORDS])
        if order == "node":
            return (fold(self.text[match.start : match.end]),)
        return ()


@dataclass(frozen=True, slots=True)
class TypeTokenCounts:
    """How many words a text has.

    Attributes:
        tokens: All words.
        types: Different words.
        hapaxes: Words that stand once.
        standard_ratio: The mean share of different words in stretches of STANDARD_TOKENS words; of
            a shorter text that of all of it.
    """

    tokens: int
    types: int
    hapaxes: int
    standard_ratio: float

    @property
    def ratio(self) -> float:
        """The share of different words (type-token ratio)."""
        return self.types / self.tokens if self.tokens else 0.0


def cut_before(text: str, characters: int) -> str:
    """Return the end of a text, of at most so many characters, from a word on."""
    end = text[max(0, len(text) - characters) :]
    return end[end.find(" ") + 1 :] if len(end) < len(text) and " " in end.rstrip() else end


def cut_after(text: str, characters: int) -> str:
    """Return the beginning of a text, of at most so many characters, up to the end of a word."""
    start = text[:characters]
    return start[: start.rfind(" ")] if len(start) < len(text) and " " in start.strip() else start


class WordCounter:
    """Counts the words of texts together, one text after the other."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._share = 0.0
        self._stretches = 0

    def add(self, words: Sequence[str]) -> None:
        """Count a text; stretches of the standardised ratio are within it."""
        self._counts.update(words)
        for first in range(0, len(words) - STANDARD_TOKENS + 1, STANDARD_TOKENS):
            self._share += len(set(words[first : first + STANDARD_TOKENS])) / STANDARD_TOKENS
            self._stretches += 1

    def counts(self) -> TypeTokenCounts:
        """Return the counts of all texts so far."""
        tokens, types = self._counts.total(), len(self._counts)
        standard = self._share / self._stretches if self._stretches else types / max(1, tokens)
        hapaxes = sum(count == 1 for count in self._counts.values())
        return TypeTokenCounts(tokens, types, hapaxes, standard)


def ngrams(text: WordText, size: int, *, stemmed: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield runs of words that follow each other within a paragraph, in order."""
    forms = text.forms(stemmed=stemmed)
    # Where the paragraph of each word begins: no run goes over a blank line.
    breaks = [match.start() for match in _PARAGRAPH.finditer(text.text)]
    paragraphs = [bisect_right(breaks, start) for start in text.starts]
    for row in range(len(forms) - size + 1):
        if paragraphs[row] == paragraphs[row + size - 1]:
            yield tuple(forms[row : row + size])


def is_function_word(word: str, language: str) -> bool:
    """Return whether a word is a function word; outside of English, whether it is short."""
    return not stemmer_of(language).terms(word)


def _query_words(query: str) -> list[str]:
    words = [fold(word) for word in query.split()]
    if not words:
        raise BadValue("Give a word to look for, or several that stand together.")
    if len(words) > MAX_QUERY_WORDS:
        raise BadValue(f"{MAX_QUERY_WORDS} words at most are looked for together.")
    if any(word.count("*") > MAX_WILDCARDS for word in words):
        raise BadValue(f"A word may have {MAX_WILDCARDS} wildcards (*) at most.")
    return words


class _WordPattern:
    """Whether a word is one of the alternatives of a word of a query."""

    def __init__(self, word: str, language: str, *, stemmed: bool) -> None:
        stemmer = stemmer_of(language)
        self._equal: set[str] = set()
        self._patterns: list[re.Pattern[str]] = []
        for alternative in filter(None, word.split("|")):
            if re.search(r"[*?]", alternative):
                self._patterns.append(re.compile(_translate(alternative), re.DOTALL))
            else:
                printed = [each for each, _, _ in printed_words(alternative)]
                plain = "".join(printed)
                self._equal.add(_stem(stemmer, plain) if stemmed else plain)

    def __call__(self, form: str) -> bool:
        return form in self._equal or any(p.fullmatch(form) for p in self._patterns)


def _translate(wildcards: str) -> str:
    """Return the regular expression of a word with wildcards."""
    first, *others = (re.escape(part).replace(r"\?", ".") for part in wildcards.split("*"))
    if not others:
        return first
    *between, last = others
    # Without atomic groups four asterisks take the fourth power of the word's length.
    return first + "".join(f"(?>.*?{part})" for part in between) + f".*{last}"


@lru_cache(65_536)
def _stem(stemmer: Stemmer, word: str) -> str:
    return "".join(stemmer.stems(word)) or word
