"""What a printer or a library put around the author's words, found in any reader's blocks.

A library's header and licence, contents and lists of illustrations, page numbers, running heads,
and notes of those who made the file: none of it is what a book says, and a question's words are in
all of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabula.load import chapters, gutenberg
from fabula.load.blocks import Block

_LONGEST_ENTRY = 150
"""Characters of a line of contents; those of old books tell the chapter's events."""
_FEWEST = 3
"""Lines that make a list, pages that make a series, and times that a running head comes."""
_LABEL = re.compile(r"(?:chap(?:ter|\.)?s?\s*)?(?:page|pag\.|strona|seite|frontispiece)\.?", re.I)
_PAGE_MARK = re.compile(r"(\s?)[\[{](?:pg|page|p)\.? ?\d{1,4}[\]}](\s?)", re.IGNORECASE)
_PAGE = re.compile(r"[\[({–—-]*\s*(?:page\s+|p\.\s*)?(\d{1,4})\s*[\])}–—-]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’»)\]]*$")
_MAKERS_NOTE = re.compile(
    r"\W*(?:transcriber|redactor)(?:'s|’s|s'|s’)? (?:end)?notes?\b"
    r"|(?:end of )?(?:the )?project gutenberg",
    re.IGNORECASE,
)
_NOTES_AT_END = 6_000
"""Characters from the end in which the makers of a file say what they did."""


def without_paratext(blocks: Sequence[Block], title: str) -> list[Block]:
    """The blocks of a text with nothing of that; where in doubt a block stays."""
    kept = without_library(blocks)
    kept = [block for block in map(_without_page_marks, kept) if block.text]
    kept = list(_without_pages(kept))
    kept = list(_without_heads(kept, title))
    kept = list(_without_lists(kept))
    return list(_without_notes(kept))


def without_library(blocks: Sequence[Block]) -> list[Block]:
    """What stands between Project Gutenberg's header and its licence, if they are there."""
    left = total = sum(len(block.text) for block in blocks)
    kept: list[Block] = []
    headed = False
    for block in blocks:
        lines = block.text.split("\n")
        if total - left <= gutenberg.LONGEST_FOOTER and any(map(gutenberg.is_start, lines)):
            headed = True
            kept = []
            lines = lines[1 + max(i for i, line in enumerate(lines) if gutenberg.is_start(line)) :]
        ends = [i for i, line in enumerate(lines) if gutenberg.is_end(line)]
        if ends and left <= gutenberg.LONGEST_FOOTER:
            kept += _of_lines(block, lines[: ends[0]])
            break
        kept += _of_lines(block, lines)
        left -= len(block.text)
    credits = kept[: gutenberg.CREDITS_WITHIN] if headed else []
    said = [index for index, block in enumerate(credits) if gutenberg.is_credit(block.text)]
    return kept[said[-1] + 1 :] if said else kept


def _of_lines(block: Block, lines: Sequence[str]) -> list[Block]:
    """A block of these lines of it; none, if there are no more."""
    text = "\n".join(lines).strip()
    return [block if text == block.text else replace(block, text=text)] if text else []


def _without_page_marks(block: Block) -> Block:
    """`[Pg 12]`, which stands in the middle of sentences."""
    text = _PAGE_MARK.sub(lambda mark: mark[1] or mark[2], block.text)
    return replace(block, text=text.strip())


def _without_pages(blocks: Sequence[Block]) -> Iterator[Block]:
    """Numbers alone that count up, of which one at least parts a sentence: chapters do not."""
    found = {
        index: int(page[1])
        for index, block in enumerate(blocks)
        if (page := _PAGE.fullmatch(block.text))
    }
    values = list(found.values())
    counts_up = len(values) >= _FEWEST and values == sorted(set(values))
    if not (counts_up and any(_parts_a_sentence(blocks, index) for index in found)):
        found = {}
    for index, block in enumerate(blocks):
        if index not in found:
            yield block


def _parts_a_sentence(blocks: Sequence[Block], index: int) -> bool:
    if not 0 < index < len(blocks) - 1:
        return False
    before, after = blocks[index - 1], blocks[index + 1]
    ended = before.heading or _SENTENCE_END.search(before.text)
    return not ended and after.text[0].islower()


def _without_heads(blocks: Sequence[Block], title: str) -> Iterator[Block]:
    """The book's title or a chapter's, with or without a page, wherever it comes again."""
    names = {_plain(title), *(_plain(block.heading) for block in blocks)} - {""}
    plain = [_plain(chapters.without_page(block.text)) for block in blocks]
    times = Counter(
        name
        for name, block in zip(plain, blocks, strict=True)
        if name in names and not block.heading and len(block.text) <= chapters.LONGEST
    )
    for name, block in zip(plain, blocks, strict=True):
        if block.heading or times[name] < _FEWEST or len(block.text) > chapters.LONGEST:
            yield block


def _without_lists(blocks: Sequence[Block]) -> Iterator[Block]:
    """Contents and lists of illustrations: their name, and the entries under it."""
    headings = {block.heading for block in blocks}
    # 'Chapter 1: The Lamp' may be 'The Lamp' there.
    titles = {_plain(part) for one in headings for part in (one, one.partition(":")[2])} - {""}
    index = 0
    while index < len(blocks):
        end = _list_end(blocks, index, titles) if _opens_list(blocks[index]) else index
        if end > index:
            index = end
        else:
            yield blocks[index]
            index += 1


def _opens_list(block: Block) -> bool:
    return chapters.is_list_name(block.text.split("\n", 1)[0])


def _list_end(blocks: Sequence[Block], start: int, titles: set[str]) -> int:
    """The first block after a list; `start` where what is there is none."""
    name, *lines = blocks[start].text.split("\n")
    of_pictures = not chapters.is_contents(name)
    end, entries = start + 1, len(lines)
    if not all(_is_entry(line, titles) or _is_short(line) for line in lines):
        return start
    for index in range(start + 1, len(blocks)):
        block = blocks[index]
        lines = block.text.split("\n")
        if block.heading or _opens_list(block) or not all(map(_is_short, lines)):
            break
        told = sum(_is_entry(line, titles) for line in lines)
        if of_pictures or 2 * told > len(lines) or (index == start + 1 and len(lines) >= _FEWEST):
            end, entries = index + 1, entries + len(lines)
    return end if entries else start


def _is_entry(line: str, titles: set[str]) -> bool:
    """Whether a line of contents tells by itself that it is one."""
    bare = chapters.without_page(line)
    return (
        bare != line
        or _LABEL.fullmatch(line) is not None
        or _plain(bare) in titles
        or chapters.is_chapter_line(bare)
        or chapters.numeral_line(bare) is not None
    )


def _is_short(line: str) -> bool:
    """Whether a line may be of contents: no sentence, or one that a page follows."""
    if len(line) > _LONGEST_ENTRY:
        return False
    return chapters.without_page(line) != line or not line.endswith((".", "!", "?", "…", ":"))


def _without_notes(blocks: Sequence[Block]) -> Iterator[Block]:
    """What the makers of the file tell of their work, at its end."""
    left = sum(len(block.text) for block in blocks)
    for block in blocks:
        if left <= _NOTES_AT_END and _MAKERS_NOTE.match(block.text):
            return
        left -= len(block.text)
        yield block


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
