"""What one call reads: runs of whole chunks of one section, and the sentences before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from fabula.model import Chunk
from fabula.sentences import sentences

BEFORE = 2
"""Sentences of the text before a window that are shown with it, to resolve pronouns."""


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
    more than `limit` tokens is a window of its own. They do not overlap: what a chunk says is
    asked once.
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


def _runs(chunks: Iterator[Chunk], limit: int) -> Iterator[tuple[Chunk, ...]]:
    run: list[Chunk] = []
    for chunk in chunks:
        if run and sum(one.tokens for one in run) + chunk.tokens > limit:
            yield tuple(run)
            run = []
        run.append(chunk)
    if run:
        yield tuple(run)
