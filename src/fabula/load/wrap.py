"""Unwrap hard-wrapped prose to one line for each paragraph; verse and lists keep their lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabula.load.hyphens import Hyphens, ends_divided
from fabula.load.locators import page_mark, without_marks
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
_WIDE_FULL_SHARE = 0.85
"""The same in Chinese and Japanese, where a line may end within a word."""
_MAX_STANZA_WIDTH = 60
_MAX_STANZA_DIFFERENCE = 4
"""Chinese lines up to this width, of one length or without full stops, are verse."""
_QUOTES = "「『“《〈"
_WIDE_SENTENCE_ENDS = "。！？」』”…"
_FULL_SHARE = 0.65
"""A full line fills this share of the width, and in prose this share of lines is full."""
_MIN_INDENT = 2
_MIN_VERSE_CAPITALS = 0.9
"""The least share of lines that begin with a capital in verse."""
_MIN_UNDIVIDED_LINES = 100
"""In so many lines without a blank one or an indent, paragraphs are found by their short last
lines: hardly any paragraph is as long."""
_MIN_DOUBLE_SPACED, _MIN_GOING_ON = 20, 0.4
"""The fewest lines of a text with a blank line after each, and the least share of those that go on
in lower case."""
_BLANK_LINE = re.compile(r"\n(?:[ \t]*\n)+")
_SENTENCE_END = re.compile(r"[.!?…:][\"'”’»)\]_*]*$")
_ITEM = re.compile(r"(?:[-*•·‣+]|\(?\d{1,3}[.)]|[IVXLC]+\.) ")
_WIDE = (
    r"\u1100-\u115f\u2e80-\u303f\u3040-\ua4cf"
    r"\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6"
)
_WIDE_CHARACTER = re.compile(f"[{_WIDE}\U0001f300-\U0001faff\U00020000-\U0003fffd]")
_HAS_WIDE = re.compile(f"[{_WIDE}]")
# Chinese and Japanese with their punctuation, Thai, Lao, Burmese and Khmer.
_NO_SPACE = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\ua4cf\uf900-\ufaff\ufe30-\ufe4f"
    r"\uff01-\uff60\U00020000-\U0003fffd"
)
_UNSPACED_END = re.compile(f"(?:[{_NO_SPACE}]|(?<=[{_NO_SPACE}])[“”‘’…—]+)$")
_UNSPACED_START = re.compile(f"(?:[{_NO_SPACE}]|[“”‘’…—]+(?=[{_NO_SPACE}]))")
_PAGE_NUMBER = re.compile(r"[\[({–—-]*\s*(?:pg|page|p)?\.?\s*(\d{1,4})\s*[\])}–—-]*", re.IGNORECASE)
_SOURCE_BREAK = re.compile(r"[ \t]*\n\s*")
_MIN_DIVIDED = 2
_MIN_DIVIDED_SHARE = 0.1
"""The fewest divided words at line ends, and the least share of lines with one, of prose."""
_OPENING = "\"'“‘„«»([_*—-–… "


@dataclass(frozen=True, slots=True)
class _LineStyle:
    """How a file breaks its lines.

    Attributes:
        width: The length of its full lines; 0 if it is not hard-wrapped.
        edge: The indent of most lines.
        verse: Whether most lines begin with a capital.
        hyphens: How the file divides words at the ends of lines.
    """

    width: int
    edge: int
    verse: bool
    hyphens: Hyphens


def paragraphs(text: str, is_heading: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paragraphs of `text`, with single spaces, in linear time.

    A line that `is_heading` at the start of a paragraph becomes a paragraph of its own.
    """
    blocks = list(_blocks(text))
    if _is_double_spaced(blocks):
        blocks = list(
            _blocks(_BLANK_LINE.sub(lambda m: "\n" if m[0].count("\n") == 2 else m[0], text))
        )
    style = _find_style(blocks)
    for block in _join_divided(blocks, style.hyphens):
        for part in _split_block(block, style, is_heading):
            yield _unwrap(part, style)


