"""Decide whether a hyphen at the end of a line belongs to the word or only to the line's end."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

SOFT_HYPHEN = "\u00ad"
_HYPHENS = "-\u2010\u00ac\u00ad\u2e17\u058a="
"""The signs for a divided word: hyphens, `¬` as character recognition writes it, soft hyphens, and
the double hyphens of Fraktur."""
_PLAIN_HYPHENS = "-\u2010\u2e17\u058a"
_LETTER = r"[^\W\d_]"
_DIVIDED = re.compile(rf"{_LETTER}[{_HYPHENS}]$")
_LAST_WORD = re.compile(rf"(?:{_LETTER}|['’\-\u2010])*{_LETTER}(?=[{_HYPHENS}]$)")
_FIRST_WORD = re.compile(rf"{_LETTER}(?:{_LETTER}|['’\-\u2010](?={_LETTER}))*")
_WORD = re.compile(rf"{_LETTER}+(?:[-\u2010]{_LETTER}+)*")
_FRENCH = re.compile(
    r"\w+ez-(?:vous|nous|moi|leur|lui|les?|la)|\w+ons-(?:nous|leur|lui|les?|la)|\w+t-(?:ils|elles)"
    r"|(?:lui|elles?|eux|soi|moi|toi|nous|vous)-mêmes?",
    re.IGNORECASE,
)
"""French pronouns behind their verb, and `-même`, which always have a hyphen before them."""
_FRENCH_WORDS = ("dans", "elle", "est", "et", "il", "les", "qui", "une", "vous")
_MIN_FRENCH_WORDS = 2
"""The number of these words that shows that a text is French."""
_MIN_DIVIDED = 3
_MIN_DIVIDED_SHARE = 0.02
"""The fewest divided words, and the least share of lines with one, of a file that divides words."""


class Hyphens:
    """The words of a text, as evidence of how it writes those that are divided."""

    def __init__(self, lines: Sequence[Sequence[str]]) -> None:
        """Collect the evidence.

        Args:
            lines: The lines of each paragraph.
        """
        self._counts: Counter[str] = Counter()
        self._has_double_hyphens = self._divides = self._is_french = False
        divided = [
            (before, after)
            for paragraph in lines
            for before, after in pairwise(paragraph)
            if _DIVIDED.search(before)
        ]
        if not divided:
            return
        for paragraph in lines:
            for line in paragraph:
                # A divided word is no evidence.
                body = _LAST_WORD.sub("", line) if _DIVIDED.search(line) else line
                self._counts.update(
                    word.casefold().replace("\u2010", "-") for word in _WORD.findall(body)
                )
        present = sum(self._counts[word] > 0 for word in _FRENCH_WORDS)
        self._is_french = present >= _MIN_FRENCH_WORDS
        doubles = sum(before[-1] == "=" for before, _ in divided)
        self._has_double_hyphens = doubles >= _MIN_DIVIDED
        breaks = sum(max(0, len(paragraph) - 1) for paragraph in lines)
        decided = [self._by_counts(*words) for words in map(_words, divided) if words]
        is_usual = len(divided) >= max(_MIN_DIVIDED, _MIN_DIVIDED_SHARE * breaks)
        self._divides = is_usual and decided.count("") >= decided.count("-")

    def join(self, before: str, after: str) -> str | None:
        """Return what joins two lines of which the first ends with a divided word.

        It is '' if the hyphen only divides the word, '-' if it belongs to it, and None if it is no
        hyphen.
        """
        words = _words((before, after))
        sign = before[-1:]
        if not words or (sign == "=" and not self._has_double_hyphens):
            return None
        if sign == SOFT_HYPHEN:
            return ""
        by_counts = self._by_counts(*words)
        if by_counts is not None:
            return by_counts
        if sign not in _PLAIN_HYPHENS:
            return ""
        return "" if self._is_one_word(*words) else "-"

    def is_divided_word(self, before: str, after: str) -> bool:
        """Return whether two lines that are apart, as by a page's end, have one word between them.

        That is only sure if the text has the word elsewhere, or if it is a common one.
        """
        if before[-1:] == "=" or not after[:1].islower() or not (words := _words((before, after))):
            return False
        whole = "".join(words)
        return self._counts[whole.casefold()] > 0 or _is_common(whole)

    def _by_counts(self, first: str, second: str) -> str | None:
        """What the same word elsewhere in the text shows; None if nothing does."""
        whole = self._counts[f"{first}{second}".casefold()]
        compound = self._counts[f"{first}-{second}".casefold()]
        return None if whole == compound else "" if whole > compound else "-"

    def _is_one_word(self, first: str, second: str) -> bool:
        """Whether two parts are one word, for which the text itself has no evidence."""
        if second[0].isupper() and not first.isupper():
            return False
        last = re.split("[-\u2010]", first)[-1]
        if _is_common(f"{last}{second}") or self._counts[f"{last}{second}".casefold()]:
            return True
        if self._is_french and _FRENCH.fullmatch(f"{last}-{second}"):
            return False
        are_words = all(self._counts[part.casefold()] for part in (last, second))
        if are_words and len(last) > 1:
            return False
        if not (_is_common(last) and _is_common(second)):
            return True
        # Two common words that are no word together, as 'peut' and 'être'.
        return self._divides and _count_tokens(f"{last}{second}") <= 2


def ends_divided(before: str, after: str) -> bool:
    """Return whether a line ends with a part of a word, and the next one begins in lower case."""
    return before[-1:] != "=" and after[:1].islower() and _DIVIDED.search(before) is not None


def _words(lines: tuple[str, str]) -> tuple[str, str] | None:
    """The parts of a divided word at the end of one line and the beginning of the next."""
    before, after = lines
    # Most lines end with no hyphen: there the pattern would be tried at each of their characters.
    first = _LAST_WORD.search(before) if before[-1:] in _HYPHENS else None
    second = _FIRST_WORD.match(after)
    return (first[0].strip("-‐'’"), second[0]) if first and second else None


def _is_common(word: str) -> bool:
    """Whether a word is so common, in any language, that it is a token of its own."""
    return _count_tokens(word) == 1


@functools.lru_cache(maxsize=4096)
def _count_tokens(word: str) -> int:
    # Imported here, as few files need it.
    from fabula.text import tokens

    return tokens.count(f" {word}")
