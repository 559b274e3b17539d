"""Read the communities of a network, level by level, and their reports."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from fabula.graph import Edge, Node
from fabula.graphs.communities.labels import (
    COMMUNITY,
    HAS_MEMBER,
    PARENT_COMMUNITY,
    REPORT,
    REPORTS,
)

HUES = 7
GREY = 7
"""The hue of communities for which no colour is left."""


@dataclass(frozen=True, slots=True)
class DrawnFinding:
    """One finding of a report; `chunks` are the numbers of the chunks that it cites."""

    summary: str
    explanation: str
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DrawnCommunity:
    """A community of figures.

    A community that isn't divided further is shown on the finer levels too. So `numbers` and `hues`
    have one value for each level on which it is shown, from its own level on.
    """

    level: int
    numbers: tuple[int, ...]
    """The number, from 1, that stands beside its members' names."""
    hues: tuple[int, ...]
    parent: int
    """A position in the list of all communities, or -1."""
    title: str
    size: int
    """How many members it has, whether they are drawn or not."""
    members: tuple[int, ...]
    """Positions of its drawn members in the list of figures."""
    importance: float | None = None
    """The report's rating; None without a report."""
    summary: str = ""
    findings: tuple[DrawnFinding, ...] = ()
    rank: int = 0
    """Its rank, from 1, among what a question found, or 0."""


def read_communities(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    figures: Sequence[str],
    names: Sequence[str],
    chunks: Mapping[str, int],
    hits: Sequence[str] = (),
) -> tuple[DrawnCommunity, ...]:
    """Return a document's communities, the coarsest level first, and the largest first in each.

    Args:
        nodes: The nodes of the graph of communities.
        edges: Its edges.
        figures: Ids of the figures that are drawn, most mentioned first.
        names: Their names, in the same order.
        chunks: Numbers of the chunks, by id.
        hits: Ids of what a question found, best first.
    """
    rows = {id: row for row, id in enumerate(figures)}
    members: dict[str, set[int]] = defaultdict(set)
    parents: dict[str, str] = {}
    reports: dict[str, Node] = {}
    report_nodes = {node.id: node for node in nodes if node.label == REPORT}
    for edge in edges:
        if edge.type == HAS_MEMBER and edge.end in rows:
            members[edge.start].add(rows[edge.end])
        elif edge.type == PARENT_COMMUNITY:
            parents[edge.start] = edge.end
        elif edge.type == REPORTS and edge.start in report_nodes:
            reports[edge.end] = report_nodes[edge.start]
    ranks = {id: rank for rank, id in enumerate(hits, start=1)}
    groups = [node for node in nodes if node.label == COMMUNITY]
    groups.sort(key=lambda node: (node.properties["level"], -node.properties["chunks"], node.id))
    places = {node.id: place for place, node in enumerate(groups)}
    divided = set(parents.values())
    divisions = _divide_by_level(
        [(node.properties["level"], node.id in divided) for node in groups]
    )
    for division in divisions:
        division.sort(key=lambda place: (-groups[place].properties["chunks"], groups[place].id))
    # Figures are sorted by mentions, so the smallest position is the best known member.
    chiefs = [names[min(members[node.id])] if members[node.id] else "" for node in groups]
    numbers: dict[int, list[int]] = defaultdict(list)
    hues: dict[int, list[int]] = defaultdict(list)
    division_hues = assign_hues([[chiefs[place] for place in division] for division in divisions])
    for division, colours in zip(divisions, division_hues, strict=True):
        for number, (place, hue) in enumerate(zip(division, colours, strict=True), start=1):
            numbers[place].append(number)
            hues[place].append(hue)
    communities = []
    for place, node in enumerate(groups):
        report = reports.get(node.id)
        properties = report.properties if report else {}
        communities.append(
            DrawnCommunity(
                level=node.properties["level"],
                numbers=tuple(numbers[place]),
                hues=tuple(hues[place]),
                parent=places.get(parents.get(node.id, ""), -1),
                title=properties.get("title") or node.properties["title"],
                size=node.properties["size"],
                members=tuple(sorted(members[node.id])),
                importance=properties.get("importance"),
                summary=properties.get("summary", ""),
                findings=_read_findings(properties.get("findings", "[]"), chunks),
                rank=ranks.get(report.id, 0) if report else 0,
            )
        )
    return tuple(communities)


def assign_hues(divisions: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return a hue for each community of each level, so that it stays the same on finer levels.

    A community is known by its chief, the member that is mentioned most. The first HUES communities
    of a level get a hue, the others are grey. Those whose chief had a hue on a coarser level choose
    first, then the others in their order: the hue of their chief's name, or the next free one.

    Args:
        divisions: The chiefs' names of the communities of each level; '' where none is drawn.
    """
    chosen: dict[str, int] = {}
    hues_by_division = []
    for chiefs in divisions:
        hues = [GREY] * len(chiefs)
        free = set(range(HUES))
        coloured = [place for place, name in enumerate(chiefs) if name][:HUES]
        for place in sorted(coloured, key=lambda place: (chiefs[place] not in chosen, place)):
            name = chiefs[place]
            first = chosen.get(name, _hash_hue(name))
            candidates = [(first + step) % HUES for step in range(HUES)]
            hues[place] = next((hue for hue in candidates if hue in free), GREY)
            free.discard(hues[place])
            if hues[place] != GREY:
                chosen.setdefault(name, hues[place])
        hues_by_division.append(hues)
    return hues_by_division


def find_groups(communities: Sequence[DrawnCommunity], level: int, figures: int) -> list[int]:
    """Return the position of each figure's community on a level, or on the deepest above it.

    Figures that belong to no community have -1.
    """
    groups = [-1] * figures
    for place, community in enumerate(communities):
        if community.level <= level:
            for row in community.members:
                groups[row] = place
    return groups


def cited_chunks(communities: Collection[DrawnCommunity]) -> set[int]:
    """Return the numbers of the chunks that the reports cite."""
    findings = (finding for community in communities for finding in community.findings)
    return {chunk for finding in findings for chunk in finding.chunks}


def _divide_by_level(communities: Sequence[tuple[int, bool]]) -> list[list[int]]:
    """Return which communities each level shows, given their levels and whether each is divided."""
    return [
        [
            place
            for place, (level, is_divided) in enumerate(communities)
            if level == shown_level or (level < shown_level and not is_divided)
        ]
        for shown_level in sorted({level for level, _ in communities})
    ]


def _hash_hue(name: str) -> int:
    digest = blake2b(name.casefold().encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % HUES


def _read_findings(findings: str, chunks: Mapping[str, int]) -> tuple[DrawnFinding, ...]:
    return tuple(
        DrawnFinding(
            finding["summary"],
            finding["explanation"],
            tuple(chunks[id] for id in finding["chunks"] if id in chunks),
        )
        for finding in json.loads(findings)
    )
