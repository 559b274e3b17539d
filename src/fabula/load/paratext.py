"""Remove from the blocks of any reader what a printer or a library put around the author's text.

This is a library's header and licence, tables of contents and lists of illustrations, page numbers,
running heads, and notes of those who made the file. None of it is what the book says, but all of it
would be found by the words of questions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from fabula.load import chapters
from fabula.load.blocks import Block
from fabula.load.clean import fold_heading
from fabula.load.left_out import (
    ADVERTISEMENTS,
    CONTENTS,
    MAKERS_NOTES,
    PAGE_MARKS,
    PAGE_NUMBERS,
    RUNNING_HEADS,
    count_characters,
)
from fabula.load.library_pages import LibraryPages, find_library_pages, is_makers_note
from fabula.load.locators import marks_of, page_mark, without_marks

_MAX_ENTRY_CHARACTERS = 150
"""The longest line of a table of contents; in old books they summarise the chapter."""
_MAX_TITLE_CHARACTERS = 90
_MAX_NUMERAL = 5
"""The longest number of a chapter or a page, which may be in a list several times."""
_MIN_COUNT = 3
"""The fewest lines of a list, page numbers of a series, and repetitions of a running head."""
_LABEL = re.compile(
    r"(?:chap(?:ter|\.)?s?\s*)?(?:page|pag\.|strona|seite|frontispiece)\.?|chap(?:ter|\.)?s?\.?",
    re.IGNORECASE,
)
_PAGE_MARK = re.compile(
    r"(\s?)[\[{](?:(?:pg|page|pag|p)\.? ?(?=\d)|(?:pg|page|p)(?:\. ?| )(?=[ivxlc])"
    r"|(?:seite|strona|str|pág|s)\. ?(?=\d))(\d{1,4}|[ivxlc]{1,8})[\]}](\s?)",
    re.IGNORECASE,
)
_NUMBERED_HEAD = (
    re.compile(r"[\[({]?(?P<number>\d{1,4})[\])}.]?\s+(?P<words>\D*[^\W\d_]\D*)"),
    re.compile(r"(?P<words>\D*[^\W\d_]\D*?)\s+[\[({]?(?P<number>\d{1,4})[\])}.]?"),
)
_ROMAN_PAGE = re.compile(r"\w\W+[ivxlc]{1,8}$")
_PAGE = re.compile(r"[\[({–—-]*\s*(?:page\s+|p\.\s*)?(\d{1,4})\s*[\])}–—-]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’»)\]]*$")
_ABOUT_THE_FILE = re.compile(
    r"\bspelling|punctuation|typograph|\btypos?\b|hyphenat|printer's errors?|printing errors?"
    r"|misprint|\bchanged to\b|(?:was|were|has been|have been|silently) (?:corrected|changed|moved"
    r"|retained|removed|added|standardi[sz]ed|replaced|preserved|left|normali[sz]ed|kept|supplied"
    r"|repaired|renumbered|rearranged|inserted|made|regulari[sz]ed)"
    r"|\betext|\be-?book|copyright|original (?:text|publication|book|edition|printing|document)"
    r"|ligature|\bitalic|underscore|\bunicode|\bascii|\butf|\bhtml\b|\bfont\b|footnotes? "
    r"|cover image|public domain|\bpage \d+|\bpp?\. ?\d+|line \d+|→|=>|transcription|this text"
    r"|\berrata|inconsisten|archaic|table of contents|\bscan(?:s|ned|ning)?\b"
    r"|orthograph|corrig|ponctuation|typographi|druckfehler|rechtschreibung|beibehalten"
    r"|korrigiert|zeichensetzung|ortograf|erratas?\b|errores|puntuación|spelfout|drukfout"
    r"|gecorrigeerd|verbeterd",
    re.IGNORECASE,
)
"""What the notes of a file's makers are about."""
_FRONT_CHARACTERS = 4_000
_FRONT_BLOCKS = 12
"""The beginning of a text, where the makers of the file may describe their work."""
_END_CHARACTERS = 6_000
"""The end of a text, where they may as well."""
_MAX_NOTE_CHARACTERS = 3_000
"""The longest note in brackets that spans several paragraphs."""
_TITLE_PAGE_BLOCKS = 10
"""The first blocks, among which the title is printed in capitals."""
_OFFER = re.compile(
    r"[$£] ?\d|\b\d+s\. ?(?:\d+d\.|net\b)|\b(?:12mo|8vo|16mo|postpaid|net price|\d+ cents)\b"
    r"|\bcloth (?:decorative|bound|gilt)|\bprice,? \d|\bfully illustrated\b",
    re.IGNORECASE,
)
"""What a publisher's list says of a book: its price, size and binding."""
_MAX_CHARACTERS_OF_OFFER = 1_500
"""Characters of a list for each of them, with praise in between; an afterword has fewer."""
_MIN_DIVIDING_SHARE = 0.3
"""Of page numbers, so many are within a sentence at least; hardly any number of a stanza is."""


