"""Clean text: one Unicode form, one kind of line end and space, and no remains of typesetting."""

from __future__ import annotations

import functools
import re
import unicodedata

from fabula.load.chapters import is_chapter_line
from fabula.load.doctype import WINDOWS_CONTROLS
from fabula.load.entries import is_date_line
from fabula.load.hyphens import SOFT_HYPHEN
from fabula.load.left_out import count_characters
from fabula.load.wrap import paragraphs

_LINE_ENDS = re.compile("\r\n?|\x85|\u2028")
_PAGE_ENDS = re.compile("[\f\v\u2029]")
_NEXT_LINE = "\x85"
_WINDOWS_ONLY = re.compile("[\x80-\x84\x86-\x9f]")
# Control characters except tab and newline, soft hyphens within lines, zero-width spaces, word
# joiners, byte order marks and non-characters. The joiners U+200C and U+200D stay, as emoji and
# Persian need them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u2060\ufeff\ufffe\uffff]"
    f"|{SOFT_HYPHEN}(?![ \t]*\n)"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_MAX_COMBINING_MARKS = 30
"""The most combining marks in a row, as in the Stream-Safe Text Format (Unicode's UAX 15): the time
to normalize a run of them grows with the square of its length."""
_JOINER = "\u034f"
_SPACES = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_TABS = re.compile(r"^ *\t[ \t]*(?=\S)", re.MULTILINE)
_INDENT = " " * 3
"""What a tab before a line becomes: an indent, but none of the four spaces of code in Markdown."""
_EMPHASIS = re.compile(r"(?<!_)_(?!_)")
_MARKER = re.compile(r"\[(?:illustration|ilustracja|abbildung)\b", re.IGNORECASE)
_MAX_MARKER_CHARACTERS = 2000


def clean(text: str) -> str:
    """Return a plain text with one line for each paragraph, and blank lines between them.

    Verse keeps its lines. Cleaning a clean text changes nothing.
    """
    return "\n\n".join(prose(text))


def prose(text: str) -> list[str]:
    """Return the paragraphs of a plain text, cleaned and unwrapped, in order; none is empty."""
    plain = _normalize(_remove_emphasis(remove_markers(tidy(text))))
    unwrapped = list(paragraphs(plain, _is_heading))
    # Unwrapping may reveal more about how the file is wrapped, so it is repeated until nothing
    # changes. In real books nothing does.
    while (again := list(paragraphs("\n\n".join(unwrapped), _is_heading))) != unwrapped:
        unwrapped = again
    return [text for text in (text.replace(SOFT_HYPHEN, "") for text in unwrapped) if text.strip()]


def _is_heading(line: str) -> bool:
    return is_chapter_line(line) or is_date_line(line)


def tidy(text: str) -> str:
    """Return `text` in NFC, with plain newlines and spaces, and without invisible characters.

    Indents and blank lines stay, and soft hyphens at the ends of lines, for `prose`.
    """
    text = _normalize(_read_controls(text))
    text = _PAGE_ENDS.sub("\n\n", _LINE_ENDS.sub("\n", text))
    text = _TABS.sub(_INDENT, _INVISIBLE.sub("", text))
    text = _SPACES.sub(" ", text)
    text = _SURROGATES.sub("\ufffd", text)
    return _normalize(text)


def _read_controls(text: str) -> str:
    """Read controls, as in texts taken for Latin-1, as the marks that Windows has there."""
    if is_windows := _WINDOWS_ONLY.search(text) is not None:
        text = text.translate(WINDOWS_CONTROLS)
    # The control for the next line may be one, unless the text has other line ends.
    return text.replace(_NEXT_LINE, "…") if is_windows or "\n" in text else text


def lines(text: str) -> str:
    """Return `text` tidied, with its line breaks, single spaces, and no blank lines."""
    stripped = (" ".join(line.split()) for line in _without_soft_hyphens(text).split("\n"))
    return "\n".join(line for line in stripped if line)


def fold_heading(text: str) -> str:
    """Return the letters and digits of a heading, by which it is compared with another one."""
    return "".join(filter(str.isalnum, text.casefold()))


def one_line(text: str) -> str:
    """Return `text` tidied and on one line."""
    return " ".join(_without_soft_hyphens(text).split())


def _without_soft_hyphens(text: str) -> str:
    return tidy(text).replace(SOFT_HYPHEN, "")


def _normalize(text: str) -> str:
    """`text` in NFC, in linear time: long runs of combining marks are divided by a joiner."""
    if text.isascii():
        return text
    return unicodedata.normalize(
        "NFC", _long_mark_run(max(text) > "\uffff").sub(rf"\g<0>{_JOINER}", text)
    )


@functools.cache
def _long_mark_run(astral: bool) -> re.Pattern[str]:
    """The pattern of too long a run of marks; without those above U+FFFF, it is 20 times faster."""
    codes = range(0x300, 0x1F000 if astral else 0x10000)
    marks = "".join(char for char in map(chr, codes) if unicodedata.combining(char))
    return re.compile(f"[{marks}]{{{_MAX_COMBINING_MARKS}}}(?=[{marks}])")


def remove_markers(text: str) -> str:
    """Return `text` without `[Illustration]` and `[Illustration: ...]`, which may span lines."""
    pieces: list[str] = []
    end = 0
    for start, close in _find_markers(text):
        pieces.append(text[end:start])
        end = close
    pieces.append(text[end:])
    return " ".join(pieces)


def count_markers(text: str) -> int:
    """Return the number of characters that `remove_markers` removes, without spaces."""
    return sum(count_characters(text[start:end]) for start, end in _find_markers(text))


def _find_markers(text: str) -> list[tuple[int, int]]:
    """The start and end of each outermost marker, in text order."""
    if not _MARKER.search(text):
        return []
    markers: list[tuple[int, int]] = []
    opened: list[int] = []
    for bracket in re.finditer(r"[\[\]]", text):
        if bracket.group() == "[":
            opened.append(bracket.start())
        elif opened:
            start, end = opened.pop(), bracket.end()
            if end - start <= _MAX_MARKER_CHARACTERS and _MARKER.match(text, start):
                while markers and markers[-1][0] > start:
                    markers.pop()
                markers.append((start, end))
    return markers


def _remove_emphasis(text: str) -> str:
    """Remove the underscores of `_emphasis_`; those within a word, and runs of them, stay."""

    def replace(match: re.Match[str]) -> str:
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        return "_" if before.isalnum() and after.isalnum() else ""

    return _EMPHASIS.sub(replace, text)
