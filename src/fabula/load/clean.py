"""Text as it should be: one Unicode form, one kind of line end and space, no leftovers."""

from __future__ import annotations

import functools
import re
import unicodedata

from fabula.load.chapters import is_chapter_line
from fabula.load.wrap import paragraphs

_LINE_ENDS = re.compile("\r\n?|\x85|\u2028")
_PAGE_ENDS = re.compile("[\f\v\u2029]")
# Controls but tab and newline, soft hyphens, zero-width spaces and joiners of words, byte
# order marks and non-characters. The joiners U+200C and U+200D stay: emoji and Persian use them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_MOST_MARKS = 30
"""Combining marks in a row, as the Stream-Safe Text Format has it (Unicode's UAX 15): to bring more
into one order costs the square of their number."""
_JOINER = "\u034f"
_SPACES = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_EMPHASIS = re.compile(r"(?<!_)_(?!_)")
_MARKER = re.compile(r"\[(?:illustration|ilustracja|abbildung)\b", re.IGNORECASE)
_LONGEST_MARKER = 2000


def clean(text: str) -> str:
    """A plain text with its paragraphs one a line and parted by blank lines; verse keeps lines.

    Cleaning twice is cleaning once.
    """
    return "\n\n".join(prose(text))


def prose(text: str) -> list[str]:
    """The paragraphs of a plain text, cleaned and unwrapped, in order; none is empty."""
    bare = _without_emphasis(without_markers(tidy(text)))
    found = list(paragraphs(_normal(bare), is_chapter_line))
    # What was unwrapped shows more of how the file is wrapped; in a book this changes nothing.
    while (again := list(paragraphs("\n\n".join(found), is_chapter_line))) != found:
        found = again
    return found


def tidy(text: str) -> str:
    """NFC, newlines only, plain spaces only, nothing invisible; indents and blank lines stay."""
    text = _normal(text)
    text = _PAGE_ENDS.sub("\n\n", _LINE_ENDS.sub("\n", text))
    text = _SPACES.sub(" ", _INVISIBLE.sub("", text))
    text = _SURROGATES.sub("\ufffd", text)
    return _normal(text)


def lines(text: str) -> str:
    """`text` tidied, with its line breaks, but no other run of spaces and no blank lines."""
    stripped = (" ".join(line.split()) for line in tidy(text).split("\n"))
    return "\n".join(line for line in stripped if line)


def one_line(text: str) -> str:
    """`text` tidied and on one line."""
    return " ".join(tidy(text).split())


def _normal(text: str) -> str:
    """`text` in NFC, in time linear in its length: long runs of marks are parted by a joiner."""
    if text.isascii():
        return text
    return unicodedata.normalize(
        "NFC", _many_marks(max(text) > "\uffff").sub(rf"\g<0>{_JOINER}", text)
    )


@functools.cache
def _many_marks(beyond: bool) -> re.Pattern[str]:
    """A run too long, with the marks `beyond` U+FFFF or, twenty times as fast, without them."""
    codes = range(0x300, 0x1F000 if beyond else 0x10000)
    marks = "".join(char for char in map(chr, codes) if unicodedata.combining(char))
    return re.compile(f"[{marks}]{{{_MOST_MARKS}}}(?=[{marks}])")


def without_markers(text: str) -> str:
    """`text` without `[Illustration]` and `[Illustration: ...]`, which may span lines."""
    kept: list[str] = []
    end = 0
    for start, close in _bracketed_markers(text):
        kept.append(text[end:start])
        end = close
    kept.append(text[end:])
    return " ".join(kept)


def _bracketed_markers(text: str) -> list[tuple[int, int]]:
    """Where markers begin and end, outermost only, in text order."""
    if not _MARKER.search(text):
        return []
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for bracket in re.finditer(r"[\[\]]", text):
        if bracket.group() == "[":
            opened.append(bracket.start())
        elif opened:
            start, end = opened.pop(), bracket.end()
            if end - start <= _LONGEST_MARKER and _MARKER.match(text, start):
                while found and found[-1][0] > start:
                    found.pop()
                found.append((start, end))
    return found


def _without_emphasis(text: str) -> str:
    """`_so_` as plain so; underscores within a word and runs of them stay."""

    def keep(match: re.Match[str]) -> str:
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        return "_" if before.isalnum() and after.isalnum() else ""

    return _EMPHASIS.sub(keep, text)
