"""What one call reads: runs of whole chunks of one section, and the sentences before them.

Each graph that reads a text in windows asks a model of each in the same way: `ask_of_each`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from fabula.errors import BadReply
from fabula.graph import Gap
from fabula.graph.calls import Calls
from fabula.graph.gaps import GapLimit
from fabula.text.document import Chunk
from fabula.text.sentences import sentences

Out = TypeVar("Out")

BEFORE = 2
"""Sentences of the text before a window that are shown with it, to resolve pronouns."""
LEFT = 0.25
"""How much too long a window may be, as a share, for the last chunk of a section to go with it."""


@dataclass(frozen=True, slots=True)
class Window:
    """Chunks that are read together; `before` is how the text before them ends, '' for nothing."""

    chunks: tuple[Chunk, ...]
    before: str = ""

    @property
    def passages(self) -> str:
        """The chunks as prompts have them, numbered from 1, after what was before."""
        numbered = [f"[{number}] {one.text.strip()}" for number, one in enumerate(self.chunks, 1)]
        before = [f"[before] {self.before}"] if self.before else []
        return "\n\n".join([*before, *numbered])


def windows(chunks: Sequence[Chunk], limit: int, language: str) -> tuple[Window, ...]:
    """Runs of chunks of at most `limit` tokens together, in text order; they tile the text.

    None crosses from one section into another, and each takes as many chunks as fit; a chunk of
    more than `limit` tokens is a window of its own. Where one chunk is left of a section, the
    window before takes it, if that has several and becomes no more than a quarter too long: one
    short chunk is not worth a call. They do not overlap: what a chunk says is asked once.
    """
    found: list[Window] = []
    for _, section in groupby(chunks, key=lambda chunk: chunk.section):
        before = ""
        for run in _runs(section, limit):
            found.append(Window(run, before))
            before = " ".join(
                " ".join(one.split()) for one in sentences(run[-1].text, language)[-BEFORE:]
            )
    return tuple(found)


def ask_of_each(
    some: Sequence[Window],
    known: Collection[str],
    ask: Callable[[Window], Out],
    calls: Calls,
    *,
    priority: int,
    step: str,
    saves: int = 1,
) -> list[tuple[Window, Out | Gap | None]]:
    """What a model says of each window; None where it was asked about all of its chunks before.

    The ids of those are `known`, and each such window saves as many calls as `saves` says. One
    without a reply of use is a gap. Raises BadReply if there are too many.
    """
    new = [one for one in some if any(chunk.id not in known for chunk in one.chunks)]
    calls.save(step, saves * (len(some) - len(new)))

    def ask_or_miss(window: Window) -> Out | Gap:
        try:
            return ask(window)
        except BadReply as error:
            return window_gap(step, error, window, calls.work.gaps)

    replies = calls.each(priority, step, ask_or_miss, new)
    said = {one.chunks[0].id: reply for one, reply in zip(new, replies, strict=True)}
    return [(one, said.get(one.chunks[0].id)) for one in some]


def window_gap(step: str, error: BadReply, window: Window, limit: GapLimit) -> Gap:
    """What stands for what no model said of a window. Raises BadReply if there are too many."""
    ids = tuple(chunk.id for chunk in window.chunks)
    return Gap(step, limit.accept(error), ids, dict.fromkeys(ids, 1.0))


def _runs(chunks: Iterator[Chunk], limit: int) -> list[tuple[Chunk, ...]]:
    runs: list[tuple[Chunk, ...]] = []
    for chunk in chunks:
        if not runs or _tokens(runs[-1]) + chunk.tokens > limit:
            runs.append(())
        runs[-1] += (chunk,)
    if len(runs) > 1 and len(runs[-1]) == 1 < len(runs[-2]):
        *_, before, left = runs
        if _tokens(before) + _tokens(left) <= (1 + LEFT) * limit:
            runs[-2:] = [before + left]
    return runs


def _tokens(chunks: Sequence[Chunk]) -> int:
    return sum(chunk.tokens for chunk in chunks)
