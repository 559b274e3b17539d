"""The values of the graph of episodes: planned stretches of a text, and episodes."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.text.document import Chunk


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Consecutive chunks that one episode is to summarise; each is equal to itself alone.

    Attributes:
        chunks: All chunks of the stretch, in text order.
        parts: The stretches of the episodes that it summarises, in text order, which tile it; none
            if it summarises the chunks themselves.
        level: 1 for a stretch of chunks, otherwise one more than the highest level of its parts.
    """

    chunks: tuple[Chunk, ...]
    parts: tuple[Stretch, ...] = ()
    level: int = 1


@dataclass(frozen=True, slots=True)
class Episode:
    """The summary of one stretch of a text.

    Attributes:
        id: Its id.
        level: 1 for a summary of chunks; otherwise above the level of each of its members.
        members: The ids of the chunks or the episodes that it summarises, in text order.
        sources: The ids of the chunks below it, in text order.
        section: The section of these chunks, or the first and the last one of them.
        start: Where the first of these chunks starts in the document's text.
        end: Where the last of them ends.
        text: The summary.
        tokens: Its tokens.
        by: Who wrote it: MODEL, or RULES for extracts of the text.
    """

    id: str
    level: int
    members: tuple[str, ...]
    sources: tuple[str, ...]
    section: str
    start: int
    end: int
    text: str
    tokens: int
    by: str
