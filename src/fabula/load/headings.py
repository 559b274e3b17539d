"""Find out which blocks of a text are headings of chapters."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from fabula.load import chapters, clean, entries
from fabula.load.blocks import Block
from fabula.load.clean import fold_heading
from fabula.load.locators import without_marks

_MIN_CHAPTER_CHARACTERS = 150
"""The shortest chapter; headings with less text between them are a table of contents."""
_MIN_NUMBERED_CHARACTERS = 800
"""The least median length of chapters whose headings are only numbers or capitals."""
_MIN_CONTENTS_HEADINGS = 3
"""This many headings with nothing between them are a table of contents."""
_MIN_ENTRIES = 3
"""The fewest entries of a diary, and letters of a series."""
_MIN_ENTRY_SHARE = 0.5
"""The least share of a text, or of a chapter, that its entries take up."""
_WIDE_FACTOR = 3
"""A Chinese or Japanese character counts as this many letters."""
_MAX_LINES = 3
_COUNTED_WORD = re.compile(r"(?P<word>[^\W\d_]{2,15}) (?P<number>\S{1,12})")
_COUNTED_OTHER_NAMES = (
    "page pages pg seite strona página pagina side sida sayfa oldal страница стр σελίδα figure fig"
    " table plate note footnote illustration image photo slide line column folio abbildung tabelle"
    " tafel planche figura tabla lámina rysunek рис"
)
_COUNTED_OTHERS = frozenset(_COUNTED_OTHER_NAMES.split())
"""Words that count what is no division of a text."""
_MARKED = re.compile(r"#{1,3} (?P<marked>[^\n]{1,90})|(?P<ruled>[^\n]{1,90})\n[=~-]{3,}")
_MIN_SHORT_SHARE = 0.6
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]」』]*$")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_CHAPTER_RANK = chapters.RANKS.index("chapter")
_NUMBER_RANK = len(chapters.RANKS)
_ENTRY_RANK = _NUMBER_RANK + 1
_NESTING_RANKS = chapters.RANKS.index("part")
"""Up to this rank, the text itself shows which divisions are inside which."""
_UNRANKED = ("name", "given")
_BYLINE = re.compile(r"^(?:by|von|par|de|di|por|van|av|af|przez)[\s:]+", re.IGNORECASE)
"""What stands before the author's name on a title page."""


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
    value: int = 0
    """Its number; 0 if it has none."""
    rank: int = _CHAPTER_RANK
    level: int = 0
    """The level that the file states; 0 if it states none."""


def mark(texts: Sequence[str]) -> tuple[Block, ...]:
    """Return the paragraphs of a text as blocks, with the titles of those that begin a chapter.

    Headings are recognised by words ('Chapter 3'), by numbers in a series ('III'), or, in a text
    with neither, by lines of capitals that divide the text regularly, and the entries of diaries by
    their dates. Lines of tables of contents are not headings.
    """
    headings = _find_by_words(texts)
    headings += _find_by_numbers(texts, {heading.index for heading in headings})
    headings.sort(key=lambda heading: heading.index)
    chosen = _remove_contents(headings, texts)
    if all(heading.kind == "name" for heading in chosen):
        used = {heading.index for heading in chosen}
        others = _find_by_capitals(texts, used) or _find_by_counted_words(texts, used)
        others = others or _find_marked(texts, used)
        chosen = sorted([*chosen, *others], key=lambda heading: heading.index)
    chosen = _add_entries(chosen, texts)
    chosen = _add_titles(chosen, texts)
    return _with_headings([Block(text) for text in texts], chosen)


def confirm(
    blocks: Sequence[Block], title: str, author: str = "", *, levels_are_divisions: bool = False
) -> tuple[Block, ...]:
    """Return blocks from markup with only those headings that begin chapters.

    The headings of tables of contents and of the title page are removed, and those that are only
    asterisks. If less than two are left, the headings are found by the words of the blocks instead.

    Args:
        blocks: The blocks.
        title: The book's title.
        author: Its author; '' if unknown.
        levels_are_divisions: Whether each level is a division of its own, so that a heading below
            another one is never its title. In web pages a title may be in a heading of lower level.
    """
    texts = [without_marks(block.text).strip() for block in blocks]
    stated = [_stated_heading(index, block) for index, block in enumerate(blocks) if block.heading]
    volumes = _volumes(stated)
    real = [
        heading
        for heading in stated
        if any(map(str.isalnum, heading.title))
        and not chapters.is_contents_name(heading.title)
        and (_comparable(heading.title) != _comparable(title) or heading.index in volumes)
    ]
    front = _title_page(stated, texts, title, author) - volumes
    real = [heading for heading in _remove_contents(real, texts) if heading.index not in front]
    chosen = _add_titles(real, texts, stated_only=True, same_level=levels_are_divisions)
    if len(chosen) < 2:
        by_text = mark(texts)
        if sum(bool(block.heading) for block in by_text) > len(chosen):
            return tuple(
                replace(block, heading=chapter.heading, level=chapter.level)
                for block, chapter in zip(blocks, by_text, strict=True)
            )
    return _with_headings(blocks, _add_entries(chosen, texts))


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


