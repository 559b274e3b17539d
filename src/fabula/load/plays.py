"""Plays: a speaker's name that stands apart from the speech is put on its first line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fabula.load.chapters import is_chapter_line
from fabula.text.speakers import is_speaker

if TYPE_CHECKING:
    from fabula.load.blocks import Block

_TIMES = 3
_SHARE = 0.2
"""A play has two names at least, each so many times, and names are this share of its blocks."""


def join_speakers(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, those of a play with each speech under the name of who says it."""
    names = _names(blocks)
    speaker: Block | None = None
    for block in blocks:
        if speaker is not None and (block.heading or block.text in names):
            yield speaker
            speaker = None
        if block.text in names and not block.heading:
            speaker = block
        elif speaker is not None:
            yield replace(speaker, text=f"{speaker.text}\n{block.text}")
            speaker = None
        else:
            yield block
    if speaker is not None:
        yield speaker


def _names(blocks: Sequence[Block]) -> frozenset[str]:
    """Lines that stand alone again and again, as only speakers' names do; none if it is no play."""
    counts = Counter(
        block.text
        for block in blocks
        if not block.heading and is_speaker(block.text) and not is_chapter_line(block.text)
    )
    names = {name: count for name, count in counts.items() if count >= _TIMES}
    is_play = len(names) > 1 and sum(names.values()) >= _SHARE * len(blocks)
    # In a play those who speak once are speakers, too.
    return frozenset(counts) if is_play else frozenset()
