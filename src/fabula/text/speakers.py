"""Recognise the names of speakers before the speeches of a play."""

from __future__ import annotations

import re

_MAX_CHARACTERS = 40
_MAX_LINE_CHARACTERS = 400
_DIRECTION = re.compile(r"\s*[(\[][^()\[\]]{0,100}[)\]]")
_ROMAN = re.compile(r"[IVXLCDM]+")
_MARKS = frozenset(" .,'’&-/")


def is_speaker(line: str) -> bool:
    """Return whether a line is a speaker's name: short, and in capitals.

    A stage direction in brackets, and a full stop or colon, may follow it.
    """
    # The pattern takes the square of the length of a run of spaces.
    if len(line) > _MAX_LINE_CHARACTERS:
        return False
    name = _DIRECTION.sub("", line).strip().rstrip(".:")
    return (
        1 < len(name) <= _MAX_CHARACTERS
        and name.isupper()
        and all(char.isalpha() or char in _MARKS for char in name)
        and not _ROMAN.fullmatch(name)
    )


def ends_speaker(text: str, position: int) -> bool:
    """Return whether the line up to `position` is a speaker's name with a full stop or colon."""
    end = position
    while end and text[end - 1].isspace():
        end -= 1
    start = text.rfind("\n", max(0, end - 2 * _MAX_CHARACTERS), end) + 1
    line = text[start:end] if start or end <= 2 * _MAX_CHARACTERS else ""
    return line.endswith((".", ":")) and is_speaker(line)
