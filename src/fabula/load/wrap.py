"""Unwrap hard-wrapped prose to one line for each paragraph; verse and lists keep their lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabula.text.speakers import is_speaker

_MAX_WRAP_WIDTH = 120
"""Nobody wraps at a greater width: a longer line is a whole paragraph."""
_MIN_WRAP_WIDTH = 40
"""Nobody wraps at a smaller width: shorter lines are verse or a list."""
_LONG_LINE_FACTOR = 1.3
_LONG_SHARE = 0.2
"""A file is not hard-wrapped if more than this share of its characters is in paragraphs of one line
that is longer than `_MAX_WRAP_WIDTH`, or `_LONG_LINE_FACTOR` times longer than the lines of the
others."""
_FULL_SHARE = 0.65
"""A full line fills this share of the width, and in prose this share of lines is full."""
_MIN_INDENT = 2
_ITEM = re.compile(r"(?:[-*•·‣+]|\(?\d{1,3}[.)]|[IVXLC]+\.) ")
_OPENING = "\"'“‘„«»([_*—-–… "


@dataclass(frozen=True, slots=True)
class _LineStyle:
    """How a file breaks its lines.

    Attributes:
        width: The length of its full lines; 0 if it is not hard-wrapped.
        edge: The indent of most lines.
        verse: Whether most lines begin with a capital.

    """

    width: int
    edge: int
    verse: bool


def paragraphs(text: str, is_heading: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paragraphs of `text`, with single spaces, in linear time.

    A line that `is_heading` at the start of a paragraph becomes a paragraph of its own.
    """
    blocks = list(_blocks(text))
    style = _find_style(blocks)
    for block in blocks:
        for part in _split_block(block, style, is_heading):
            yield _unwrap(part, style)


def rejoin(paragraphs: Sequence[str]) -> list[str]:
    """Return each paragraph without line breaks if it is prose, and with them if it is verse."""
    blocks = [[line for line in p.split("\n") if line.strip()] or [""] for p in paragraphs]
    style = _find_style(blocks)
    return [_unwrap(block, style) for block in blocks]


def _blocks(text: str) -> Iterator[list[str]]:
    """The runs of lines between blank lines, with their indents."""
    block: list[str] = []
    for line in text.split("\n"):
        if line and not line.isspace():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _find_style(blocks: Sequence[Sequence[str]]) -> _LineStyle:
    """The style of a file, by all lines but the last of each paragraph."""
    lengths: list[int] = []
    edges: Counter[int] = Counter()
    capitals = 0
    for block in blocks:
        lengths += [len(" ".join(line.split())) for line in block[:-1]]
        edges.update(_indent(line) for line in block[:-1])
        capitals += sum(_starts_capital(line) for line in block[1:])
    if not lengths:
        return _LineStyle(0, 0, verse=False)
    width = sorted(lengths)[int(0.9 * len(lengths))]
    if width < _MIN_WRAP_WIDTH:
        return _LineStyle(0, 0, verse=False)
    longest = min(_MAX_WRAP_WIDTH, _LONG_LINE_FACTOR * width)
    single = sum(len(block[0]) for block in blocks if len(block) == 1 and len(block[0]) > longest)
    wide = sum(len(line) for block in blocks for line in block if len(line) > _MAX_WRAP_WIDTH)
    if max(single, wide) > _LONG_SHARE * sum(len(line) for block in blocks for line in block):
        return _LineStyle(0, 0, verse=False)
    return _LineStyle(width, edges.most_common(1)[0][0], verse=capitals > len(lengths) / 2)


def _split_block(
    block: list[str], style: _LineStyle, is_heading: Callable[[str], bool]
) -> Iterator[list[str]]:
    """Split a block into paragraphs: after a heading, at indented lines, and at unwrapped lines."""
    if len(block) > 1 and is_heading(block[0].strip()) and not is_heading(block[1].strip()):
        yield block[:1]
        block = block[1:]
    if not style.width and any(len(line) > _MAX_WRAP_WIDTH for line in block):
        first = 2 if is_speaker(block[0]) else 1
        yield block[:first]
        yield from ([line] for line in block[first:])
        return
    starts = _indented_starts(block, style)
    for start, end in zip([0, *starts], [*starts, len(block)], strict=True):
        yield block[start:end]


def _indented_starts(block: Sequence[str], style: _LineStyle) -> list[int]:
    """The numbers of lines that begin paragraphs by their indent, if the other lines are full."""
    if not style.width or len(block) < 3:
        return []
    indents = [_indent(line) for line in block]
    edge = min(indents) + _MIN_INDENT
    starts = [i for i in range(1, len(block)) if indents[i] >= edge > indents[i - 1]]
    inner = [
        len(line) >= _FULL_SHARE * style.width
        for index, line in enumerate(block[:-1])
        if index + 1 not in starts
    ]
    return starts if sum(inner) > 0.8 * len(inner) else []


def _unwrap(block: Sequence[str], style: _LineStyle) -> str:
    """The text of a paragraph; that of a speech is judged without the speaker's name."""
    if len(block) > 1 and is_speaker(block[0]):
        return f"{' '.join(block[0].split())}\n{_unwrap_lines(block[1:], style)}"
    return _unwrap_lines(block, style)


def _unwrap_lines(block: Sequence[str], style: _LineStyle) -> str:
    lines = [" ".join(line.split()) for line in block]
    indented = min(map(_indent, block)) > style.edge
    return _join_lines(lines) if _is_prose(lines, style, indented) else "\n".join(lines)


def _is_prose(block: Sequence[str], style: _LineStyle, indented: bool) -> bool:
    """Whether a paragraph's lines were broken because of their width, as in prose.

    Lines of verse are short for the file, or begin with capitals.
    """
    breaks = len(block) - 1
    if not breaks or not style.width:
        return not breaks
    if sum(bool(_ITEM.match(line)) for line in block) > len(block) / 2:
        return False
    if sum(len(line) >= _FULL_SHARE * style.width for line in block[:-1]) < _FULL_SHARE * breaks:
        return False
    capitals = sum(map(_starts_capital, block[1:]))
    if capitals < breaks / 2 or (not style.verse and not indented and capitals < max(3, breaks)):
        return True
    # Prose with many names or German nouns is recognised as no line had space for the next word.
    return not style.verse and all(
        len(line) + 1 + len(after.split(" ", 1)[0]) >= style.width
        for line, after in pairwise(block)
    )


def _starts_capital(line: str) -> bool:
    return line.lstrip(_OPENING)[:1].isupper()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _join_lines(lines: Sequence[str]) -> str:
    """The lines as one; hyphenated words and dashes between words get no space."""
    pieces = [lines[0]]
    for before, line in pairwise(lines):
        hyphen = re.search(r"\w-$", before) and line[:1].isalnum()
        dash = re.search(r"\S(?:--|—)$", before) or re.match(r"(?:--|—)\S", line)
        pieces.append(line if hyphen or dash else f" {line}")
    return "".join(pieces)
