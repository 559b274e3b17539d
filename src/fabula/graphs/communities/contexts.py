"""The context that a report is written from: members, claims and relations, within a token budget.

Where they do not fit, reports on the communities inside replace their members and relations, the
largest first (Edge et al. 2024, arXiv 2404.16130, section 3.1.4). Microsoft's published code never
gets that far: it cuts contexts to the limit before it tests whether they fit, shows one relation
for each entity, and no claims.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fabula.graphs.communities.values import (
    Claim,
    Community,
    CommunityReport,
    Member,
    MemberNetwork,
    MemberRelation,
)
from fabula.models.prompts import escape_marks
from fabula.models.replies import shorten
from fabula.text import tokens

MAX_ROW_SHARE = 8
"""A row may take one eighth of the budget, so that a relation and both its ends always fit."""
NUMBER_TOKENS = 6
"""About how many tokens a row has besides its text: its number and the line break."""
HEADING_TOKENS = 40
"""More than all headings together have."""


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A numbered line of a context."""

    text: str
    tokens: int
    cites: tuple[str, ...]
    """The ids of the nodes that it shows."""
    chunks: tuple[str, ...]
    """The ids of the chunks that it rests on."""
    is_general: bool = False
    """Whether those chunks are about much else, too, as the chunks of an entity are."""


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What a model reads about a community; its rows are numbered from 1, in this order."""

    text: str
    rows: tuple[ContextRow, ...]

    def resolve(self, report: CommunityReport, network: MemberNetwork) -> CommunityReport:
        """Return the report with the nodes and chunks that its findings rest on.

        Args:
            report: A report whose findings refer to rows by their numbers, all of which exist.
            network: The network that the context was made from.
        """
        findings = []
        for finding in report.findings:
            rows = [self.rows[number - 1] for number in finding.refs]
            cites = dict.fromkeys(id for row in rows for id in row.cites)
            chunks = _rank_chunks(rows, network)
            findings.append(replace(finding, cites=tuple(cites), chunks=chunks))
        return replace(report, findings=tuple(findings))


def _rank_chunks(rows: Sequence[ContextRow], network: MemberNetwork) -> tuple[str, ...]:
    """Return the chunks of rows, those of most rows first."""
    # A protagonist is in most chunks of a book, and what happens between two people in few.
    particular = [row for row in rows if not row.is_general]
    counts = Counter(id for row in particular or rows for id in set(row.chunks))
    return tuple(sorted(counts, key=lambda id: (-counts[id], network.places[id].order)))


@dataclass(frozen=True)
class ContextRenderer:
    """Makes contexts of at most `limit` tokens out of one network."""

    network: MemberNetwork
    limit: int

    def render(
        self,
        community: Community,
        children: Sequence[Community] = (),
        reports: Mapping[str, CommunityReport] = {},
    ) -> ReportContext:
        """Return the context of a community, as much of it as fits.

        Where it does not fit, the child with the longest rows is replaced by its report, then the
        next one, until it does. If all children are replaced and it is still too long, the reports
        come first and the remaining rows fill what is left.

        Args:
            community: The community to report on.
            children: The communities that it was divided into.
            reports: Reports on the children, by their ids; a child without one is not replaced.
        """
        budget = self.limit - HEADING_TOKENS
        relations = self._ranked_relations(community.members)
        if self._count_tokens(community.members, relations) <= budget:
            return self._make_context([], self._fill(relations, community.members, budget))
        rows = {
            child.id: report_rows(reports[child.id]) for child in children if child.id in reports
        }
        sizes = {
            child.id: self._count_tokens(child.members, self._ranked_relations(child.members))
            for child in children
        }
        replaced: list[Community] = []
        remaining, members = relations, community.members
        by_size = sorted(children, key=lambda child: (-sizes[child.id], min(child.members)))
        for child in (child for child in by_size if child.id in rows):
            replaced.append(child)
            remaining = [
                relation
                for relation in remaining
                if not child.members.issuperset((relation.source, relation.target))
            ]
            members -= child.members
            report_tokens = sum(row.tokens for done in replaced for row in rows[done.id])
            if report_tokens + self._count_tokens(members, remaining) <= budget:
                break
        report_lists: list[list[ContextRow]] = []
        for child in replaced:
            length = sum(row.tokens for row in rows[child.id])
            if length > budget:
                break
            report_lists.append(rows[child.id])
            budget -= length
        return self._make_context(report_lists, self._fill(remaining, members, budget))

    def _ranked_relations(self, members: Iterable[str]) -> list[MemberRelation]:
        """Return the relations inside a group, by the degrees of their ends inside it."""
        relations = self.network.relations_within(members)
        degrees = Counter(
            end for relation in relations for end in (relation.source, relation.target)
        )
        return sorted(
            relations,
            key=lambda relation: (
                -degrees[relation.source] - degrees[relation.target],
                relation.id,
            ),
        )

    def _count_tokens(self, members: Iterable[str], relations: Iterable[MemberRelation]) -> int:
        """Count the tokens of all rows: members, the claims about them, and relations."""
        inside = set(members)
        rows = [self._member_rows[member] for member in inside]
        rows += [self._claim_rows[claim.id] for claim in self._claims_about(inside)]
        rows += [self._relation_rows[relation.id] for relation in relations]
        return sum(row.tokens for row in rows)

    def _fill(
        self, relations: Sequence[MemberRelation], members: Iterable[str], budget: int
    ) -> tuple[list[ContextRow], list[ContextRow], list[ContextRow]]:
        """Return rows of members, claims and relations: relation by relation while they fit."""
        inside = set(members)
        member_rows: dict[str, ContextRow] = {}
        claim_rows: dict[str, ContextRow] = {}
        relation_rows: list[ContextRow] = []
        for ends, relation in self._in_turn(relations, inside):
            new = {
                end: self._member_rows[end]
                for end in ends
                if end in inside and end not in member_rows
            }
            relation_row = [self._relation_rows[relation.id]] if relation else []
            needed = sum(row.tokens for row in (*new.values(), *relation_row))
            if needed > budget:
                break
            budget -= needed
            member_rows |= new
            relation_rows += relation_row
            # The ends of a relation bring as many claims about them as there is room for.
            for claim in self._claims_about(new):
                row = self._claim_rows[claim.id]
                if claim.id not in claim_rows and row.tokens <= budget:
                    budget -= row.tokens
                    claim_rows[claim.id] = row
        return [*member_rows.values()], [*claim_rows.values()], relation_rows

    def _in_turn(
        self, relations: Sequence[MemberRelation], inside: set[str]
    ) -> Iterator[tuple[Sequence[str], MemberRelation | None]]:
        """Yield relations with their ends, and then the members that none of them has."""
        for relation in relations:
            yield (relation.source, relation.target), relation
        related = {end for relation in relations for end in (relation.source, relation.target)}
        for member in sorted(inside - related):
            yield (member,), None

    def _make_context(
        self,
        reports: Sequence[Sequence[ContextRow]],
        elements: tuple[list[ContextRow], list[ContextRow], list[ContextRow]],
    ) -> ReportContext:
        member_rows, claim_rows, relation_rows = elements
        sections = (
            ("Groups within", [row for rows in reports for row in rows]),
            ("Entities", member_rows),
            ("Claims", claim_rows),
            ("Relations", relation_rows),
        )
        numbered: list[ContextRow] = []
        lines: list[str] = []
        for heading, rows in sections:
            if rows:
                lines += ["", f"{heading}:"]
            for row in rows:
                numbered.append(row)
                lines.append(f"[{len(numbered)}] {escape_marks(row.text)}")
        return ReportContext("\n".join(lines).strip(), tuple(numbered))

    def _claims_about(self, members: Iterable[str]) -> list[Claim]:
        """Return the claims about any of some members, in text order."""
        claims = {
            claim.id: claim
            for member in members
            for claim in self._claims_by_member.get(member, ())
        }
        places = self.network.places
        return sorted(claims.values(), key=lambda claim: (places[claim.chunk].order, claim.id))

    @cached_property
    def _claims_by_member(self) -> Mapping[str, Sequence[Claim]]:
        claims: dict[str, list[Claim]] = defaultdict(list)
        for claim in self.network.claims:
            for member in dict.fromkeys((*claim.subjects, *claim.objects)):
                claims[member].append(claim)
        return claims

    @cached_property
    def _member_rows(self) -> Mapping[str, ContextRow]:
        return {
            id: self._row(_member_text(member), member.entity_ids, member.chunks, is_general=True)
            for id, member in self.network.members.items()
        }

    @cached_property
    def _relation_rows(self) -> Mapping[str, ContextRow]:
        members = self.network.members
        return {
            id: self._row(_relation_text(relation, members), relation.relation_ids, relation.chunks)
            for id, relation in self.network.relations.items()
        }

    @cached_property
    def _claim_rows(self) -> Mapping[str, ContextRow]:
        return {
            claim.id: self._row(_claim_text(claim), (claim.id,), (claim.chunk,))
            for claim in self.network.claims
        }

    def _row(
        self, text: str, cites: tuple[str, ...], chunks: tuple[str, ...], is_general: bool = False
    ) -> ContextRow:
        limit = max(1, self.limit // MAX_ROW_SHARE - NUMBER_TOKENS)
        line = shorten(" ".join(text.split()), limit)
        return ContextRow(line, tokens.count(line) + NUMBER_TOKENS, cites, chunks, is_general)


def report_rows(report: CommunityReport) -> list[ContextRow]:
    """Return a report as rows of its parent's context, one for each finding."""
    rows = []
    for finding in report.findings:
        line = " ".join(f"{report.title}: {finding.summary} {finding.explanation}".split())
        rows.append(
            ContextRow(line, tokens.count(line) + NUMBER_TOKENS, finding.cites, finding.chunks)
        )
    return rows


def _member_text(member: Member) -> str:
    return f"{member.name} ({member.type}): {member.text}"


def _relation_text(relation: MemberRelation, members: Mapping[str, Member]) -> str:
    return f"{members[relation.source].name} – {members[relation.target].name}: {relation.text}"


def _claim_text(claim: Claim) -> str:
    topic = f"{claim.speaker or 'The text'} of {claim.subject}"
    if claim.object:
        topic = f"{topic} and {claim.object}"
    when = " to ".join(dict.fromkeys(filter(None, (claim.since, claim.until))))
    label = ", ".join(filter(None, (claim.type, claim.status, when)))
    return f"{topic} ({label}): {claim.text}"
