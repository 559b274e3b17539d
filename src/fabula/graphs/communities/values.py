"""What communities are made of: members and bonds of a network, groups of them, reports, claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabula.text import tokens

MODEL, RULES = "model", "rules"
"""Who wrote a report."""


@dataclass(frozen=True, slots=True)
class Member:
    """An entity, as its community's report is told of it.

    `entities` are the ids of the nodes that it stands for: several, where entities of different
    documents are one. `chunks` are those that mention it, in text order, and `names` all its names,
    each with how often it is printed.
    """

    id: str
    name: str
    type: str
    text: str
    names: Mapping[str, int]
    chunks: tuple[str, ...]
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bond:
    """What is told of two members, `source` being the smaller of the two ids.

    `relations` are the ids of the nodes that it stands for.
    """

    id: str
    source: str
    target: str
    text: str
    weight: float
    chunks: tuple[str, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody states, promises, or accuses another of, in one chunk of a text.

    `speaker`, `subject` and `object` are names, '' for none; `status` is true, false or suspected.
    `quotes` are words of the text that say so. `subjects` and `objects` are the ids of the members
    that are meant, at most one each.
    """

    id: str
    chunk: str
    subject: str
    object: str
    type: str
    status: str
    since: str
    until: str
    speaker: str
    text: str
    quotes: tuple[str, ...]
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chunk is: its place among all, and what nodes that begin with it have of it."""

    order: int
    section: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Network:
    """Members and bonds, by their ids, the claims that are made, and the places of all chunks."""

    members: Mapping[str, Member]
    bonds: Mapping[str, Bond]
    places: Mapping[str, Place]
    claims: tuple[Claim, ...] = ()

    def in_order(self, chunks: Iterable[str]) -> tuple[str, ...]:
        """Ids of chunks in text order, none twice."""
        return tuple(sorted(set(chunks), key=lambda id: self.places[id].order))

    def within(self, members: Iterable[str]) -> list[Bond]:
        """The bonds between some members, by their ids."""
        own = set(members)
        some = {id for who in own for id in self._ties.get(who, ())}
        found = (self.bonds[id] for id in sorted(some))
        return [one for one in found if one.source in own and one.target in own]

    @cached_property
    def _ties(self) -> Mapping[str, Sequence[str]]:
        """The ids of each member's bonds."""
        found: dict[str, list[str]] = defaultdict(list)
        for id, bond in self.bonds.items():
            found[bond.source].append(id)
            found[bond.target].append(id)
        return found


@dataclass(frozen=True, slots=True)
class Community:
    """Members that are tied to each other more than to others, by their ids.

    `level` is 0 for one of the whole network, and one more for each division; `parent` is the id
    of the community that it was divided from, '' for none.
    """

    id: str
    level: int
    parent: str
    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReportFinding:
    """One thing that a report says.

    `refs` are the numbers of what it rests on in the context that the report was written from;
    `cites` the ids of those nodes, and `chunks` those that they rest on, most telling first.
    """

    summary: str
    explanation: str
    refs: tuple[int, ...] = ()
    cites: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """What is told of a community; `said` is the digest of what it was written from."""

    title: str
    summary: str
    findings: tuple[ReportFinding, ...]
    importance: float
    why: str
    by: str = MODEL
    said: str = ""

    @property
    def text(self) -> str:
        """All of it but the title, as prose."""
        told = [f"{one.summary} {one.explanation}".strip() for one in self.findings]
        return "\n".join(dict.fromkeys(filter(None, [self.summary, *told])))

    @property
    def tokens(self) -> int:
        """Of its text."""
        return tokens.count(self.text)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier build made: communities, reports by what they were written from, claims.

    `claims` are by chunks, `asked` the chunks that a model was asked about for them, whether it had
    something to say or not.
    """

    communities: tuple[Community, ...] = ()
    reports: Mapping[str, CommunityReport] = field(default_factory=dict)
    claims: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
