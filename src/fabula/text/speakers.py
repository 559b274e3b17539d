"""Who speaks in a play: the names that stand before speeches."""

from __future__ import annotations

import re

_LONGEST = 40
_DIRECTION = re.compile(r"\s*[(\[][^()\[\]]{0,100}[)\]]")
_ROMAN = re.compile(r"[IVXLCDM]+")
_MARKS = frozenset(" .,'’&-/")


def is_speaker(line: str) -> bool:
    """Whether a line is a name as plays print it above a speech: short, and in capitals.

    A stage direction in brackets, and a full stop or colon, may follow it.
    """
    name = _DIRECTION.sub("", line).strip().rstrip(".:")
    return (
        1 < len(name) <= _LONGEST
        and name.isupper()
        and all(char.isalpha() or char in _MARKS for char in name)
        and not _ROMAN.fullmatch(name)
    )


def ends_speaker(text: str, place: int) -> bool:
    """Whether what ends before `place`, and begins its line, is a speaker's name and its mark."""
    end = place
    while end and text[end - 1].isspace():
        end -= 1
    start = text.rfind("\n", max(0, end - 2 * _LONGEST), end) + 1
    line = text[start:end] if start or end <= 2 * _LONGEST else ""
    return line.endswith((".", ":")) and is_speaker(line)
