"""Join the name of a speaker in a play with the speech below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fabula.load.chapters import is_chapter_line
from fabula.load.locators import without_marks
from fabula.text.speakers import is_speaker

if TYPE_CHECKING:
    from fabula.load.blocks import Block

_MIN_SPEECHES = 3
_MIN_NAME_SHARE = 0.2
"""A play has at least two names, each at least `_MIN_SPEECHES` times, and this share of its blocks
are names."""


def join_speakers(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks; in a play, each speech is one block with the speaker's name above it."""
    names = _names(blocks)
    speaker: Block | None = None
    for block in blocks:
        is_name = without_marks(block.text) in names and not block.heading
        if speaker is not None and (block.heading or is_name):
            yield speaker
            speaker = None
        if is_name:
            speaker = block
        elif speaker is not None:
            yield replace(speaker, text=f"{speaker.text}\n{block.text}")
            speaker = None
        else:
            yield block
    if speaker is not None:
        yield speaker


def _names(blocks: Sequence[Block]) -> frozenset[str]:
    """The names of speakers: lines that are repeated as blocks; empty if the text is not a play."""
    texts = (without_marks(block.text) for block in blocks if not block.heading)
    counts = Counter(text for text in texts if is_speaker(text) and not is_chapter_line(text))
    names = {name: count for name, count in counts.items() if count >= _MIN_SPEECHES}
    is_play = len(names) > 1 and sum(names.values()) >= _MIN_NAME_SHARE * len(blocks)
    # In a play, those who speak only once are speakers, too.
    return frozenset(counts) if is_play else frozenset()