class Paratext(NamedTuple):
    """A text without paratext.

    Attributes:
        blocks: Its blocks.
        left_out: The characters that were left out, by kind.
        metadata: The title, author and so on that a library's header states.
        books: How many books of a library are joined in the text.
    """

    blocks: list[Block]
    left_out: Counter[str]
    metadata: Mapping[str, str]
    books: int


def remove_paratext(blocks: Sequence[Block], title: str) -> Paratext:
    """Return a text without paratext; a doubtful block stays."""
    left_out: Counter[str] = Counter()
    pages = find_library_pages([block.text.split("\n") for block in blocks])
    body = list(_without_lines(blocks, pages, left_out))
    title = title or pages.metadata.get("title", "")
    body = [_mark_pages(block, left_out) for block in body]
    for remove in (
        _remove_page_numbers,
        partial(_remove_running_heads, title=title),
        _remove_lists,
        _remove_makers_notes,
        _remove_advertisements,
    ):
        body = list(remove(body, left_out))
    return Paratext(body, left_out, pages.metadata, pages.books)


def remove_library_text(blocks: Sequence[Block], left_out: Counter[str]) -> list[Block]:
    """Return the blocks that are not a library's, as its header and its licence are.

    Args:
        blocks: The blocks of a text.
        left_out: What is removed is counted here, by kind.
    """
    body = split_library_text(blocks)
    left_out.update(body.left_out)
    return body.blocks


def split_library_text(blocks: Sequence[Block]) -> Paratext:
    """Return a text without what is a library's, and the metadata that a library's header has."""
    left_out: Counter[str] = Counter()
    pages = find_library_pages([block.text.split("\n") for block in blocks])
    body = list(_without_lines(blocks, pages, left_out))
    return Paratext(body, left_out, pages.metadata, pages.books)


def _without_lines(
    blocks: Sequence[Block], pages: LibraryPages, left_out: Counter[str]
) -> Iterator[Block]:
    """The blocks without a library's lines."""
    for block, kinds in zip(blocks, pages.kinds, strict=True):
        if not any(kinds):
            yield block
            continue
        lines = block.text.split("\n")
        for line, kind in zip(lines, kinds, strict=True):
            if kind:
                left_out[kind] += count_characters(line)
        text = "\n".join(line for line, kind in zip(lines, kinds, strict=True) if not kind)
        # The mark of a page stays, even if nothing else of the block does.
        marks = "".join(marks_of(line) for line, kind in zip(lines, kinds, strict=True) if kind)
        if text.strip():
            yield replace(block, text=marks + text.strip())
        elif marks:
            yield Block(marks)


def _mark_pages(block: Block, left_out: Counter[str]) -> Block:
    """Turn marks like `[Pg 12]`, which may be in the middle of sentences, into locators."""

    def convert(mark: re.Match[str]) -> str:
        left_out[PAGE_MARKS] += count_characters(mark[0])
        before = mark[1] if mark.end() < len(block.text) else ""
        after = mark[3] if mark.start() and not before else ""
        return f"{before}{page_mark(mark[2])}{after}"

    text = _PAGE_MARK.sub(convert, block.text)
    if text == block.text:
        return block
    heading = " ".join(_PAGE_MARK.sub(r"\1", block.heading).split())
    return replace(block, text=text.strip(), heading=heading)


def _remove_page_numbers(blocks: Sequence[Block], left_out: Counter[str]) -> Iterator[Block]:
    """Yield the blocks without those that are page numbers, and count these; their marks stay."""
    numbers = find_page_numbers(blocks)
    for index, block in enumerate(blocks):
        if index in numbers:
            yield from leave_out(block, PAGE_NUMBERS, left_out)
        else:
            yield block


