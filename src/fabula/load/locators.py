"""Marks of pages, verse lines and speakers within the text of blocks, until a document is made.

A reader that comes to the top of page 113 puts `page_mark("113")` into the text at that place, and
a line number `line_mark("340")` before its line. `SPEAKER_MARK` is before a line that has the name
of who speaks below it. The marks are non-characters around the label, so
that cleaning and the joining of lines treat them as part of the text beside them. `take_marks`
removes them, and returns where they were: see `Locator`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from fabula.text.locator import Locator, LocatorKind

_BEGIN: dict[LocatorKind, str] = {"page": "\ufdd1", "line": "\ufdd2", "speaker": "\ufdef"}
_KINDS = {begin: kind for kind, begin in _BEGIN.items()}
_END = "\ufdd3"
MAX_LABEL_CHARACTERS = 24
"""A longer label is not that of a page or a line, and gets no mark."""
MARK = re.compile(
    f"[\ufdd1\ufdd2\ufdef]([^\ufdd1-\ufdd3\ufdef\n]{{1,{MAX_LABEL_CHARACTERS}}}){_END}"
)
SPEAKER_MARK = f"{_BEGIN['speaker']}1{_END}"
"""The mark before the name of who speaks, on a line of its own above the speech."""


def page_mark(label: str) -> str:
    """Return the mark of the top of a page, or of a time; '' if the label can't be one."""
    return _mark("page", label)


def line_mark(label: str) -> str:
    """Return the mark of the beginning of a numbered line; '' if the label can't be one."""
    return _mark("line", label)


def without_marks(text: str) -> str:
    """Return a text without marks, to compare it."""
    return MARK.sub("", text) if _END in text else text


def marks_of(text: str) -> str:
    """Return the marks of a text alone."""
    return "".join(mark[0] for mark in MARK.finditer(text))


def take_marks(text: str) -> tuple[str, list[Locator]]:
    """Return a text without marks, and the locators with their offsets in it.

    A space or line break on both sides of a mark becomes a single one.
    """
    if _END not in text:
        return text, []
    locators: list[Locator] = []
    pieces: list[str] = []
    end = length = 0
    last = "\n"

    def add(piece: str) -> None:
        nonlocal last, length
        piece = piece.lstrip(" \n" if last == "\n" else " " if last == " " else "")
        if piece:
            pieces.append(piece)
            last = piece[-1]
            length += len(piece)

    for mark in MARK.finditer(text):
        add(text[end : mark.start()])
        end = mark.end()
        locators.append(Locator(_KINDS[mark[0][0]], mark[1], length))
    add(text[end:])
    plain = "".join(pieces).rstrip(" \n")
    return plain, [replace(mark, start=min(mark.start, len(plain))) for mark in locators]


def _mark(kind: LocatorKind, label: str) -> str:
    mark = f"{_BEGIN[kind]}{' '.join(label.split())}{_END}"
    return mark if MARK.fullmatch(mark) else ""