def _volumes(headings: Sequence[_Heading]) -> set[int]:
    """The blocks of headings that differ only behind a colon, as those of volumes of a book."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for heading in headings:
        name, _, rest = heading.title.partition(":")
        if rest.strip():
            names[_comparable(name)].add(_comparable(rest))
    return {
        heading.index
        for heading in headings
        if ":" in heading.title and len(names[_comparable(heading.title.partition(":")[0])]) > 1
    }


def _title_page(
    headings: Sequence[_Heading], texts: Sequence[str], title: str, author: str
) -> set[int]:
    """The blocks that are headings of a title page: the author's name, the title with subtitle."""
    surname = author.casefold().split()[-1:]
    front: set[int] = set()
    for heading, gap in zip(headings, _gaps(headings, texts), strict=True):
        name = _BYLINE.sub("", heading.title)
        is_author = bool(author) and _comparable(name) == _comparable(author)
        is_byline = name != heading.title and name.casefold().split()[-1:] == surname
        before, _, subtitle = heading.title.partition(":")
        # A title with a number behind a colon is that of a volume.
        is_title = _comparable(before) == _comparable(title) and not _is_numbered(subtitle)
        is_front = is_byline or is_author or is_title
        # In other languages, the name of a chapter may begin as a line with the author does.
        is_sure = is_byline and heading.title[:2].casefold() == "by"
        # A chapter may be called after both, but it has text below it.
        if is_sure or (is_front and gap < _MIN_CHAPTER_CHARACTERS):
            front.add(heading.index)
    return front


def _comparable(text: str) -> str:
    """The letters and digits of a title; the title itself if it has none."""
    return fold_heading(text) or text.casefold().strip()


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
            title = _title_of(lines)
            heading = _Heading(index, index + 1, title, line.kind, line.key, numbered)
            headings.append(replace(heading, value=line.value, rank=line.rank))
    return headings


def _find_by_numbers(texts: Sequence[str], used: set[int]) -> list[_Heading]:
    """Headings like 'III' or 'III. A TITLE' that count up, with chapters of text below them."""
    series: list[list[_Heading]] = []
    expected = 0
    is_small = False
    for index, lines in _short_blocks(texts):
        line = chapters.numeral_line(lines[0]) or chapters.number_word_line(lines[0])
        if not line or index in used or not all(map(chapters.subtitle_line, lines[1:])):
            continue
        # In magazines, only the second part of a story has the first number.
        if line.value == 1 or (line.value == 2 and expected != 2):
            series.append([])
            expected = line.value
            is_small = lines[0].islower()
        if line.value == expected and lines[0].islower() == is_small:
            numbered = not line.titled and len(lines) == 1
            key = f"number {line.value}"
            heading = _Heading(index, index + 1, _title_of(lines), "number", key, numbered)
            series[-1].append(replace(heading, value=line.value, rank=_NUMBER_RANK))
            expected += 1
    return [
        heading
        for headings in series
        if len(headings) > 1 and median(_gaps(headings, texts)) >= _MIN_NUMBERED_CHARACTERS
        for heading in headings
    ]


def _find_by_counted_words(texts: Sequence[str], used: set[int]) -> list[_Heading]:
    """Lines like 'Day 1' and 'Tale II' that count up, with chapters of text below them."""
    series: defaultdict[str, list[_Heading]] = defaultdict(list)
    for index, lines in _short_blocks(texts):
        match = _COUNTED_WORD.fullmatch(lines[0])
        text = match["number"] if match and index not in used else ""
        line = chapters.numeral_line(text) or chapters.number_word_line(text)
        if not match or not line or not all(map(chapters.subtitle_line, lines[1:])):
            continue
        word = match["word"].casefold()
        if word in _COUNTED_OTHERS:
            continue
        if line.value == len(series[word]) + 1:
            numbered = len(lines) == 1
            key = f"{word} {line.value}"
            heading = _Heading(index, index + 1, _title_of(lines), word, key, numbered)
            series[word].append(replace(heading, value=line.value))
    return [
        heading
        for headings in series.values()
        if len(headings) >= _MIN_CONTENTS_HEADINGS
        and median(_gaps(headings, texts)) >= _MIN_NUMBERED_CHARACTERS
        for heading in headings
    ]


