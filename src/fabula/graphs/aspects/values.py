"""The values of this graph: aspects, and what is made of one document."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabula.text.document import Chunk, Vector, empty_vector

DETAILS, ASPECTS, SUMMARIES = "details", "aspects", "summaries"
"""The steps that ask models; gaps carry these names."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """A narrative dimension, as plot or character."""

    name: str
    description: str
    focus: str
    """What a summary of this aspect should contain."""


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A passage in a soft cluster."""

    id: str
    weight: float
    """Its membership probability, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the passages of one cluster say about one aspect."""

    id: str
    aspect: str
    level: int
    """1 for a summary of chunks, n + 1 for a summary of summaries of level n and below."""
    section: str
    """The section of the chunks below it, or the first and last one of them."""
    start: int
    """Where the first chunk below it starts in the document's text."""
    end: int
    """Where the last chunk below it ends."""
    text: str
    tokens: int
    members: tuple[ClusterMember, ...]
    embedding: Vector = field(default_factory=empty_vector, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Detail:
    """Key facts of one chunk in few words; it has the chunk's place in the text."""

    id: str
    chunk: str
    ordinal: int
    """Its number among the details of the chunk, from 0."""
    section: str
    start: int
    end: int
    text: str
    tokens: int
    embedding: Vector = field(default_factory=empty_vector, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MissingReply:
    """A reply that a model did not give, or not in a form that can be used."""

    step: str
    """`DETAILS`: the details of the chunk that is the one member. `ASPECTS`: which aspects a
    cluster of chunks has. `SUMMARIES`: the summary of a cluster for `aspect` and `level`."""
    why: str
    members: tuple[ClusterMember, ...]
    aspect: str = ""
    level: int = 1


@dataclass(frozen=True, slots=True)
class StoredAspects:
    """The aspect graph of a document as the store has it; empty before the first build."""

    chunks: tuple[Chunk, ...] = ()
    """The chunks that it was made from."""
    summaries: tuple[Summary, ...] = ()
    details: tuple[Detail, ...] = ()
    missing: tuple[MissingReply, ...] = ()
    """What the build asked for and did not get."""
    assigned: tuple[str, ...] = ()
    """The names of aspects that no cluster was found to have, and that were given to the cluster
    nearest to their description."""
    changed: int = 0
    """How many chunks have changed since the clusters were made, and were fitted into them."""
