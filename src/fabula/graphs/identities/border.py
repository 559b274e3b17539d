"""Where entities of documents come in as nodes, and identities go out as nodes and edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fabula.graph import Edge, Node, Part
from fabula.graph.method import Known
from fabula.graphs.identities import ids
from fabula.graphs.identities.grouping import MODEL, NAMES, PERSON, Decision
from fabula.graphs.identities.likely import Named

ENTITIES, ENTITY = "entities", "Entity"
IDENTITY, SAME, APART = "Identity", "SAME", "APART"

Verdict = tuple[str, bool, str]
"""The digest of what a model was told of a pair, whether it said that they are one, and why."""


def read_entities(part: Part, book: str) -> Iterator[Named]:
    """The entities of a document that is called `book`."""
    for node in part.nodes:
        if node.label == ENTITY:
            told = node.properties
            yield Named(
                node.id,
                part.owner.document,
                book,
                *(told["name"], told["key"], tuple(told["names"]), told["type"], told["text"]),
                mentions=told["mentions"],
                source=node.sources[0],
            )


def verdicts_of(known: Known) -> dict[str, tuple[bool, str]]:
    """What a model said before of pairs, by the digests of what it was told of them."""
    found: dict[str, tuple[bool, str]] = {}
    for node in known.nodes:
        columns = (node.properties[name] for name in ("asked", "said_same", "said_why"))
        found |= {digest: (same, why) for digest, same, why in zip(*columns, strict=True)}
    return found


def members_of(known: Known) -> frozenset[str]:
    """The ids of the entities that were in an identity before."""
    return frozenset(id for node in known.nodes for id in node.properties["members"])


def parts_of(collection: str, some: Iterable[Named]) -> list[str]:
    """The ids of the parts that these are entities of."""
    return sorted({f"{collection}/{ENTITIES}/{one.document}" for one in some})


def nodes_and_edges(
    collection: str,
    groups: Sequence[Sequence[Named]],
    decisions: Sequence[Decision],
    said: Mapping[str, Sequence[Verdict]],
) -> tuple[list[Node], list[Edge]]:
    """An identity for each group of several entities, and each that was told from another.

    `said` is what a model said of pairs, whatever became of it, by the ids of their first.
    """
    place = {one.id: number for number, group in enumerate(groups) for one in group}
    decided: dict[int, list[Decision]] = defaultdict(list)
    for decision in decisions:
        decided[place[decision.one.id]].append(decision)
    apart = [one for one in decisions if place[one.one.id] != place[one.other.id]]
    told_apart = {id for one in apart for id in (one.one.id, one.other.id)}
    nodes: list[Node] = []
    edges: list[Edge] = []
    identity: dict[str, str] = {}
    for number, group in enumerate(groups):
        if len(group) < 2 and group[0].id not in told_apart:
            continue
        own = decided[number]
        id = ids.identity_id(collection, [one.id for one in group])
        identity |= dict.fromkeys((one.id for one in group), id)
        asked = [verdict for one in group for verdict in said.get(one.id, ())]
        nodes.append(_node(collection, id, group, own, asked))
        edges += _members(id, group, [one for one in own if one.same])
    pairs: dict[tuple[str, str], list[Decision]] = {}
    for one in apart:
        ends = sorted((identity[one.one.id], identity[one.other.id]))
        pairs.setdefault((ends[0], ends[1]), []).append(one)
    edges += [Edge(APART, *pair, _why(some)) for pair, some in pairs.items()]
    return sorted(nodes, key=lambda node: node.id), sorted(
        edges, key=lambda edge: (edge.start, edge.type, edge.end)
    )


def _node(
    collection: str,
    id: str,
    group: Sequence[Named],
    decisions: Sequence[Decision],
    asked: Sequence[Verdict],
) -> Node:
    by = {one.by for one in decisions if one.same}
    told: dict[str, Any] = {
        "name": group[0].name,
        "keys": list(dict.fromkeys(one.key for one in group)),
        "type": group[0].type,
        "members": [one.id for one in group],
        "documents": len({one.document for one in group}),
        "by": next((who for who in (PERSON, MODEL, NAMES) if who in by), ""),
        "why": ", ".join(dict.fromkeys(one.why for one in decisions if one.same)),
        "score": min((one.score for one in decisions if one.same), default=1.0),
        # Not on edges, which go with a document that is replaced.
        "of": parts_of(collection, group),
        "asked": [digest for digest, _, _ in asked],
        "said_same": [same for _, same, _ in asked],
        "said_why": [why for _, _, why in asked],
    }
    return Node(id, IDENTITY, told, tuple(dict.fromkeys(one.source for one in group)))


def _members(id: str, group: Sequence[Named], decisions: Sequence[Decision]) -> Iterator[Edge]:
    """Each with the decisions that brought it in; who is mentioned most was there first."""
    place = {one.id: number for number, one in enumerate(group)}
    brought: dict[str, list[Decision]] = {one.id: [] for one in group}
    for decision in decisions:
        brought[max(decision.one.id, decision.other.id, key=place.__getitem__)].append(decision)
    for one in group:
        yield Edge(SAME, id, one.id, _why(brought[one.id]))


def _why(decisions: Sequence[Decision]) -> Mapping[str, Any]:
    """Who decided first, and why."""
    return {
        name: value
        for one in decisions[:1]
        for name, value in (("by", one.by), ("why", one.why), ("score", one.score))
    }