def _is_double_spaced(blocks: Sequence[Sequence[str]]) -> bool:
    """Whether there is a blank line between any two lines of wrapped prose."""
    if len(blocks) < _MIN_DOUBLE_SPACED or any(len(block) > 1 for block in blocks):
        return False
    lines = [block[0].strip() for block in blocks]
    width = sorted(map(_width, lines))[int(0.9 * len(lines))]
    if not _MIN_WRAP_WIDTH <= width <= _MAX_WRAP_WIDTH:
        return False
    full = sum(_width(line) >= _FULL_SHARE * width for line in lines)
    too_long = sum(_width(line) > _LONG_LINE_FACTOR * width for line in lines)
    # Then hardly any line ends a sentence, and many of the others go on in lower case.
    goes_on = sum(
        after[0].islower() and _SENTENCE_END.search(line) is None for line, after in pairwise(lines)
    )
    return (
        full >= _FULL_SHARE * len(lines)
        and too_long <= 0.02 * len(lines)
        and goes_on >= _MIN_GOING_ON * len(lines)
    )


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


def _join_divided(blocks: Sequence[list[str]], hyphens: Hyphens) -> Iterator[list[str]]:
    """The blocks, but joined where a page ends within a word; the number of the page is a mark."""
    current: list[str] = []
    index = 0
    while index < len(blocks):
        block = blocks[index]
        number = _PAGE_NUMBER.fullmatch(block[0].strip()) if len(block) == 1 else None
        after = blocks[index + 1] if number and index + 1 < len(blocks) else block
        before, first = current[-1].strip() if current else "", after[0].strip()
        if ends_divided(before, first) and hyphens.is_divided_word(before, first):
            if number:
                word, space, rest = first.partition(" ")
                first = f"{word}{page_mark(number[1])}{space}{rest}"
            current = [*current, first, *after[1:]]
            index += 2 if number else 1
            continue
        if current:
            yield current
        current = block
        index += 1
    if current:
        yield current


def _find_style(blocks: Sequence[Sequence[str]]) -> _LineStyle:
    """The style of a file, by all lines but the last of each paragraph."""
    lengths: list[int] = []
    edges: Counter[int] = Counter()
    capitals = 0
    for block in blocks:
        lengths += [_width(" ".join(line.split())) for line in block[:-1]]
        edges.update(_indent(line) for line in block[:-1])
        capitals += sum(_starts_capital(line) for line in block[1:])
    hyphens = Hyphens([[line.strip() for line in block] for block in blocks])
    unwrapped = _LineStyle(0, 0, verse=False, hyphens=hyphens)
    if not lengths:
        return unwrapped
    width = sorted(lengths)[int(0.9 * len(lengths))]
    if width < _MIN_WRAP_WIDTH:
        return unwrapped
    longest = min(_MAX_WRAP_WIDTH, _LONG_LINE_FACTOR * width)
    widths = [[_width(line) for line in block] for block in blocks]
    single = sum(block[0] for block in widths if len(block) == 1 and block[0] > longest)
    wide = sum(line for block in widths for line in block if line > _MAX_WRAP_WIDTH)
    if max(single, wide) > _LONG_SHARE * sum(map(sum, widths)):
        return unwrapped
    return _LineStyle(width, edges.most_common(1)[0][0], capitals > len(lengths) / 2, hyphens)


def _split_block(
    block: list[str], style: _LineStyle, is_heading: Callable[[str], bool]
) -> Iterator[list[str]]:
    """Split a block into paragraphs: after a heading, at indented lines, and at unwrapped lines."""
    if len(block) > 1 and is_heading(block[0].strip()) and not is_heading(block[1].strip()):
        yield block[:1]
        block = block[1:]
    if not style.width and any(_width(line) > _MAX_WRAP_WIDTH for line in block):
        first = 2 if is_speaker(block[0]) else 1
        yield block[:first]
        yield from ([line] for line in block[first:])
        return
    starts = _wide_starts(block, style, is_heading) or sorted(
        {*_indented_starts(block, style), *_undivided_starts(block, style, is_heading)}
    )
    for start, end in zip([0, *starts], [*starts, len(block)], strict=True):
        yield block[start:end]