def find_page_numbers(blocks: Sequence[Block]) -> frozenset[int]:
    """Return which blocks are numbers that count up, if a good part of them divide sentences."""
    numbers = {
        index: int(page[1])
        for index, block in enumerate(blocks)
        if (page := _PAGE.fullmatch(without_marks(block.text)))
    }
    values = list(numbers.values())
    # Numbers of chapters never divide one, and those of stanzas hardly ever.
    dividing = sum(_divides_sentence(blocks, index) for index in numbers)
    is_series = len(values) >= _MIN_COUNT and values == sorted(set(values))
    is_dividing = dividing >= _MIN_DIVIDING_SHARE * len(values)
    return frozenset(numbers if is_series and is_dividing else ())


def leave_out(block: Block, kind: str, left_out: Counter[str]) -> Iterator[Block]:
    """Count a block as left out, and yield what marks of pages it has."""
    left_out[kind] += count_characters(block.text)
    if marks := marks_of(block.text):
        yield Block(marks)


def _divides_sentence(blocks: Sequence[Block], index: int) -> bool:
    if not 0 < index < len(blocks) - 1:
        return False
    return is_within_sentence(blocks[index - 1], blocks[index + 1])


def is_within_sentence(before: Block, after: Block) -> bool:
    """Return whether a sentence goes on from one block to another."""
    ended = before.heading or _SENTENCE_END.search(without_marks(before.text))
    return not ended and without_marks(after.text)[:1].islower()


def _remove_running_heads(
    blocks: Sequence[Block], left_out: Counter[str], *, title: str
) -> Iterator[Block]:
    """Remove repetitions of the book's title or a chapter's that are a printed page's."""
    names = {_bare(title), *(_bare(block.heading) for block in blocks)} - {""}
    page = [without_marks(block.text) for block in blocks[:_TITLE_PAGE_BLOCKS]]
    title_page = {_bare(line) for text in page for line in text.split("\n") if line.isupper()}
    heads: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for index, block in enumerate(blocks):
        text = without_marks(block.text)
        if block.heading or len(text) > chapters.MAX_HEADING_CHARACTERS or "\n" in text:
            continue
        name, number = _split_number(text)
        if name in names or number:
            heads[name][index] = number
    cut: dict[int, str] = {}
    for name, places in heads.items():
        numbered = {index: number for index, number in places.items() if number}
        values = [int(number) for number in numbered.values()]
        # A cry of the hero's name neither counts up nor divides sentences.
        counts_up = len(values) > 1 and values == sorted(set(values))
        dividing = sum(_divides_sentence(blocks, index) for index in places)
        if (
            len(places) >= _MIN_COUNT
            and name in names
            and (counts_up or 2 * dividing > len(places))
        ):
            cut |= places
        elif len(numbered) >= _MIN_COUNT and counts_up:
            # Other lines that count up may be 'Day 1', 'Day 2'.
            often = dividing >= _MIN_DIVIDING_SHARE * len(numbered)
            cut |= numbered if often or name in title_page else {}
    for index, block in enumerate(blocks):
        if index not in cut:
            yield block
            continue
        left_out[RUNNING_HEADS] += count_characters(block.text)
        if marks := marks_of(block.text) or page_mark(cut[index]):
            yield Block(marks)


def _split_number(text: str) -> tuple[str, str]:
    """A line's words and its page number, which is before or behind them; '' if it has none."""
    for pattern in _NUMBERED_HEAD:
        if match := pattern.fullmatch(text.strip()):
            return _bare(match["words"]), match["number"]
    return _bare(text), ""


def _bare(text: str) -> str:
    """A title to be compared, without the rules and brackets around it, but with its marks."""
    return " ".join(text.casefold().split()).strip(" *-–—|[]_.")


