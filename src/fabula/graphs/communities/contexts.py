"""What a report is written from: a community's members, claims and bonds, within a budget.

Where they do not fit, reports of the communities within it stand for theirs, the biggest first
(Edge et al. 2024, arXiv 2404.16130, section 3.1.4). The published code never comes to it: it cuts
contexts to the limit before it looks whether they fit, and shows one bond a member and no claims.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fabula.graphs.communities.values import (
    Bond,
    Claim,
    Community,
    CommunityReport,
    Member,
    Network,
)
from fabula.models.replies import shortened
from fabula.text import tokens

MOST_OF_ALL = 8
"""One row may have an eighth of the room, so that a bond and its ends always fit."""
NUMBER_TOKENS = 6
"""About what a row has besides its text: its number and the end of its line."""
HEADING_TOKENS = 40
"""All headings together have fewer."""


@dataclass(frozen=True, slots=True)
class Row:
    """A numbered line of a context, and what it rests on.

    `is_general` where that tells of much else, too, as an entity's chunks do.
    """

    text: str
    tokens: int
    cites: tuple[str, ...]
    chunks: tuple[str, ...]
    is_general: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What a model reads of a community; `rows` are numbered from 1, in this order."""

    text: str
    rows: tuple[Row, ...]

    @property
    def said(self) -> str:
        """16 hex digits; what reads the same has the same."""
        written = self.text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(written, digest_size=8).hexdigest()

    def resolve(self, report: CommunityReport, network: Network) -> CommunityReport:
        """The report with what its findings rest on, by the numbers that they refer to."""
        found = []
        for one in report.findings:
            rows = [self.rows[number - 1] for number in one.refs]
            cites = dict.fromkeys(id for row in rows for id in row.cites)
            chunks = _most_telling(rows, network)
            found.append(replace(one, cites=tuple(cites), chunks=chunks))
        return replace(report, findings=tuple(found), said=self.said)


def _most_telling(rows: Sequence[Row], network: Network) -> tuple[str, ...]:
    """The chunks of bonds and claims, or where there are none of members: those of most rows first.

    A hero is in most chunks, and what ties him to another in few.
    """
    particular = [row for row in rows if not row.is_general]
    times = Counter(id for row in particular or rows for id in set(row.chunks))
    return tuple(sorted(times, key=lambda id: (-times[id], network.places[id].order)))


