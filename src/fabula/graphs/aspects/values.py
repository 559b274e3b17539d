"""What the steps hand each other: aspects, and what one document's graph is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabula.text.document import Chunk, Vector, not_embedded

DETAILS, ASPECTS, SUMMARIES = "details", "aspects", "summaries"
"""The steps in which models are asked."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One narrative dimension: its name, what it is, and what a summary aimed at it tells."""

    name: str
    description: str
    focus: str


@dataclass(frozen=True, slots=True)
class Member:
    """A passage in a soft cluster: its id and its membership probability, 0 to 1."""

    id: str
    weight: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What one cluster says about one aspect; level 1 summarises chunks, level n summaries.

    `section`, `start` and `end` span the chunks below it: the text from the first to the last.
    """

    id: str
    aspect: str
    level: int
    section: str
    start: int
    end: int
    text: str
    tokens: int
    members: tuple[Member, ...]
    embedding: Vector = field(default_factory=not_embedded, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Detail:
    """Condensed key facts of one chunk, whose place it shares; `ordinal` counts from 0."""

    id: str
    chunk: str
    ordinal: int
    section: str
    start: int
    end: int
    text: str
    tokens: int
    embedding: Vector = field(default_factory=not_embedded, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Missing:
    """What no model gave in a `step`, and why.

    DETAILS: those of the chunk that is its one member. ASPECTS: which a cluster of chunks holds.
    SUMMARIES: that of a cluster, of its `aspect` and `level`.
    """

    step: str
    why: str
    members: tuple[Member, ...]
    aspect: str = ""
    level: int = 1


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier build made of a document, and the chunks it rested on; maybe nothing.

    `missing` is what it asked for in vain.

    `assigned` names the aspects that no cluster was found to hold and that were given to the
    cluster which fits them best; `changed` is how many chunks had changed since the clusters were
    made, and were fitted into them.
    """

    chunks: tuple[Chunk, ...] = ()
    summaries: tuple[Summary, ...] = ()
    details: tuple[Detail, ...] = ()
    missing: tuple[Missing, ...] = ()
    assigned: tuple[str, ...] = ()
    changed: int = 0
