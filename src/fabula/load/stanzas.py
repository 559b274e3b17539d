"""Stanzas that were typed with a paragraph for each line, as most are in word processors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.load.blocks import Block
from fabula.load.chapters import is_chapter_line, numeral_line
from fabula.load.clean import lines
from fabula.text.speakers import is_speaker

EMPTY = "\ufdd3"
"""Stands in a paragraph that has no text: where a stanza ends. It is no character of any text."""
_LONGEST = 70
_FEWEST = 3
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*$")


def join_stanzas(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks without empty ones; short ones in a row that are no sentences are one stanza.

    In a play each speech is one, with its speaker.
    """
    found: list[Block] = []
    run: list[str] = []
    for block in (*blocks, Block(EMPTY)):
        text = lines(block.text.replace(EMPTY, ""))
        is_line = text and not block.heading and _is_line(text)
        if not is_line or is_speaker(text):
            found += _stanza(run)
            run = []
        if is_line:
            run.append(text)
        elif text:
            found.append(Block(text, block.heading.replace(EMPTY, "")))
    return tuple(found)


def _stanza(run: Sequence[str]) -> list[Block]:
    goes_on = sum(not _SENTENCE_END.search(line) for line in run)
    if len(run) < _FEWEST or 2 * goes_on < len(run):
        return [Block(line) for line in run]
    return [Block("\n".join(run))]


def _is_line(text: str) -> bool:
    """Whether a paragraph may be a line of verse, and heads no chapter."""
    if len(text) > _LONGEST or "\n" in text or text.startswith("["):
        return False
    return not (is_chapter_line(text) or numeral_line(text))
