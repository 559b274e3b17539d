"""The values of this graph: a network of members and relations, communities, reports, claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabula.text import tokens


@dataclass(frozen=True, slots=True)
class Member:
    """An entity as a node of the network, with what its community's report is written from."""

    id: str
    name: str
    type: str
    text: str
    """Its description."""
    names: Mapping[str, int]
    """Every name it is printed under, with the number of times."""
    chunks: tuple[str, ...]
    """The ids of the chunks that mention it, in text order."""
    entity_ids: tuple[str, ...]
    """The ids of the nodes it represents: several where entities of several documents are one."""


@dataclass(frozen=True, slots=True)
class MemberRelation:
    """A relation between two members; `source` is the smaller of their ids."""

    id: str
    source: str
    target: str
    text: str
    """What the text says of the two."""
    weight: float
    chunks: tuple[str, ...]
    relation_ids: tuple[str, ...]
    """The ids of the nodes it represents."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, promise or accusation that somebody makes in one chunk of a text."""

    id: str
    chunk: str
    subject: str
    """The name of whom it is about."""
    object: str
    """The name of whom else it concerns; '' for nobody."""
    type: str
    status: str
    """`true`, `false` or `suspected`."""
    since: str
    until: str
    speaker: str
    """The name of who makes it; '' for the narrator."""
    text: str
    quotes: tuple[str, ...]
    """Words of the text that make the claim."""
    subjects: tuple[str, ...] = ()
    """The id of the member that the subject is, or nothing."""
    objects: tuple[str, ...] = ()
    """The id of the member that the object is, or nothing."""


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Where a chunk is in its document, and in what order among all chunks of the network."""

    order: int
    section: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class MemberNetwork:
    """Members and the relations between them by their ids, claims, and the places of all chunks."""

    members: Mapping[str, Member]
    relations: Mapping[str, MemberRelation]
    places: Mapping[str, ChunkPlace]
    claims: tuple[Claim, ...] = ()

    def in_order(self, chunks: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of chunks in text order, each once."""
        return tuple(sorted(set(chunks), key=lambda id: self.places[id].order))

    def members_in_order(self) -> list[Member]:
        """Return the members in the order in which the text first mentions them."""

        def place(member: Member) -> tuple[int, str, str, str]:
            orders = [self.places[chunk].order for chunk in member.chunks if chunk in self.places]
            return min(orders, default=len(self.places)), member.name, member.type, member.id

        return sorted(self.members.values(), key=place)

    def relations_within(self, members: Iterable[str]) -> list[MemberRelation]:
        """Return the relations that have both ends among some members, by their ids."""
        inside = set(members)
        touching = {id for member in inside for id in self._relations_by_member.get(member, ())}
        relations = (self.relations[id] for id in sorted(touching))
        return [
            relation
            for relation in relations
            if relation.source in inside and relation.target in inside
        ]

    @cached_property
    def _relations_by_member(self) -> Mapping[str, Sequence[str]]:
        """The ids of each member's relations."""
        relations: dict[str, list[str]] = defaultdict(list)
        for id, relation in self.relations.items():
            relations[relation.source].append(id)
            relations[relation.target].append(id)
        return relations


@dataclass(frozen=True, slots=True)
class Community:
    """A set of members that are tied to each other more than to others."""

    id: str
    level: int
    """0 for a division of the whole network, and one more for each division of a community."""
    parent: str
    """The id of the community that it was divided from; '' at level 0."""
    members: frozenset[str]
    """The members' ids."""


@dataclass(frozen=True, slots=True)
class ReportFinding:
    """One thing that a report states."""

    summary: str
    explanation: str
    refs: tuple[int, ...] = ()
    """Numbers of the rows that it rests on, in the context that the report was written from."""
    cites: tuple[str, ...] = ()
    """The ids of the nodes that those rows show."""
    chunks: tuple[str, ...] = ()
    """The ids of the chunks that those nodes rest on, the strongest evidence first."""


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """A report on a community."""

    title: str
    summary: str
    findings: tuple[ReportFinding, ...]
    importance: float
    """From 0 to 10."""
    why: str
    """Why it is as important as that."""

    @property
    def text(self) -> str:
        """The whole report without its title, as prose."""
        lines = [f"{finding.summary} {finding.explanation}".strip() for finding in self.findings]
        return "\n".join(dict.fromkeys(filter(None, [self.summary, *lines])))

    @property
    def tokens(self) -> int:
        """The number of tokens of its text."""
        return tokens.count(self.text)