def _find_marked(texts: Sequence[str], used: set[int]) -> list[_Heading]:
    """Lines that are marked as in Markdown, '# The House', or have a rule below them."""
    headings: list[_Heading] = []
    for index, text in enumerate(texts):
        title = _MARKED.fullmatch(text)
        if title and index not in used and any(map(str.isalnum, title[0])):
            name = (title["marked"] or title["ruled"]).strip(" #")
            if chapters.subtitle_line(name):
                key = name.casefold()
                headings.append(_Heading(index, index + 1, name, "marked", key, numbered=False))
    real = _remove_contents(headings, texts)
    return real if len(real) > 1 else []


def _title_of(lines: Sequence[str]) -> str:
    """The title on some lines, without the ornaments around it."""
    return join_title("\n".join(map(chapters.without_ornaments, lines)))


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
    split = (
        (i, [line for line in text.split("\n") if any(map(str.isalnum, line))] or [text])
        for i, text in enumerate(texts)
        if len(text) <= longest
    )
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
    if number and not words:
        kind = "number"
    # A title that a table of contents or a division states is not printed: the block is text.
    is_printed = join_title(clean.lines(without_marks(block.text))) == title
    end = index + 1 if is_printed or len(block.text) < _MIN_CHAPTER_CHARACTERS else index
    return _Heading(
        index,
        end,
        title,
        kind,
        title.casefold(),
        untitled and end > index,
        value=line.value if line else 0,
        rank=words.rank if words else _NUMBER_RANK if number else _CHAPTER_RANK,
        level=block.level,
    )


def _gaps(headings: Sequence[_Heading], texts: Sequence[str]) -> list[int]:
    """The length of the text below each heading, up to the next one or the end."""
    ends = [*(heading.index for heading in headings), len(texts)][1:]
    return [
        sum(_length(texts[index]) for index in range(heading.end, end))
        for heading, end in zip(headings, ends, strict=True)
    ]


def _length(text: str) -> int:
    """The characters of a text; each Chinese or Japanese one counts for as much as it says."""
    if text.isascii():
        return len(text)
    return len(text) + (_WIDE_FACTOR - 1) * len(_WIDE.findall(text))


def _remove_contents(headings: list[_Heading], texts: Sequence[str]) -> list[_Heading]:
    """The headings without those of a table of contents: a run with no text between them."""
    last = {heading.key: position for position, heading in enumerate(headings)}
    paths = _paths(headings)
    last_path = {path: position for position, path in enumerate(paths)}
    gaps = _gaps(headings, texts)
    real: list[_Heading] = []
    start = 0
    for position, gap in enumerate(gaps):
        if paths[position] == paths[start] and start < position:
            # The run so far is a list of what begins here.
            start = position
        if gap < _MIN_CHAPTER_CHARACTERS and position + 1 < len(gaps):
            continue
        run = headings[start : position + 1]
        repeated = any(last_path[path] > position for path in paths[start : position + 1])
        is_text = not repeated and _are_short_chapters(run, texts)
        if len(run) < _MIN_CONTENTS_HEADINGS or is_text:
            real += run
        else:
            after = headings[position + 1] if position + 1 < len(headings) else None
            real += _real_tail(run, after, last, start)
        start = position + 1
    return real


def _paths(headings: Sequence[_Heading]) -> list[tuple[str, ...]]:
    """The key of each heading, after those of the headings that it is below."""
    paths: list[tuple[str, ...]] = []
    above: list[tuple[tuple[int, int], str]] = []
    for heading, depth in zip(headings, _depths(headings), strict=True):
        above = [*((other, key) for other, key in above if other < depth), (depth, heading.key)]
        paths.append(tuple(key for _, key in above))
    return paths


def _are_short_chapters(run: Sequence[_Heading], texts: Sequence[str]) -> bool:
    """Whether most headings of a run have sentences below them, unlike a table of contents."""
    with_text = sum(
        heading.end < below.index and bool(_SENTENCE_END.search(texts[heading.end]))
        for heading, below in pairwise(run)
    )
    above_others = sum(
        heading.end == below.index and _outranks(heading, below) for heading, below in pairwise(run)
    )
    return with_text >= _MIN_SHORT_SHARE * (len(run) - 1 - above_others) > 0


