"""Chapters: which blocks of a text are their headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from fabula.load import chapters
from fabula.load.blocks import Block

_SHORTEST = 150
"""Characters that a chapter has at least; less between headings makes a table of contents."""
_SHORTEST_NUMBERED = 800
"""Characters that chapters with a bare number, or in capitals only, have at the median."""
_RUN = 3
"""So many headings with nothing between them are a table of contents."""
_MOST_LINES = 3


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading that begins at block `index`, and the first block after it."""

    index: int
    end: int
    title: str
    kind: str
    key: str
    numbered: bool
    """Whether it is a number without a title, so that the next line may be its title."""


def mark(texts: Sequence[str]) -> tuple[Block, ...]:
    """The paragraphs of a text as blocks, those that head a chapter with their titles.

    By words ('Chapter 3'), by numbers in a series ('III'), or, in a text with neither, by lines
    of capitals that part the text regularly. Tables of contents head nothing.
    """
    found = _by_words(texts)
    found += _by_numbers(texts, {heading.index for heading in found})
    found.sort(key=lambda heading: heading.index)
    chosen = _without_contents(found, texts)
    if all(heading.kind == "name" for heading in chosen):
        capitals = _by_capitals(texts, {heading.index for heading in chosen})
        chosen = sorted([*chosen, *capitals], key=lambda heading: heading.index)
    titles = {heading.index: heading.title for heading in _titled(chosen, texts)}
    return tuple(Block(text, titles.get(index, "")) for index, text in enumerate(texts))


def confirm(blocks: Sequence[Block], title: str) -> tuple[Block, ...]:
    """Blocks whose headings a markup gave, without tables of contents and the book's own title.

    Where that leaves less than two, the words of the blocks are asked instead.
    """
    texts = [block.text for block in blocks]
    given = [_given(index, block) for index, block in enumerate(blocks) if block.heading]
    real = [
        heading
        for heading in given
        if not chapters.is_contents_name(heading.title) and heading.key != title.casefold().strip()
    ]
    chosen = _titled(_without_contents(real, texts), texts, given_only=True)
    if len(chosen) < 2:
        by_text = mark(texts)
        if sum(bool(block.heading) for block in by_text) > len(chosen):
            return by_text
    titles = {heading.index: heading.title for heading in chosen}
    return tuple(replace(block, heading=titles.get(i, "")) for i, block in enumerate(blocks))


def stated_title(blocks: Sequence[Block]) -> str:
    """The first heading a markup gave, if it names the book and not a chapter; else ''."""
    first = next((block.heading for block in blocks if block.heading), "")
    chapter = chapters.chapter_line(first) or chapters.numeral_line(first)
    return "" if chapter or chapters.is_contents_name(first) else first


def joined(text: str) -> str:
    """A heading of several lines as one title: 'STAVE ONE' and 'MARLEY'S GHOST' with a colon."""
    first, *more = (line.rstrip(" .:-—") for line in text.split("\n"))
    return f"{first}: {' '.join(more)}" if more else first


def _by_words(texts: Sequence[str]) -> list[_Heading]:
    found: list[_Heading] = []
    for index, lines in _short(texts):
        line = chapters.chapter_line(lines[0])
        if line and all(map(chapters.subtitle_line, lines[1:])) and not _listed(lines):
            numbered = not line.titled and len(lines) == 1
            title = joined(texts[index])
            found.append(_Heading(index, index + 1, title, line.kind, line.key, numbered))
    return found


def _by_numbers(texts: Sequence[str], taken: set[int]) -> list[_Heading]:
    """Headings like 'III' or 'III. A TITLE' that count up, with chapters' worth between them."""
    series: list[list[_Heading]] = []
    awaited = 0
    for index, lines in _short(texts):
        line = chapters.numeral_line(lines[0])
        if not line or index in taken or not all(map(chapters.subtitle_line, lines[1:])):
            continue
        # Stories of magazines number from their second part on.
        if line.value == 1 or (line.value == 2 and awaited != 2):
            series.append([])
            awaited = line.value
        if line.value == awaited:
            numbered = not line.titled and len(lines) == 1
            key = f"number {line.value}"
            heading = _Heading(index, index + 1, joined(texts[index]), "number", key, numbered)
            series[-1].append(heading)
            awaited += 1
    found: list[_Heading] = []
    for headings in series:
        if len(headings) > 1 and median(_gaps(headings, texts)) >= _SHORTEST_NUMBERED:
            found += headings
    return found


