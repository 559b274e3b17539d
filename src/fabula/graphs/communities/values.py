"""What communities are made of: members and bonds of a network, groups of them, reports, claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MODEL, RULES = "model", "rules"
"""Who wrote a report."""


@dataclass(frozen=True, slots=True)
class Member:
    """An entity, as its community's report is told of it.

    `entities` are the ids of the nodes that it stands for: several, where entities of different
    documents are one. `chunks` are those that mention it, in text order, and `forms` all its names.
    """

    id: str
    name: str
    type: str
    text: str
    chunks: tuple[str, ...]
    entities: tuple[str, ...]
    forms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bond:
    """What is told of two members, `source` being the smaller of the two ids.

    `nodes` are the ids of the relations that it stands for.
    """

    id: str
    source: str
    target: str
    text: str
    weight: float
    chunks: tuple[str, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody states, promises, or accuses another of, in one chunk of a text.

    `speaker`, `subject` and `object` are names as the text prints them, '' for none; `status` is
    true, false or suspected. `quotes` are the words of the text that say so.
    """

    chunk: str
    place: int
    subject: str
    object: str
    type: str
    status: str
    since: str
    until: str
    speaker: str
    text: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """Members and bonds, by their ids, and the claims about each member, by its id."""

    members: Mapping[str, Member]
    bonds: Mapping[str, Bond]
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Community:
    """Members that are tied to each other more than to others.

    `level` is 0 for one of the whole network, and one more for each division; `parent` is the id
    of the community that it was divided from, '' for none.
    """

    id: str
    level: int
    parent: str
    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a report says. `refs` are the numbers of what it rests on in the context."""

    summary: str
    explanation: str
    refs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What is told of a community, as it was read from a reply or made by rules."""

    title: str
    summary: str
    findings: tuple[Finding, ...]
    importance: float
    why: str
