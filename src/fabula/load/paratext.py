"""Remove from the blocks of any reader what a printer or a library put around the author's text.

This is a library's header and licence, tables of contents and lists of illustrations, page numbers,
running heads, and notes of those who made the file. None of it is what the book says, but all of it
would be found by the words of questions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabula.load import chapters, gutenberg
from fabula.load.blocks import Block

_MAX_ENTRY_CHARACTERS = 150
"""The longest line of a table of contents; in old books they summarise the chapter."""
_MIN_COUNT = 3
"""The fewest lines of a list, page numbers of a series, and repetitions of a running head."""
_LABEL = re.compile(r"(?:chap(?:ter|\.)?s?\s*)?(?:page|pag\.|strona|seite|frontispiece)\.?", re.I)
_PAGE_MARK = re.compile(r"(\s?)[\[{](?:pg|page|p)\.? ?\d{1,4}[\]}](\s?)", re.IGNORECASE)
_PAGE = re.compile(r"[\[({–—-]*\s*(?:page\s+|p\.\s*)?(\d{1,4})\s*[\])}–—-]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’»)\]]*$")
_MAKERS_NOTE = re.compile(
    r"\W*(?:transcriber|redactor)(?:'s|’s|s'|s’)? (?:end)?notes?\b"
    r"|(?:end of )?(?:the )?project gutenberg",
    re.IGNORECASE,
)
_NOTES_AT_END_CHARACTERS = 6_000
"""The end of a text, where the makers of the file may describe their work."""


def remove_paratext(blocks: Sequence[Block], title: str) -> list[Block]:
    """Return the blocks of a text without paratext; a doubtful block stays."""
    body = remove_library_text(blocks)
    body = [block for block in map(_remove_page_marks, body) if block.text]
    body = list(_remove_page_numbers(body))
    body = list(_remove_running_heads(body, title))
    body = list(_remove_lists(body))
    return list(_remove_makers_notes(body))


def remove_library_text(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks between Project Gutenberg's header and its licence, if they are there."""
    remaining = total = sum(len(block.text) for block in blocks)
    body: list[Block] = []
    has_header = False
    for block in blocks:
        lines = block.text.split("\n")
        if total - remaining <= gutenberg.MAX_FOOTER_CHARACTERS and any(
            map(gutenberg.is_start, lines)
        ):
            has_header = True
            body = []
            lines = lines[1 + max(i for i, line in enumerate(lines) if gutenberg.is_start(line)) :]
        ends = [i for i, line in enumerate(lines) if gutenberg.is_end(line)]
        if ends and remaining <= gutenberg.MAX_FOOTER_CHARACTERS:
            body += _with_lines(block, lines[: ends[0]])
            break
        body += _with_lines(block, lines)
        remaining -= len(block.text)
    credits = body[: gutenberg.MAX_CREDIT_PARAGRAPHS] if has_header else []
    credit_indices = [
        index for index, block in enumerate(credits) if gutenberg.is_credit(block.text)
    ]
    return body[credit_indices[-1] + 1 :] if credit_indices else body


def _with_lines(block: Block, lines: Sequence[str]) -> list[Block]:
    """The block with only these lines; an empty list if none is left."""
    text = "\n".join(lines).strip()
    return [block if text == block.text else replace(block, text=text)] if text else []


def _remove_page_marks(block: Block) -> Block:
    """Remove marks like `[Pg 12]`, which may be in the middle of sentences."""
    text = _PAGE_MARK.sub(lambda mark: mark[1] or mark[2], block.text)
    return replace(block, text=text.strip())


def _remove_page_numbers(blocks: Sequence[Block]) -> Iterator[Block]:
    """Remove blocks that are numbers and count up, if one of them divides a sentence.

    Numbers of chapters never do.
    """
    numbers = {
        index: int(page[1])
        for index, block in enumerate(blocks)
        if (page := _PAGE.fullmatch(block.text))
    }
    values = list(numbers.values())
    counts_up = len(values) >= _MIN_COUNT and values == sorted(set(values))
    if not (counts_up and any(_divides_sentence(blocks, index) for index in numbers)):
        numbers = {}
    for index, block in enumerate(blocks):
        if index not in numbers:
            yield block


def _divides_sentence(blocks: Sequence[Block], index: int) -> bool:
    if not 0 < index < len(blocks) - 1:
        return False
    before, after = blocks[index - 1], blocks[index + 1]
    ended = before.heading or _SENTENCE_END.search(before.text)
    return not ended and after.text[0].islower()


def _remove_running_heads(blocks: Sequence[Block], title: str) -> Iterator[Block]:
    """Remove repetitions of the book's title or a chapter's, with or without a page number."""
    names = {_comparable(title), *(_comparable(block.heading) for block in blocks)} - {""}
    comparable = [_comparable(chapters.strip_page_number(block.text)) for block in blocks]
    counts = Counter(
        name
        for name, block in zip(comparable, blocks, strict=True)
        if name in names
        and not block.heading
        and len(block.text) <= chapters.MAX_HEADING_CHARACTERS
    )
    for name, block in zip(comparable, blocks, strict=True):
        if (
            block.heading
            or counts[name] < _MIN_COUNT
            or len(block.text) > chapters.MAX_HEADING_CHARACTERS
        ):
            yield block


def _remove_lists(blocks: Sequence[Block]) -> Iterator[Block]:
    """Remove tables of contents and lists of illustrations: their names and entries."""
    headings = {block.heading for block in blocks}
    # The heading 'Chapter 1: The Lamp' may be listed as 'The Lamp'.
    parts = (part for heading in headings for part in (heading, heading.partition(":")[2]))
    titles = {_comparable(part) for part in parts} - {""}
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
    """The first block after a list; `start` if there is none."""
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
        entry_count = sum(_is_entry(line, titles) for line in lines)
        if (
            of_pictures
            or 2 * entry_count > len(lines)
            or (index == start + 1 and len(lines) >= _MIN_COUNT)
        ):
            end, entries = index + 1, entries + len(lines)
    return end if entries else start


def _is_entry(line: str, titles: set[str]) -> bool:
    """Whether a line is recognisable alone as an entry of a table of contents."""
    bare = chapters.strip_page_number(line)
    return (
        bare != line
        or _LABEL.fullmatch(line) is not None
        or _comparable(bare) in titles
        or chapters.is_chapter_line(bare)
        or chapters.numeral_line(bare) is not None
    )


def _is_short(line: str) -> bool:
    """Whether a line may be an entry: not a sentence, or one with a page number."""
    if len(line) > _MAX_ENTRY_CHARACTERS:
        return False
    return chapters.strip_page_number(line) != line or not line.endswith((".", "!", "?", "…", ":"))


def _remove_makers_notes(blocks: Sequence[Block]) -> Iterator[Block]:
    """Remove the notes of the makers of the file at its end."""
    remaining = sum(len(block.text) for block in blocks)
    for block in blocks:
        if remaining <= _NOTES_AT_END_CHARACTERS and _MAKERS_NOTE.match(block.text):
            return
        remaining -= len(block.text)
        yield block


def _comparable(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
