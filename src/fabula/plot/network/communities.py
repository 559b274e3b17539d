"""Who belongs together in a network, level by level, with what is reported of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from fabula.graph import Edge, Node
from fabula.graphs.communities.border import (
    COMMUNITY,
    HAS_MEMBER,
    PARENT_COMMUNITY,
    REPORT,
    REPORTS,
)

HUES = 7
GREY = 7
"""The hue of those that no colour is left for."""


@dataclass(frozen=True, slots=True)
class DrawnFinding:
    """One thing that a report says; `chunks` are the numbers of those that it rests on."""

    summary: str
    explanation: str
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Community:
    """Figures that belong together. `members` are their numbers, of those that are drawn.

    One that isn't divided is shown on the finer levels, too, so `numbers`, which stand beside its
    members' names and count from 1, and `hues` are one for each level on which it is shown, from
    its own on. `parent` is a place in the list of all, or -1. `size` counts all members;
    `importance` is none where it has no report. `found` is its rank, from 1, among what a question
    found, or 0.
    """

    level: int
    numbers: tuple[int, ...]
    hues: tuple[int, ...]
    parent: int
    title: str
    size: int
    members: tuple[int, ...]
    importance: float | None = None
    summary: str = ""
    findings: tuple[DrawnFinding, ...] = ()
    found: int = 0


def read_communities(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    figures: Sequence[str],
    names: Sequence[str],
    chunks: Mapping[str, int],
    hits: Sequence[str] = (),
) -> tuple[Community, ...]:
    """The communities of a document, from the coarsest level down, those told of most first.

    `figures` are the ids of those that are drawn, most mentioned first, with their `names`;
    `chunks` are the numbers of chunks, `hits` ids of what a question found, best first.
    """
    rows = {id: row for row, id in enumerate(figures)}
    members: dict[str, set[int]] = defaultdict(set)
    parents: dict[str, str] = {}
    reports: dict[str, Node] = {}
    told = {node.id: node for node in nodes if node.label == REPORT}
    for edge in edges:
        if edge.type == HAS_MEMBER and edge.end in rows:
            members[edge.start].add(rows[edge.end])
        elif edge.type == PARENT_COMMUNITY:
            parents[edge.start] = edge.end
        elif edge.type == REPORTS and edge.start in told:
            reports[edge.end] = told[edge.start]
    ranks = {id: rank for rank, id in enumerate(hits, start=1)}
    own = [node for node in nodes if node.label == COMMUNITY]
    own.sort(key=lambda one: (one.properties["level"], -one.properties["chunks"], one.id))
    places = {one.id: place for place, one in enumerate(own)}
    divided = set(parents.values())
    shown = _shown([(one.properties["level"], one.id in divided) for one in own])
    for division in shown:
        division.sort(key=lambda place: (-own[place].properties["chunks"], own[place].id))
    chiefs = [names[min(members[one.id])] if members[one.id] else "" for one in own]
    numbers: dict[int, list[int]] = defaultdict(list)
    hues: dict[int, list[int]] = defaultdict(list)
    told_of = hues_of([[chiefs[place] for place in division] for division in shown])
    for division, colours in zip(shown, told_of, strict=True):
        for number, (place, hue) in enumerate(zip(division, colours, strict=True), start=1):
            numbers[place].append(number)
            hues[place].append(hue)
    found = []
    for place, one in enumerate(own):
        report = reports.get(one.id)
        said = report.properties if report else {}
        found.append(
            Community(
                level=one.properties["level"],
                numbers=tuple(numbers[place]),
                hues=tuple(hues[place]),
                parent=places.get(parents.get(one.id, ""), -1),
                title=said.get("title") or one.properties["title"],
                size=one.properties["size"],
                members=tuple(sorted(members[one.id])),
                importance=said.get("importance"),
                summary=said.get("summary", ""),
                findings=_findings(said.get("findings", "[]"), chunks),
                found=ranks.get(report.id, 0) if report else 0,
            )
        )
    return tuple(found)


def hues_of(divisions: Sequence[Sequence[str]]) -> list[list[int]]:
    """The hues of each division's communities, by whom each names most, its chief.

    The first ones have a hue, the others are grey. So that it is kept on the next level, those
    whose chief had one before come first, then the others in their order, each with the hue of its
    chief's name, or the next that is free.
    """
    known: dict[str, int] = {}
    found = []
    for chiefs in divisions:
        hues = [GREY] * len(chiefs)
        free = set(range(HUES))
        there = [place for place, name in enumerate(chiefs) if name][:HUES]
        for place in sorted(there, key=lambda place: (chiefs[place] not in known, place)):
            name = chiefs[place]
            first = known.get(name, _hue(name))
            turns = [(first + step) % HUES for step in range(HUES)]
            hues[place] = next((hue for hue in turns if hue in free), GREY)
            free.discard(hues[place])
            if hues[place] != GREY:
                known.setdefault(name, hues[place])
        found.append(hues)
    return found


def groups_of(communities: Sequence[Community], level: int, figures: int) -> list[int]:
    """The place of each figure's community: of a level, or of the deepest above it, or -1."""
    found = [-1] * figures
    for place, community in enumerate(communities):
        if community.level <= level:
            for row in community.members:
                found[row] = place
    return found


def cited(communities: Collection[Community]) -> set[int]:
    """The numbers of the chunks that reports rest on."""
    return {
        chunk
        for community in communities
        for finding in community.findings
        for chunk in finding.chunks
    }


def _shown(levels: Sequence[tuple[int, bool]]) -> list[list[int]]:
    """The places that each level shows, by the level of each and whether it is divided."""
    return [
        [
            place
            for place, (own, divided) in enumerate(levels)
            if own == level or (own < level and not divided)
        ]
        for level in sorted({own for own, _ in levels})
    ]


def _hue(name: str) -> int:
    digest = blake2b(name.casefold().encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % HUES


def _findings(told: str, chunks: Mapping[str, int]) -> tuple[DrawnFinding, ...]:
    return tuple(
        DrawnFinding(
            load["summary"],
            load["explanation"],
            tuple(chunks[id] for id in load["chunks"] if id in chunks),
        )
        for load in json.loads(told)
    )