def _wide_starts(
    block: Sequence[str], style: _LineStyle, is_heading: Callable[[str], bool]
) -> list[int]:
    """The numbers of lines that begin paragraphs of Chinese or Japanese."""
    wide = sum(_HAS_WIDE.search(line) is not None for line in block)
    if len(block) < 2 or 2 * wide < len(block):
        return []
    headings = [is_heading(line.strip()) for line in block]
    if sum(headings) > len(block) / 2:
        return []
    if not style.width:
        return [] if _is_wide_stanza(block) else list(range(1, len(block)))
    # A paragraph begins with a space there, and a heading may be between two paragraphs.
    edge = min(*map(_indent, block), style.edge)
    if edge and 2 * _wide_sentences(block) >= len(block):
        # All lines begin with a space, and most end a sentence: each is a whole paragraph.
        edge = 0
    return [
        index
        for index in range(1, len(block))
        if _indent(block[index]) > edge or headings[index] or headings[index - 1]
    ]


def _is_wide_stanza(block: Sequence[str]) -> bool:
    """Whether Chinese or Japanese lines are verse or a list, and not a paragraph each."""
    lines = [line.strip() for line in block]
    if any(line[0] in _QUOTES for line in lines):
        return False
    widths = [_width(line) for line in lines]
    return max(widths) <= _MAX_STANZA_WIDTH and (
        max(widths) - min(widths) <= _MAX_STANZA_DIFFERENCE
        or 2 * _wide_sentences(block) < len(lines)
    )


def _wide_sentences(block: Sequence[str]) -> int:
    return sum(line.rstrip().endswith(tuple(_WIDE_SENTENCE_ENDS)) for line in block)


def _indented_starts(block: Sequence[str], style: _LineStyle) -> list[int]:
    """The numbers of lines that begin paragraphs by their indent, if the other lines are full."""
    if not style.width or len(block) < 3:
        return []
    indents = [_indent(line) for line in block]
    edge = min(indents) + _MIN_INDENT
    starts = [i for i in range(1, len(block)) if indents[i] >= edge > indents[i - 1]]
    inner = [
        _width(line) >= _FULL_SHARE * style.width
        for index, line in enumerate(block[:-1])
        if index + 1 not in starts
    ]
    return starts if sum(inner) > 0.8 * len(inner) else []


def _undivided_starts(
    block: Sequence[str], style: _LineStyle, is_heading: Callable[[str], bool]
) -> list[int]:
    """The numbers of lines that begin paragraphs in a long run of lines without blank lines."""
    if not style.width or len(block) < _MIN_UNDIVIDED_LINES:
        return []
    # Some tools remove all blank lines: a paragraph then ends in a line with room for a word.
    lines = [line.strip() for line in block]
    capitals = sum(line.lstrip(_OPENING)[:1].isupper() for line in lines)
    if capitals >= _MIN_VERSE_CAPITALS * len(lines):
        return []
    # The last line ends a paragraph in any case.
    has_room = [
        _width(line) + 1 + _width(after.split(" ", 1)[0]) <= style.width
        for line, after in pairwise(lines)
    ] + [True]
    ends_sentence = [_SENTENCE_END.search(line) is not None for line in lines]
    alone = [
        has_room[index]
        and (not index or has_room[index - 1] or ends_sentence[index - 1])
        and (is_heading(line) or line.isupper())
        for index, line in enumerate(lines)
    ]
    return [
        index
        for index, line in enumerate(lines)
        if index
        and (
            alone[index]
            or alone[index - 1]
            or (
                has_room[index - 1]
                and ends_sentence[index - 1]
                and not line.lstrip(_OPENING)[:1].islower()
            )
        )
    ]


