"""Find out which blocks of a text are headings of chapters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from fabula.load import chapters, clean
from fabula.load.blocks import Block
from fabula.load.locators import without_marks

_MIN_CHAPTER_CHARACTERS = 150
"""The shortest chapter; headings with less text between them are a table of contents."""
_MIN_NUMBERED_CHARACTERS = 800
"""The least median length of chapters whose headings are only numbers or capitals."""
_MIN_CONTENTS_HEADINGS = 3
"""This many headings with nothing between them are a table of contents."""
_MAX_LINES = 3


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading from block `index` to before block `end`."""

    index: int
    end: int
    title: str
    kind: str
    key: str
    numbered: bool
    """Whether it has no title, so that the next block may be its title."""


def mark(texts: Sequence[str]) -> tuple[Block, ...]:
    """Return the paragraphs of a text as blocks, with the titles of those that begin a chapter.

    Headings are recognised by words ('Chapter 3'), by numbers in a series ('III'), or, in a text
    with neither, by lines of capitals that divide the text regularly. Lines of tables of contents
    are not headings.
    """
    headings = _find_by_words(texts)
    headings += _find_by_numbers(texts, {heading.index for heading in headings})
    headings.sort(key=lambda heading: heading.index)
    chosen = _remove_contents(headings, texts)
    if all(heading.kind == "name" for heading in chosen):
        capitals = _find_by_capitals(texts, {heading.index for heading in chosen})
        chosen = sorted([*chosen, *capitals], key=lambda heading: heading.index)
    titles = {heading.index: heading.title for heading in _add_titles(chosen, texts)}
    return tuple(Block(text, titles.get(index, "")) for index, text in enumerate(texts))


def confirm(blocks: Sequence[Block], title: str) -> tuple[Block, ...]:
    """Return blocks from markup with only those headings that begin chapters.

    The headings of tables of contents and the book's own title are removed. If less than two are
    left, the headings are found by the words of the blocks instead.
    """
    texts = [without_marks(block.text).strip() for block in blocks]
    stated = [_stated_heading(index, block) for index, block in enumerate(blocks) if block.heading]
    real = [
        heading
        for heading in stated
        if not chapters.is_contents_name(heading.title) and heading.key != title.casefold().strip()
    ]
    chosen = _add_titles(_remove_contents(real, texts), texts, stated_only=True)
    if len(chosen) < 2:
        by_text = mark(texts)
        if sum(bool(block.heading) for block in by_text) > len(chosen):
            return tuple(
                replace(block, heading=chapter.heading, level=0)
                for block, chapter in zip(blocks, by_text, strict=True)
            )
    titles = {heading.index: heading.title for heading in chosen}
    return tuple(replace(block, heading=titles.get(i, "")) for i, block in enumerate(blocks))


def stated_title(blocks: Sequence[Block]) -> str:
    """Return the first heading from markup if it is the book's title; '' if it is a chapter's.

    It is a chapter's also if it has text of its own, and a heading of the same level or a higher
    one follows that has a name, and not just a number.
    """
    stated = [index for index, block in enumerate(blocks) if block.heading]
    if not stated:
        return ""
    first, *others = (blocks[index] for index in stated)
    title = without_marks(first.heading).strip()
    if _is_numbered(title) or chapters.is_contents_name(title):
        return ""
    has_text = bool(first.level) and stated[0] + 1 not in stated
    siblings = (
        block
        for block in others
        if block.level <= first.level
        and not _is_numbered(block.heading)
        and block.heading != first.heading
    )
    return "" if has_text and any(siblings) else title


def _is_numbered(heading: str) -> bool:
    """Whether a heading is recognisable by its words or its number."""
    line = without_marks(heading).strip()
    named = chapters.chapter_line(line) or chapters.numeral_line(line)
    return named is not None or chapters.is_contents_name(line)


def join_title(text: str) -> str:
    """Return a heading of several lines as one title, as 'STAVE ONE: MARLEY'S GHOST'."""
    first, *more = (line.rstrip(" .:-—") for line in text.split("\n"))
    return f"{first}: {' '.join(more)}" if more else first


def _find_by_words(texts: Sequence[str]) -> list[_Heading]:
    headings: list[_Heading] = []
    for index, lines in _short_blocks(texts):
        line = chapters.chapter_line(lines[0])
        if line and all(map(chapters.subtitle_line, lines[1:])) and not _is_list(lines):
            numbered = not line.titled and len(lines) == 1
            title = join_title(texts[index])
            headings.append(_Heading(index, index + 1, title, line.kind, line.key, numbered))
    return headings


def _find_by_numbers(texts: Sequence[str], used: set[int]) -> list[_Heading]:
    """Headings like 'III' or 'III. A TITLE' that count up, with chapters of text below them."""
    series: list[list[_Heading]] = []
    expected = 0
    for index, lines in _short_blocks(texts):
        line = chapters.numeral_line(lines[0])
        if not line or index in used or not all(map(chapters.subtitle_line, lines[1:])):
            continue
        # In magazines, only the second part of a story has the first number.
        if line.value == 1 or (line.value == 2 and expected != 2):
            series.append([])
            expected = line.value
        if line.value == expected:
            numbered = not line.titled and len(lines) == 1
            key = f"number {line.value}"
            heading = _Heading(index, index + 1, join_title(texts[index]), "number", key, numbered)
            series[-1].append(heading)
            expected += 1
    return [
        heading
        for headings in series
        if len(headings) > 1 and median(_gaps(headings, texts)) >= _MIN_NUMBERED_CHARACTERS
        for heading in headings
    ]


