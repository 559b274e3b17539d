"""Join stanzas that were typed with a paragraph for each line, as usual in word processors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.load.blocks import Block
from fabula.load.chapters import is_chapter_line, numeral_line
from fabula.load.clean import lines
from fabula.load.locators import without_marks
from fabula.text.speakers import is_speaker

EMPTY = "\ufdd4"
"""A non-character that marks an empty paragraph, where a stanza ends."""
_MAX_LINE_CHARACTERS = 70
_MIN_LINES = 3
SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*$")


def join_stanzas(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the blocks without empty ones; short ones in a row, not sentences, become a stanza.

    In a play, each speech becomes a stanza with its speaker.
    """
    joined: list[Block] = []
    run: list[str] = []
    for block in (*blocks, Block(EMPTY)):
        text = lines(block.text.replace(EMPTY, ""))
        printed = without_marks(text)
        is_line = text and not block.heading and _is_line(printed)
        if not is_line or is_speaker(printed):
            joined += _stanza(run)
            run = []
        if is_line:
            run.append(text)
        elif text:
            joined.append(Block(text, block.heading.replace(EMPTY, ""), block.level))
    return tuple(joined)


def _stanza(run: Sequence[str]) -> list[Block]:
    unfinished = sum(not SENTENCE_END.search(without_marks(line)) for line in run)
    if len(run) < _MIN_LINES or 2 * unfinished < len(run):
        return [Block(line) for line in run]
    return [Block("\n".join(run))]


def _is_line(text: str) -> bool:
    """Whether a paragraph may be a line of verse, and is not the heading of a chapter."""
    if len(text) > _MAX_LINE_CHARACTERS or "\n" in text or text.startswith("["):
        return False
    return not (is_chapter_line(text) or numeral_line(text))
