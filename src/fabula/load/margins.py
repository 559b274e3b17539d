"""Numbers in the margin of verse: they are places of lines, and no words."""

from __future__ import annotations

import re
from itertools import pairwise

from fabula.load.left_out import count_characters
from fabula.load.locators import line_mark

_NUMBERED = re.compile(
    r"^(?:(?P<indent>[ ]*)(?P<text>\S.{0,200}?)[ ]{3,100}\[?(?P<right>\d{1,5})\]?"
    r"|[ ]{0,8}\[?(?P<left>\d{1,5})\]?[ ]{2,100}(?P<after>\S.{0,200}))[ ]*$",
    re.MULTILINE,
)
_MIN_NUMBERS = 3
_MIN_SHARE = 0.8
"""The least share of the numbers with as many lines before them as they count."""


def mark_margin_numbers(text: str) -> tuple[str, int]:
    """Return a tidied text with marks for the numbers of its lines, and what these have left out.

    Numbers are those of lines if they count the lines, as each fifth or tenth one. A table of
    contents and the numbers of verses in a psalm do not.
    """
    found = list(_NUMBERED.finditer(text))
    numbers = [int(match["right"] or match["left"]) for match in found]
    counted = [
        _count_lines(text[match.start() : after.start()]) == later - number
        for (match, after), (number, later) in zip(pairwise(found), pairwise(numbers), strict=True)
        if later > number
    ]
    steps = {later - number for number, later in pairwise(numbers)}
    if (
        len(found) < _MIN_NUMBERS
        or 1 in steps
        or sum(counted) < max(_MIN_SHARE * len(counted), _MIN_NUMBERS - 1)
    ):
        return text, 0
    left_out = sum(count_characters(match["right"] or match["left"]) for match in found)

    def mark(match: re.Match[str]) -> str:
        if match["right"]:
            return f"{match['indent']}{line_mark(match['right'])}{match['text']}"
        return f"{line_mark(match['left'])}{match['after']}"

    return _NUMBERED.sub(mark, text), left_out


def _count_lines(text: str) -> int:
    """The lines of verse in a text; one that stands alone is a heading."""
    stanzas = (list(filter(str.strip, part.split("\n"))) for part in re.split(r"\n\s*\n", text))
    return sum(
        len(stanza) for number, stanza in enumerate(stanzas) if len(stanza) > 1 or not number
    )