def _real_tail(
    run: Sequence[_Heading], after: _Heading | None, last: Mapping[str, int], start: int
) -> Sequence[_Heading]:
    """The headings at the end of a run that are not lines of a table of contents."""
    first = len(run) - 1
    # In an edition in two languages, a scene has a heading in both.
    while first and (_outranks(run[first - 1], run[first]) or run[first - 1].key == run[first].key):
        first -= 1
    chain = run[first:]
    is_continued = after is not None and any(
        heading.kind == after.kind and heading.value and heading.value + 1 == after.value
        for heading in chain
    )
    if is_continued:
        return chain
    tail = chain
    if len(chain) == 1 and run[-2].kind != run[-1].kind:
        tail = run[-2:]
    place = start + len(run) - len(tail)
    return [heading for number, heading in enumerate(tail, place) if last[heading.key] == number]


def _outranks(heading: _Heading, below: _Heading) -> bool:
    """Whether a heading may be that of the part which begins with the one below it."""
    return (
        heading.kind not in _UNRANKED
        and (heading.rank, heading.kind)
        != (
            below.rank,
            below.kind,
        )
        and (heading.rank < below.rank or max(heading.rank, below.rank) <= _NESTING_RANKS)
    )


def _add_entries(headings: Sequence[_Heading], texts: Sequence[str]) -> list[_Heading]:
    """Add the dated entries of a diary, and the letters, that most of a text or chapter is."""
    used = {index for heading in headings for index in range(heading.index, heading.end)}
    added = [
        _Heading(index, index, title, "entry", title.casefold(), numbered=False, rank=_ENTRY_RANK)
        for index, text in enumerate(texts)
        if index not in used and (title := entries.entry_title(text) or entries.address_title(text))
    ]
    if len(added) < _MIN_ENTRIES:
        return list(headings)
    lengths = [0]
    for text in texts:
        lengths.append(lengths[-1] + _length(text))
    starts = [0, *(heading.end for heading in headings)]
    ends = [*(heading.index for heading in headings), len(texts)]
    chosen: list[_Heading] = []
    covered = 0
    by_chapter: list[_Heading] = []
    for start, end in zip(starts, ends, strict=True):
        here = [entry for entry in added if start <= entry.index < end]
        if not here:
            continue
        length = lengths[end] - lengths[here[0].index]
        covered += length
        # The date of a letter that has a heading of its own is no second heading.
        if len(here) > 1 or lengths[here[0].index] - lengths[start] > _MIN_CHAPTER_CHARACTERS:
            chosen += here
        if len(here) >= _MIN_ENTRIES and length >= _MIN_ENTRY_SHARE * (
            lengths[end] - lengths[start]
        ):
            by_chapter += here
    if covered < _MIN_ENTRY_SHARE * lengths[-1]:
        chosen = by_chapter
    if lowest := max((heading.level for heading in headings), default=0):
        # The file states the levels of its headings, and the entries are below them.
        chosen = [replace(entry, level=lowest + 1) for entry in chosen]
    return sorted([*headings, *chosen], key=lambda heading: heading.index)


def _with_headings(blocks: Sequence[Block], headings: Sequence[_Heading]) -> tuple[Block, ...]:
    """The blocks with these headings and their levels, and no others."""
    by_index = {
        heading.index: (heading.title, level)
        for heading, level in zip(headings, _levels(headings), strict=True)
    }
    return tuple(
        replace(block, heading=title, level=level)
        for i, block in enumerate(blocks)
        for title, level in [by_index.get(i, ("", 0))]
    )


def _levels(headings: Sequence[_Heading]) -> list[int]:
    """The depth of each heading, from 1: by the level that the file states, and by its words."""
    depths = _depths(headings)
    order = {depth: level for level, depth in enumerate(sorted(set(depths)), 1)}
    return [order[depth] for depth in depths]