def _remove_lists(blocks: Sequence[Block], left_out: Counter[str]) -> Iterator[Block]:
    """Remove tables of contents and lists of illustrations: their names and entries."""
    headings = {block.heading for block in blocks}
    # The heading 'Chapter 1: The Lamp' may be listed as 'The Lamp'.
    parts = (part for heading in headings for part in (heading, heading.partition(":")[2]))
    titles = {fold_heading(part) for part in parts} - {""}
    index = 0
    while index < len(blocks):
        has_name = _opens_list(blocks[index])
        end = (_list_end if has_name else _unnamed_end)(blocks, index, titles)
        if end > index:
            for block in blocks[index:end]:
                yield from leave_out(block, CONTENTS, left_out)
            index = end
        else:
            yield blocks[index]
            index += 1


def _unnamed_end(blocks: Sequence[Block], start: int, titles: set[str]) -> int:
    """The first block after a list of the text's own headings without a name; `start` if none."""
    lines: list[str] = []
    end = start
    while end < len(blocks) and not blocks[end].heading:
        names = without_marks(blocks[end].text).split("\n")
        if not all(fold_heading(chapters.strip_page_number(name)) in titles for name in names):
            break
        lines += names
        end += 1
    return end if len(lines) >= _MIN_COUNT else start


def _opens_list(block: Block) -> bool:
    return chapters.is_list_name(without_marks(block.text).split("\n", 1)[0])


def _list_end(blocks: Sequence[Block], start: int, titles: set[str]) -> int:
    """The first block after a list; `start` if there is none."""
    name, *lines = without_marks(blocks[start].text).split("\n")
    of_pictures = not chapters.is_contents(name)
    titles = titles | _titles_below(blocks, start) if not of_pictures else titles

    def may_be_entry(line: str) -> bool:
        return _is_short(line) or _is_entry(line, titles)

    if not all(map(may_be_entry, lines)):
        return start
    end, entries = start + 1, len(lines)
    known = sum(_is_entry(line, titles) for line in lines)
    numbered = sum(map(_has_number, lines))
    numbered_end = end
    listed = {fold_heading(chapters.strip_page_number(line)) for line in lines}
    for index in range(start + 1, len(blocks)):
        block = blocks[index]
        lines = without_marks(block.text).split("\n")
        # 'PREFACE vii' is an entry, even if it was taken for a heading.
        is_entry = all(fold_heading(_without_number(line)) in titles for line in lines)
        is_heading = block.heading and not (is_entry and all(map(_has_number, lines)))
        if is_heading or _opens_list(block) or not all(map(may_be_entry, lines)):
            break
        # What was listed already is now there itself. Each book of a novel has its 'CHAPTER I',
        # but the chapters themselves are headings.
        bare = map(chapters.strip_page_number, lines)
        names = {fold_heading(line) for line in bare if not chapters.is_chapter_line(line)}
        if any(len(name) > _MAX_NUMERAL and name in listed for name in names):
            break
        listed |= names
        entry_count = sum(_is_entry(line, titles) for line in lines)
        if of_pictures or 2 * entry_count > len(lines):
            end, entries, known = index + 1, entries + len(lines), known + entry_count
            numbered += sum(map(_has_number, lines))
            numbered_end = end if any(map(_has_number, lines)) else numbered_end
    # 'Illustrations' alone may be the title of a chapter or a poem.
    is_sure = of_pictures and (known or name.casefold().strip(" .:") != "illustrations")
    if not (entries and (is_sure or 2 * known >= entries)):
        return start
    # In a list with page numbers, what comes after the last of them is the book's title again.
    is_numbered = numbered >= _MIN_COUNT and 4 * numbered >= entries and not of_pictures
    return numbered_end if is_numbered else end


def _without_number(line: str) -> str:
    match = _ROMAN_PAGE.search(line)
    return line[: match.start() + 1] if match else chapters.strip_page_number(line)


def _has_number(line: str) -> bool:
    return (
        line.isdecimal()
        or chapters.strip_page_number(line) != line
        or _ROMAN_PAGE.search(line) is not None
    )


def _titles_below(blocks: Sequence[Block], start: int) -> set[str]:
    """What stands alone in a short line of the text below, as the title of a poem or a story."""
    lines = Counter(
        fold_heading(line)
        for block in blocks[start:]
        for line in without_marks(block.text).split("\n")
        if len(line) <= _MAX_TITLE_CHARACTERS
    )
    # Each entry is there once as itself; those that come again are titles.
    return {line for line, count in lines.items() if count > 1 and line}