def _find_by_capitals(texts: Sequence[str], used: set[int]) -> list[_Heading]:
    """Lines of capitals with as much text below them as chapters have, at least three."""
    keys = {i: chapters.strip_page_number(texts[i]).casefold() for i, _ in _short_blocks(texts)}
    counts = Counter(keys.values())
    headings = [
        _Heading(index, index + 1, join_title(texts[index]), "capitals", key, numbered=False)
        for index, lines in _short_blocks(texts)
        if index not in used
        and all(map(chapters.capital_line, lines))
        and counts[(key := keys[index])] < _MIN_CONTENTS_HEADINGS
    ]
    real = _remove_contents(headings, texts)
    gaps = _gaps(real, texts)
    long = [head for head, gap in zip(real, gaps, strict=True) if gap >= _MIN_NUMBERED_CHARACTERS]
    early = bool(long) and sum(map(len, texts[: long[0].index])) < sum(map(len, texts)) / 4
    return (
        long if early and len(long) >= _MIN_CONTENTS_HEADINGS and len(long) > len(real) / 2 else []
    )


def _short_blocks(texts: Sequence[str]) -> list[tuple[int, list[str]]]:
    """The lines of blocks that are short enough for headings, and are not the name of a list."""
    longest = chapters.MAX_HEADING_CHARACTERS * _MAX_LINES
    split = ((i, text.split("\n")) for i, text in enumerate(texts) if len(text) <= longest)
    return [
        (index, lines)
        for index, lines in split
        if len(lines) <= _MAX_LINES and not chapters.is_contents_name(lines[0])
    ]


def _is_list(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and any(map(chapters.is_chapter_line, lines[1:]))


def _stated_heading(index: int, block: Block) -> _Heading:
    title = block.heading
    words, number = chapters.chapter_line(title), chapters.numeral_line(title)
    line = words or number
    untitled = line is not None and not line.titled
    kind = words.kind if words else "given"
    # A title that a table of contents or a division states is not printed: the block is text.
    is_printed = join_title(clean.lines(without_marks(block.text))) == title
    end = index + 1 if is_printed or len(block.text) < _MIN_CHAPTER_CHARACTERS else index
    return _Heading(index, end, title, kind, title.casefold(), untitled and end > index)


def _gaps(headings: Sequence[_Heading], texts: Sequence[str]) -> list[int]:
    """The characters of text below each heading, up to the next one or the end."""
    ends = [*(heading.index for heading in headings), len(texts)][1:]
    return [
        sum(len(texts[index]) for index in range(heading.end, end))
        for heading, end in zip(headings, ends, strict=True)
    ]


def _remove_contents(headings: list[_Heading], texts: Sequence[str]) -> list[_Heading]:
    """The headings without those of a table of contents: a run with no text between them.

    The last heading of a run may be real. As the heading of a part is directly above that of its
    first chapter, the last two are real if they are of different kinds and are not repeated later.
    """
    last = {heading.key: position for position, heading in enumerate(headings)}
    gaps = _gaps(headings, texts)
    real: list[_Heading] = []
    start = 0
    for position, gap in enumerate(gaps):
        if gap < _MIN_CHAPTER_CHARACTERS and position + 1 < len(gaps):
            continue
        run = headings[start : position + 1]
        if len(run) < _MIN_CONTENTS_HEADINGS:
            real += run
        else:
            tail = run[-2:] if run[-2].kind != run[-1].kind else run[-1:]
            first = position + 1 - len(tail)
            real += [
                heading
                for place, heading in enumerate(tail, start=first)
                if last[heading.key] == place
            ]
        start = position + 1
    return real


def _add_titles(
    headings: Sequence[_Heading], texts: Sequence[str], *, stated_only: bool = False
) -> list[_Heading]:
    """Add to headings without a title the title in the block below, if it is one.

    A line in mixed case counts as a title only if most such headings have one below them; below a
    single heading it may be the chapter's first sentence.
    """
    numbers = [heading for heading in headings if heading.numbered and heading.end < len(texts)]
    below = [texts[heading.end] for heading in numbers]
    usual = sum(map(_is_subtitle, below)) > 0.6 * len(below)
    by_index = {heading.index: heading for heading in headings}
    with_titles: list[_Heading] = []
    used_as_title: set[int] = set()
    accepts: Callable[[str], bool] = _is_subtitle if usual else _is_capital_subtitle
    for heading in headings:
        if heading.index in used_as_title:
            continue
        text_below = texts[heading.end] if heading.end < len(texts) else ""
        heading_below = by_index.get(heading.end)
        free = (
            heading_below is not None and not heading_below.numbered
            if stated_only
            else heading_below is None
        )
        if heading.numbered and free and accepts(text_below):
            title = join_title(f"{heading.title}\n{text_below}")
            used_as_title.add(heading.end)
            with_titles.append(replace(heading, title=title, end=heading.end + 1))
        else:
            with_titles.append(heading)
    return with_titles


def _is_subtitle(text: str) -> bool:
    lines = text.split("\n")
    return len(lines) <= 2 and all(map(chapters.subtitle_line, lines))


def _is_capital_subtitle(text: str) -> bool:
    return _is_subtitle(text) and text == text.upper()