def _depths(headings: Sequence[_Heading]) -> list[tuple[int, int]]:
    """The level that the file states, and the depth by the words, of each heading."""
    tiers = _tiers(headings)
    lowest: dict[int, int] = {}
    for heading in headings:
        if heading.kind in tiers and heading.rank <= _NUMBER_RANK:
            tier = tiers[heading.kind]
            lowest[heading.level] = max(tier, lowest.get(heading.level, 0))
    depths: list[tuple[int, int]] = []
    after: _Heading | None = None
    # An entry has no level of its own: it is inside the chapter above it.
    above = 0
    levels: list[int] = []
    for heading in headings:
        above = above if heading.rank == _ENTRY_RANK else heading.level
        levels.append(above)
    for position in reversed(range(len(headings))):
        heading = headings[position]
        before = headings[position - 1] if position else None
        if heading.kind == "given":
            depths.append((heading.level, lowest.get(heading.level, 0)))
        elif heading.kind == "name":
            depths.append((heading.level, _tier_of_name(heading, before, after, tiers)))
        elif heading.rank == _ENTRY_RANK:
            depths.append((levels[position], tiers[heading.kind] + bool(levels[position])))
        else:
            depths.append((heading.level, tiers[heading.kind]))
            after = heading
    return depths[::-1]


def _tiers(headings: Sequence[_Heading]) -> dict[str, int]:
    """The depth of each kind of heading, from 0."""
    counts = Counter(heading.kind for heading in headings if heading.kind not in _UNRANKED)
    ranks = {heading.kind: heading.rank for heading in headings if heading.kind in counts}
    keys: dict[str, tuple[int, int, int]] = {}
    for kind, rank in ranks.items():
        # Volumes, books and parts are inside each other in any order: the fewer are outside.
        nests = rank <= _NESTING_RANKS
        keys[kind] = (0, counts[kind], rank) if nests else (rank, 0, 0)
    chapter = next((h.kind for h in headings if h.rank == _CHAPTER_RANK and h.kind in counts), "")
    for kind, rank in ranks.items():
        if rank < _CHAPTER_RANK and chapter and _is_inside(kind, chapter, headings):
            keys[kind] = (_CHAPTER_RANK, 1, rank)
    order = sorted(set(keys.values()))
    return {kind: order.index(key) for kind, key in keys.items()}


def _is_inside(kind: str, chapter: str, headings: Sequence[_Heading]) -> bool:
    """Whether divisions of a kind are in chapters: parts, or the acts of a play in a novel.

    Most of them then follow each other with no chapter between, and chapters go on behind them.
    """
    order = [heading for heading in headings if heading.kind in (kind, chapter)]
    pairs = [*pairwise(order)]
    goes_on = any(h.kind == kind and b.kind == chapter and b.value > 1 for h, b in pairs)
    within = sum(heading.kind == below.kind == kind for heading, below in pairs)
    of_kind = [heading.value for heading in order if heading.kind == kind]
    steps = sum(below == value + 1 for value, below in pairwise(of_kind))
    return order[0].kind == chapter and goes_on and 2 * within > steps


def _tier_of_name(
    heading: _Heading, before: _Heading | None, after: _Heading | None, tiers: Mapping[str, int]
) -> int:
    """The depth of a heading without a number, as a preface or an epilogue, by its neighbours."""
    if before is not None and before.end == heading.index and before.kind in tiers:
        # 'PART ONE', and its prologue directly below.
        return min(tiers[before.kind] + 1, max(tiers.values()))
    if after is not None and after.value > 1:
        # An interlude between two chapters, or what stands before a part.
        return tiers[after.kind]
    return 0


def _add_titles(
    headings: Sequence[_Heading],
    texts: Sequence[str],
    *,
    stated_only: bool = False,
    same_level: bool = False,
) -> list[_Heading]:
    """Add to headings without a title the title in the block below, if it is one."""
    by_index = {heading.index: heading for heading in headings}

    def is_free(index: int) -> bool:
        """Whether a block may be a title: with `stated_only`, a heading without a number."""
        heading = by_index.get(index)
        return heading is not None and not heading.value if stated_only else heading is None

    numbers = [heading for heading in headings if heading.numbered and heading.end < len(texts)]
    # Chapters that have text right below them say nothing of headings that have another heading.
    numbers = [heading for heading in numbers if not stated_only or is_free(heading.end)]
    below = [texts[heading.end] for heading in numbers]
    # Below a single heading, a line in mixed case may be the chapter's first sentence.
    usual = sum(map(_is_subtitle, below)) > 0.6 * len(below)
    with_titles: list[_Heading] = []
    used_as_title: set[int] = set()
    accepts: Callable[[str], bool] = _is_subtitle if usual else _is_capital_subtitle
    for heading in headings:
        if heading.index in used_as_title:
            continue
        text_below = texts[heading.end] if heading.end < len(texts) else ""
        inner = by_index.get(heading.end)
        is_inside = same_level and inner is not None and inner.level > heading.level
        if heading.numbered and is_free(heading.end) and not is_inside and accepts(text_below):
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