def _unwrap(block: Sequence[str], style: _LineStyle) -> str:
    """The text of a paragraph; that of a speech is judged without the speaker's name."""
    if len(block) > 1 and is_speaker(block[0]):
        return f"{' '.join(block[0].split())}\n{_unwrap_lines(block[1:], style)}"
    return _unwrap_lines(block, style)


def _unwrap_lines(block: Sequence[str], style: _LineStyle) -> str:
    lines = [" ".join(line.split()) for line in block]
    indented = min(map(_indent, block)) > style.edge
    return _join_lines(lines, style) if _is_prose(lines, style, indented) else "\n".join(lines)


def _is_prose(block: Sequence[str], style: _LineStyle, indented: bool) -> bool:
    """Whether a paragraph's lines were broken because of their width, as in prose."""
    breaks = len(block) - 1
    divided = sum(ends_divided(before, after) for before, after in pairwise(block))
    if divided >= max(_MIN_DIVIDED, _MIN_DIVIDED_SHARE * breaks):
        return True
    if not breaks or not style.width:
        return not breaks
    if sum(bool(_ITEM.match(line)) for line in block) > len(block) / 2:
        return False
    is_wide = sum(_HAS_WIDE.search(line) is not None for line in block) > len(block) / 2
    full = _WIDE_FULL_SHARE if is_wide else _FULL_SHARE
    if sum(_width(line) >= full * style.width for line in block[:-1]) < _FULL_SHARE * breaks:
        return False
    # Lines of verse are short for the file, or begin with capitals.
    capitals = sum(map(_starts_capital, block[1:]))
    if capitals < breaks / 2 or (not style.verse and not indented and capitals < max(3, breaks)):
        return True
    # Prose with many names or German nouns is recognised as no line had space for the next word.
    return not style.verse and all(
        len(line) + 1 + len(after.split(" ", 1)[0]) >= style.width
        for line, after in pairwise(block)
    )


def _starts_capital(line: str) -> bool:
    return without_marks(line).lstrip(_OPENING)[:1].isupper()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _width(line: str) -> int:
    """The columns of a line: Chinese, Japanese and Korean characters have two."""
    if line.isascii():
        return len(line)
    printed = without_marks(line)
    return len(printed) + len(_WIDE_CHARACTER.findall(printed))


def _join_lines(lines: Sequence[str], style: _LineStyle) -> str:
    """The lines as one: divided words are whole again, and dashes between words get no space."""
    pieces = [lines[0]]
    for before, line in pairwise(lines):
        dash = re.search(r"\S(?:--|—)$", before) or re.match(r"(?:--|—)\S", line)
        if (hyphen := style.hyphens.join(before, line)) is not None:
            pieces[-1] = f"{pieces[-1][:-1]}{hyphen}"
            pieces.append(line)
        elif dash or (re.search(r"\w-$", before) and line[:1].isalnum()):
            pieces.append(line)
        else:
            pieces.append(f"{space_between(before, line)}{line}")
    return "".join(pieces)


def space_between(before: str, after: str) -> str:
    """Return the space that a line break between two texts stands for.

    It is '' where the script has no spaces between words, as in Chinese, Japanese and Thai.
    """
    if after.isascii() and before.isascii():
        return " "
    return "" if _UNSPACED_END.search(before[-3:]) or _UNSPACED_START.match(after[:3]) else " "


def join_source_lines(text: str) -> str:
    """Return a piece of HTML or XML on one line: its line breaks are only those of the source."""
    if "\n" not in text or text.isascii() or text.isspace():
        return text.replace("\n", " ")

    def space(match: re.Match[str]) -> str:
        start, end = match.span()
        return space_between(text[max(0, start - 3) : start], text[end : end + 3])

    return _SOURCE_BREAK.sub(space, text)
