"""Decide whether a gap that a PDF draws between two pieces of text divides words.

A PDF draws a line in pieces, and often no spaces: a gap that is wide enough stands for one. Where a
program ends a piece within a word, as Word does, or moves two letters together, what looks like a
space may be none: `oc casion`, `V ery`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

DOUBTFUL_SPACE = "\ufdd7"
"""A non-character for a space between two pieces of text, which the file may not mean."""
_MAX_DOUBTFUL_SHARE = 0.2
"""If more words than this are at such gaps, each word is drawn as a piece, and all are spaces."""
_MIN_TIMES = 20
"""How many times more often than its rarer part a word is in the text. Parts of other words that
were divided, and the letters of elisions as `d'`, are in it like words."""
_LETTER = r"[^\W\d_]"
_GAP = re.compile(rf"(?<!{_LETTER})({_LETTER}+){DOUBTFUL_SPACE}({_LETTER}+)(?!{_LETTER})")
_CAPITAL = re.compile(r"(?<!\w)([B-HJ-NP-Z]) (?=[^\W\d_])")
"""A single capital that is no word: letters as V and Y are moved towards the next one."""
_WORD = re.compile(rf"{_LETTER}+")


def resolve_gaps(lines: Sequence[str]) -> list[str]:
    """Return lines with a space, or nothing, for each doubtful one.

    It is nothing if the text has both parts as one word elsewhere, and hardly ever one of them.
    Behind a single capital, which may be an initial or a word, that is the second one.
    """
    doubts = sum(line.count(DOUBTFUL_SPACE) for line in lines)
    words = sum(1 + line.count(" ") for line in lines)
    if doubts > _MAX_DOUBTFUL_SHARE * words:
        lines = [line.replace(DOUBTFUL_SPACE, " ") for line in lines]
    marked = [_CAPITAL.sub(rf"\1{DOUBTFUL_SPACE}", line) for line in lines]
    if not any(DOUBTFUL_SPACE in line for line in marked):
        return list(lines)
    counts: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for line in marked:
        words_here = _WORD.findall(_GAP.sub(" ", line))
        counts.update(word.casefold() for word in words_here)
        small.update(word for word in words_here if len(word) == 1 and word.islower())

    def join(match: re.Match[str]) -> str:
        first, second = match.groups()
        whole = counts[f"{first}{second}".casefold()]
        parts = min(counts[first.casefold()], counts[second.casefold()])
        if len(first) == 1 and first.isupper():
            parts = max(small[first.casefold()], counts[second.casefold()])
        return f"{first}{'' if whole > _MIN_TIMES * parts else ' '}{second}"

    return [_GAP.sub(join, line).replace(DOUBTFUL_SPACE, " ") for line in marked]
