"""Hard-wrapped prose becomes one line a paragraph; verse and lists keep their lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabula.text.speakers import is_speaker

_LONG = 120
"""No one wraps wider: a longer line is a whole paragraph."""
_NARROWEST = 40
"""No one wraps narrower: shorter lines are verse or a list."""
_OVER = 1.3
_LONG_SHARE = 0.2
"""A file is not hard-wrapped if more than this share of its characters is in paragraphs of one
line that is longer than `_LONG`, or `_OVER` times longer than the lines of the others."""
_FULL = 0.65
"""A full line fills this share of the width; prose has this share of full lines."""
_INDENT = 2
_ITEM = re.compile(r"(?:[-*•·‣+]|\(?\d{1,3}[.)]|[IVXLC]+\.) ")
_OPENING = "\"'“‘„«»([_*—-–… "


@dataclass(frozen=True, slots=True)
class _Manner:
    """How a file breaks its lines.

    `width` is that of its full lines (0: it isn't hard-wrapped), `edge` the indent of most of
    its lines, and `verse` says that most lines begin with a capital.
    """

    width: int
    edge: int
    verse: bool


def paragraphs(text: str, is_heading: Callable[[str], bool]) -> Iterator[str]:
    """The paragraphs of `text`, each with runs of spaces closed up; in time linear in its length.

    A line that `is_heading` is a paragraph of its own where it begins one.
    """
    blocks = list(_blocks(text))
    manner = _manner(blocks)
    for block in blocks:
        for part in _parts(block, manner, is_heading):
            yield _closed_up(part, manner)


def rejoined(paragraphs: Sequence[str]) -> list[str]:
    """Paragraphs whose breaks may be those of the page, one for one: prose without, verse with."""
    blocks = [[line for line in one.split("\n") if line.strip()] or [""] for one in paragraphs]
    manner = _manner(blocks)
    return [_closed_up(block, manner) for block in blocks]


def _blocks(text: str) -> Iterator[list[str]]:
    """Runs of lines between blank lines, indents kept."""
    block: list[str] = []
    for line in text.split("\n"):
        if line and not line.isspace():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _manner(blocks: Sequence[Sequence[str]]) -> _Manner:
    """Judged over the lines that another line of their paragraph follows."""
    lengths: list[int] = []
    edges: Counter[int] = Counter()
    capitals = 0
    for block in blocks:
        lengths += [len(" ".join(line.split())) for line in block[:-1]]
        edges.update(_indent(line) for line in block[:-1])
        capitals += sum(_capital(line) for line in block[1:])
    if not lengths:
        return _Manner(0, 0, verse=False)
    width = sorted(lengths)[int(0.9 * len(lengths))]
    if width < _NARROWEST:
        return _Manner(0, 0, verse=False)
    longest = min(_LONG, _OVER * width)
    single = sum(len(block[0]) for block in blocks if len(block) == 1 and len(block[0]) > longest)
    wide = sum(len(line) for block in blocks for line in block if len(line) > _LONG)
    if max(single, wide) > _LONG_SHARE * sum(len(line) for block in blocks for line in block):
        return _Manner(0, 0, verse=False)
    return _Manner(width, edges.most_common(1)[0][0], verse=capitals > len(lengths) / 2)


def _parts(
    block: list[str], manner: _Manner, is_heading: Callable[[str], bool]
) -> Iterator[list[str]]:
    """A block as paragraphs: a heading at its top, indented beginnings, unwrapped lines apart."""
    if len(block) > 1 and is_heading(block[0].strip()) and not is_heading(block[1].strip()):
        yield block[:1]
        block = block[1:]
    if not manner.width and any(len(line) > _LONG for line in block):
        first = 2 if is_speaker(block[0]) else 1
        yield block[:first]
        yield from ([line] for line in block[first:])
        return
    starts = _indented_starts(block, manner)
    for start, end in zip([0, *starts], [*starts, len(block)], strict=True):
        yield block[start:end]


def _indented_starts(block: Sequence[str], manner: _Manner) -> list[int]:
    """The lines of a block that begin paragraphs by their indent; the others must be full."""
    if not manner.width or len(block) < 3:
        return []
    indents = [_indent(line) for line in block]
    edge = min(indents) + _INDENT
    starts = [i for i in range(1, len(block)) if indents[i] >= edge > indents[i - 1]]
    inner = [
        len(line) >= _FULL * manner.width
        for index, line in enumerate(block[:-1])
        if index + 1 not in starts
    ]
    return starts if sum(inner) > 0.8 * len(inner) else []


def _closed_up(block: Sequence[str], manner: _Manner) -> str:
    """A paragraph's text; what a speaker says is judged without the name above it."""
    if len(block) > 1 and is_speaker(block[0]):
        return f"{' '.join(block[0].split())}\n{_closed(block[1:], manner)}"
    return _closed(block, manner)


def _closed(block: Sequence[str], manner: _Manner) -> str:
    bare = [" ".join(line.split()) for line in block]
    indented = min(map(_indent, block)) > manner.edge
    return _joined(bare) if _is_prose(bare, manner, indented) else "\n".join(bare)


def _is_prose(block: Sequence[str], manner: _Manner, indented: bool) -> bool:
    """Whether the breaks of a paragraph are a matter of width: full lines, begun anywhere.

    Verse has lines that are short for the file, or that begin with capitals.
    """
    breaks = len(block) - 1
    if not breaks or not manner.width:
        return not breaks
    if sum(bool(_ITEM.match(line)) for line in block) > len(block) / 2:
        return False
    if sum(len(line) >= _FULL * manner.width for line in block[:-1]) < _FULL * breaks:
        return False
    capitals = sum(map(_capital, block[1:]))
    if capitals < breaks / 2 or (not manner.verse and not indented and capitals < max(3, breaks)):
        return True
    # Prose of many names or German nouns: the next word had no room in any of its lines.
    return not manner.verse and all(
        len(line) + 1 + len(after.split(" ", 1)[0]) >= manner.width
        for line, after in pairwise(block)
    )


def _capital(line: str) -> bool:
    return line.lstrip(_OPENING)[:1].isupper()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _joined(lines: Sequence[str]) -> str:
    """Lines as one; a word hyphenated by its author and a dash between words stay closed."""
    pieces = [lines[0]]
    for before, line in pairwise(lines):
        hyphen = re.search(r"\w-$", before) and line[:1].isalnum()
        dash = re.search(r"\S(?:--|—)$", before) or re.match(r"(?:--|—)\S", line)
        pieces.append(line if hyphen or dash else f" {line}")
    return "".join(pieces)