def _is_entry(line: str, titles: set[str]) -> bool:
    """Whether a line is recognisable alone as an entry of a table of contents."""
    bare = chapters.strip_page_number(line)
    return (
        bare != line
        or _has_number(line)
        or _LABEL.fullmatch(line) is not None
        or fold_heading(bare) in titles
        or chapters.is_chapter_line(bare)
        or chapters.numeral_line(bare) is not None
    )


def _is_short(line: str) -> bool:
    """Whether a line may be an entry: not a sentence, or one with a page number."""
    if len(line) > _MAX_ENTRY_CHARACTERS:
        return False
    return chapters.strip_page_number(line) != line or not line.endswith((".", "!", "?", "…", ":"))


def _remove_makers_notes(blocks: Sequence[Block], left_out: Counter[str]) -> Iterator[Block]:
    """Remove the notes of the makers of the file at its beginning and its end."""
    texts = [without_marks(block.text) for block in blocks]
    remaining = sum(map(len, texts))
    front = 0
    ends: dict[int, int] = {}
    """Where the note ends in each block that has one, in characters."""
    for index, text in enumerate(texts):
        # A note within the text may be the author's.
        is_front = index < _FRONT_BLOCKS and front <= _FRONT_CHARACTERS
        is_end = remaining <= _END_CHARACTERS and not is_front
        if index not in ends and (is_front or is_end) and is_makers_note(text):
            ends |= _note_ends(texts, index, at_end=is_end)
        front += len(text)
        remaining -= len(text)
    for index, block in enumerate(blocks):
        end = ends.get(index, 0)
        if end == len(texts[index]):
            yield from leave_out(block, MAKERS_NOTES, left_out)
        elif end:
            left_out[MAKERS_NOTES] += count_characters(texts[index][:end])
            yield replace(block, text=marks_of(block.text) + texts[index][end:].lstrip())
        else:
            yield block


def _remove_advertisements(blocks: Sequence[Block], left_out: Counter[str]) -> Iterator[Block]:
    """Remove the books that a publisher offers behind THE END, with their prices and sizes."""
    ends = [row for row, block in enumerate(blocks) if chapters.is_end(without_marks(block.text))]
    first = ends[-1] + 1 if ends else len(blocks)
    rest = "\n".join(without_marks(block.text) for block in blocks[first:])
    offers = len(_OFFER.findall(rest))
    is_list = offers >= _MIN_COUNT and offers * _MAX_CHARACTERS_OF_OFFER >= len(rest)
    for row, block in enumerate(blocks):
        if is_list and row >= first:
            yield from leave_out(block, ADVERTISEMENTS, left_out)
        else:
            yield block


def _note_ends(texts: Sequence[str], start: int, *, at_end: bool) -> dict[int, int]:
    """Where a maker's note ends in each block that it is in; {} if it may be the author's."""
    ends = _bracket_ends(texts, start) if texts[start].startswith("[") else {}
    if not ends:
        ends = {start: len(texts[start])}
        is_heading = not _ABOUT_THE_FILE.search(texts[start])
        below = start + 1
        # A heading has its notes below it; at the end of the text they are as many as there are.
        while below < len(texts) and (at_end or (is_heading and below == start + 1)):
            if not _ABOUT_THE_FILE.search(texts[below]):
                break
            ends[below] = len(texts[below])
            below += 1
    note = " ".join(texts[index][:end] for index, end in ends.items())
    last = max(ends)
    rest = [texts[last][ends[last] :], *texts[last + 1 :]]
    is_last = all(
        not text.strip() or is_makers_note(text) or _ABOUT_THE_FILE.search(text) for text in rest
    )
    # It may be if it is not about the file, or if the text goes on after it at the end.
    return ends if _ABOUT_THE_FILE.search(note) and (is_last or not at_end) else {}


def _bracket_ends(texts: Sequence[str], start: int) -> dict[int, int]:
    """Where the bracket that a block opens ends in each block; nothing if it is not closed soon."""
    ends: dict[int, int] = {}
    depth = length = 0
    for index in range(start, len(texts)):
        for place in re.finditer(r"[\[\]]", texts[index]):
            depth += 1 if place[0] == "[" else -1
            if depth <= 0:
                return ends | {index: place.end()}
        ends[index] = len(texts[index])
        length += len(texts[index])
        if length > _MAX_NOTE_CHARACTERS:
            break
    return {}