@dataclass(frozen=True)
class Renderer:
    """Makes contexts of at most `limit` tokens out of one network."""

    network: Network
    limit: int

    def render(
        self,
        community: Community,
        children: Sequence[Community] = (),
        reports: Mapping[str, CommunityReport] = {},
    ) -> Context:
        """All that is told of a community, as far as it fits.

        `children` are those that it was divided into, and `reports` what is told of them, by their
        ids: where it does not fit, the one with most to tell is replaced by its report, and then
        the next, until it does. Where all are replaced and it still does not, reports come first.
        """
        room = self.limit - HEADING_TOKENS
        bonds = self.bonds_of(community.members)
        if self._size(community.members, bonds) <= room:
            return self._context([], self._fill(bonds, community.members, room))
        told = {one.id: report_rows(reports[one.id]) for one in children if one.id in reports}
        sizes = {one.id: self._size(one.members, self.bonds_of(one.members)) for one in children}
        replaced: list[Community] = []
        left, members = bonds, community.members
        by_size = sorted(children, key=lambda one: (-sizes[one.id], min(one.members)))
        for child in (one for one in by_size if one.id in told):
            replaced.append(child)
            left = [
                bond for bond in left if not child.members.issuperset((bond.source, bond.target))
            ]
            members -= child.members
            written = sum(row.tokens for one in replaced for row in told[one.id])
            if written + self._size(members, left) <= room:
                break
        shown: list[list[Row]] = []
        for child in replaced:
            length = sum(row.tokens for row in told[child.id])
            if length > room:
                break
            shown.append(told[child.id])
            room -= length
        return self._context(shown, self._fill(left, members, room))

    def bonds_of(self, members: Iterable[str]) -> list[Bond]:
        """The bonds within a group, those of whom most is told first (by degree within it)."""
        within = self.network.within(members)
        degrees = Counter(who for bond in within for who in (bond.source, bond.target))
        return sorted(within, key=lambda one: (-degrees[one.source] - degrees[one.target], one.id))

    def _size(self, members: Iterable[str], bonds: Iterable[Bond]) -> int:
        """Tokens of all rows of these members, what is claimed of them, and these bonds."""
        own = set(members)
        rows = [self._members[who] for who in own]
        rows += [self._claims[claim.id] for claim in self._claims_of(own)]
        return sum(row.tokens for row in rows) + sum(self._bonds[one.id].tokens for one in bonds)

    def _fill(
        self, bonds: Sequence[Bond], members: Iterable[str], room: int
    ) -> tuple[list[Row], list[Row], list[Row]]:
        """Rows of members, claims and bonds: bond by bond, each with its ends, while they fit.

        After each pair of ends come the claims about them, as many as there is room for.
        """
        own = set(members)
        people: dict[str, Row] = {}
        claims: dict[str, Row] = {}
        ties: list[Row] = []
        for ends, bond in self._in_turn(bonds, own):
            new = {who: self._members[who] for who in ends if who in own and who not in people}
            tie = [self._bonds[bond.id]] if bond else []
            needed = sum(row.tokens for row in (*new.values(), *tie))
            if needed > room:
                break
            room -= needed
            people |= new
            ties += tie
            for one in self._claims_of(new):
                row = self._claims[one.id]
                if one.id not in claims and row.tokens <= room:
                    room -= row.tokens
                    claims[one.id] = row
        return [*people.values()], [*claims.values()], ties

    def _in_turn(
        self, bonds: Sequence[Bond], own: set[str]
    ) -> Iterator[tuple[Sequence[str], Bond | None]]:
        """Bonds with their ends, and then who has no bond that is left."""
        for bond in bonds:
            yield (bond.source, bond.target), bond
        tied = {who for bond in bonds for who in (bond.source, bond.target)}
        for who in sorted(own - tied):
            yield (who,), None

    def _context(
        self, reports: Sequence[Sequence[Row]], elements: tuple[list[Row], list[Row], list[Row]]
    ) -> Context:
        people, claims, ties = elements
        sections = (
            ("Groups within", [row for rows in reports for row in rows]),
            ("Entities", people),
            ("Claims", claims),
            ("Relations", ties),
        )
        rows: list[Row] = []
        lines: list[str] = []
        for heading, some in sections:
            if some:
                lines += ["", f"{heading}:"]
            for row in some:
                rows.append(row)
                lines.append(f"[{len(rows)}] {row.text}")
        return Context("\n".join(lines).strip(), tuple(rows))

    def _claims_of(self, members: Iterable[str]) -> list[Claim]:
        found = {claim.id: claim for who in members for claim in self._claimed.get(who, ())}
        places = self.network.places
        return sorted(found.values(), key=lambda one: (places[one.chunk].order, one.id))

    @cached_property
    def _claimed(self) -> Mapping[str, Sequence[Claim]]:
        found: dict[str, list[Claim]] = defaultdict(list)
        for claim in self.network.claims:
            for who in dict.fromkeys((*claim.subjects, *claim.objects)):
                found[who].append(claim)
        return found

    @cached_property
    def _members(self) -> Mapping[str, Row]:
        return {id: self._row(*_member(one)) for id, one in self.network.members.items()}

    @cached_property
    def _bonds(self) -> Mapping[str, Row]:
        members = self.network.members
        return {id: self._row(*_bond(one, members)) for id, one in self.network.bonds.items()}

    @cached_property
    def _claims(self) -> Mapping[str, Row]:
        return {one.id: self._row(*_claim(one)) for one in self.network.claims}

    def _row(
        self, text: str, cites: tuple[str, ...], chunks: tuple[str, ...], is_general: bool = False
    ) -> Row:
        told = shortened(" ".join(text.split()), max(1, self.limit // MOST_OF_ALL - NUMBER_TOKENS))
        return Row(told, tokens.count(told) + NUMBER_TOKENS, cites, chunks, is_general)


def report_rows(report: CommunityReport) -> list[Row]:
    """A report as rows of another's context, a finding each, which rest on what it rests on."""
    rows = []
    for one in report.findings:
        said = " ".join(f"{report.title}: {one.summary} {one.explanation}".split())
        rows.append(Row(said, tokens.count(said) + NUMBER_TOKENS, one.cites, one.chunks))
    return rows


def _member(one: Member) -> tuple[str, tuple[str, ...], tuple[str, ...], bool]:
    return f"{one.name} ({one.type}): {one.text}", one.entities, one.chunks, True


def _bond(one: Bond, members: Mapping[str, Member]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    ends = f"{members[one.source].name} – {members[one.target].name}"
    return f"{ends}: {one.text}", one.relations, one.chunks


def _claim(one: Claim) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    who = f"{one.speaker or 'The text'} of {one.subject}"
    about = f"{who} and {one.object}" if one.object else who
    when = " to ".join(dict.fromkeys(filter(None, (one.since, one.until))))
    told = ", ".join(filter(None, (one.type, one.status, when)))
    return f"{about} ({told}): {one.text}", (one.id,), (one.chunk,)
