"""What one call reads: runs of whole chunks of one section, and the sentences before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from fabula.model import Chunk
from fabula.sentences import sentences

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
