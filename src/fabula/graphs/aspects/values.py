"""The values of this graph: aspects, and what is made of one document."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabula.text.document import Chunk, Vector, empty_vector

DETAILS, ASPECTS, SUMMARIES = "details", "aspects", "summaries"
"""The steps that ask models; gaps carry these names."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """A dimension of a kind of text, as plot or character of narratives."""

    name: str
    description: str
    focus: str
    """What a summary of this aspect should contain."""
    summariser: str = ""
    """The name of the entry point that summarises this aspect; '' for the build's own writer."""


@dataclass(frozen=True, slots=True)
class TextWords:
    """What prompts call the kind of text that an aspect set is for."""

    kind: str = "a text"
    """One such text with its article, as 'a narrative'."""
    kinds: str = "texts"
    """Such texts, as 'narrative texts'."""
    subject: str = "the subject"
    """What such a text tells or treats, with its article, as 'the story'."""
    example: str = "Anna: sells her mother's house in May, against her brother's wish"
    """A key fact of a passage in few words, as an example of its form."""


PLAIN_WORDS = TextWords()
"""The words for any text, of a set that gives none."""


@dataclass(frozen=True, slots=True)
class AspectSet:
    """The aspects of a kind of text, and the words for it."""

    aspects: tuple[Aspect, ...]
    words: TextWords = PLAIN_WORDS


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
    by: str = field(default="", compare=False)
    """MODEL, or RULES for an extract."""


@dataclass(frozen=True, slots=True)
class Detail:
    """Key facts of one chunk, or all of it, in few words; it has the chunk's place in the text."""

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
    by: str = field(default="", compare=False)
    """As of a summary."""


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
class Grown:
    """The trees of all aspects of a document, and what was found out on the way."""

    summaries: tuple[Summary, ...] = ()
    assigned: tuple[str, ...] = ()
    """The names of aspects that no cluster was found to have, and that were given to one."""
    changed: int = 0
    """How many chunks have changed since the clusters were made."""
    rounds: int = 0
    """How often the clusters were asked for aspects; 0 if there was nothing to ask."""
    missed: tuple[tuple[int, str], ...] = ()
    """The number of a round, from 1, and the name of an aspect that no cluster had after it."""


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
    rounds: int = 0
    """How often the clusters were asked for aspects."""
    missed: tuple[tuple[int, str], ...] = ()
    """The number of a round, from 1, and the name of an aspect that no cluster had after it."""