def _by_capitals(texts: Sequence[str], taken: set[int]) -> list[_Heading]:
    """Lines of capitals that each begin a chapter's worth of text, at least three of them."""
    keys = {i: chapters.without_page(texts[i]).casefold() for i, _ in _short(texts)}
    known = Counter(keys.values())
    found = [
        _Heading(index, index + 1, joined(texts[index]), "capitals", key, numbered=False)
        for index, lines in _short(texts)
        if index not in taken
        and all(map(chapters.capital_line, lines))
        and known[(key := keys[index])] < _RUN
    ]
    real = _without_contents(found, texts)
    gaps = _gaps(real, texts)
    long = [head for head, gap in zip(real, gaps, strict=True) if gap >= _SHORTEST_NUMBERED]
    early = bool(long) and sum(map(len, texts[: long[0].index])) < sum(map(len, texts)) / 4
    return long if early and len(long) >= _RUN and len(long) > len(real) / 2 else []


def _short(texts: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Blocks that may be headings, as lines without page numbers and names of contents."""
    longest = chapters.LONGEST * _MOST_LINES
    split = ((i, text.split("\n")) for i, text in enumerate(texts) if len(text) <= longest)
    return [
        (index, lines)
        for index, lines in split
        if len(lines) <= _MOST_LINES and not chapters.is_contents_name(lines[0])
    ]


def _listed(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and any(map(chapters.is_chapter_line, lines[1:]))


def _given(index: int, block: Block) -> _Heading:
    title = block.heading
    words, number = chapters.chapter_line(title), chapters.numeral_line(title)
    line = words or number
    untitled = line is not None and not line.titled
    kind = words.kind if words else "given"
    return _Heading(index, index + 1, title, kind, title.casefold(), untitled)


def _gaps(headings: Sequence[_Heading], texts: Sequence[str]) -> list[int]:
    """Characters of text under each heading, to the next or the end."""
    ends = [*(heading.index for heading in headings), len(texts)][1:]
    return [
        sum(len(texts[index]) for index in range(heading.end, end))
        for heading, end in zip(headings, ends, strict=True)
    ]


def _without_contents(headings: list[_Heading], texts: Sequence[str]) -> list[_Heading]:
    """Headings but for those of a run with nothing between them; its last may be a real one.

    A part's heading stands right above its first chapter's: the last two of a run are real if
    they are of different kinds and come only there.
    """
    last = {heading.key: position for position, heading in enumerate(headings)}
    gaps = _gaps(headings, texts)
    kept: list[_Heading] = []
    start = 0
    for position, gap in enumerate(gaps):
        if gap < _SHORTEST and position + 1 < len(gaps):
            continue
        run = headings[start : position + 1]
        if len(run) < _RUN:
            kept += run
        else:
            tail = run[-2:] if run[-2].kind != run[-1].kind else run[-1:]
            first = position + 1 - len(tail)
            kept += [
                heading
                for place, heading in enumerate(tail, start=first)
                if last[heading.key] == place
            ]
        start = position + 1
    return kept


def _titled(
    headings: Sequence[_Heading], texts: Sequence[str], *, given_only: bool = False
) -> list[_Heading]:
    """Bare numbers with the title in the block below, where it has one.

    One in mixed case counts as a title only if most bare numbers have such a line below them;
    what stands below a single one may be the chapter's first sentence.
    """
    numbers = [heading for heading in headings if heading.numbered and heading.end < len(texts)]
    below = [texts[heading.end] for heading in numbers]
    usual = sum(map(_is_subtitle, below)) > 0.6 * len(below)
    by_index = {heading.index: heading for heading in headings}
    found: list[_Heading] = []
    swallowed: set[int] = set()
    accepts: Callable[[str], bool] = _is_subtitle if usual else _is_capital_subtitle
    for heading in headings:
        if heading.index in swallowed:
            continue
        under = texts[heading.end] if heading.end < len(texts) else ""
        other = by_index.get(heading.end)
        free = other is not None and not other.numbered if given_only else other is None
        if heading.numbered and free and accepts(under):
            title = joined(f"{heading.title}\n{under}")
            swallowed.add(heading.end)
            found.append(replace(heading, title=title, end=heading.end + 1))
        else:
            found.append(heading)
    return found


def _is_subtitle(text: str) -> bool:
    lines = text.split("\n")
    return len(lines) <= 2 and all(map(chapters.subtitle_line, lines))


def _is_capital_subtitle(text: str) -> bool:
    return _is_subtitle(text) and text == text.upper()
