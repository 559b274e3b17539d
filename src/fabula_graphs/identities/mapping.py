"""Maps entities of documents from nodes, and identities to nodes and edges and back.

The names of properties are kept in Neo4j.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fabula.graph import Edge, Node, Part
from fabula.graph.method import Known
from fabula.text.ids import digest
from fabula_graphs.identities.candidates import ComparedEntity
from fabula_graphs.identities.grouping import MODEL, NAMES, PERSON, IdentityDecision
from fabula_graphs.identities.labels import APART, ENTITIES, ENTITY, IDENTITY, SAME

Verdict = tuple[str, bool, str]
"""The digest of the texts of a pair, whether a model took them for one, and why."""


def read_entities(part: Part, book: str) -> Iterator[ComparedEntity]:
    """Read the entities of a document whose title is `book`."""
    for node in part.nodes:
        if node.label == ENTITY:
            properties = node.properties
            yield ComparedEntity(
                id=node.id,
                document=part.owner.document,
                book=book,
                name=properties["name"],
                key=properties["key"],
                names=tuple(properties["names"]),
                type=properties["type"],
                text=properties["text"],
                mentions=properties["mentions"],
                source=node.sources[0],
            )


def read_verdicts(known: Known) -> dict[str, tuple[bool, str]]:
    """Read a model's verdicts of the previous build, by the digests of the pairs."""
    verdicts: dict[str, tuple[bool, str]] = {}
    for node in known.nodes:
        columns = (node.properties[name] for name in ("asked", "said_same", "said_why"))
        verdicts |= {digest: (same, why) for digest, same, why in zip(*columns, strict=True)}
    return verdicts


def read_members(known: Known) -> frozenset[str]:
    """Read the ids of the entities that had an identity in the previous build."""
    return frozenset(id for node in known.nodes for id in node.properties["members"])


def part_ids(collection: str, entities: Iterable[ComparedEntity]) -> list[str]:
    """Return the ids of the parts that these entities are in."""
    return sorted({f"{collection}/{ENTITIES}/{entity.document}" for entity in entities})


def nodes_and_edges(
    collection: str,
    groups: Sequence[Sequence[ComparedEntity]],
    decisions: Sequence[IdentityDecision],
    verdicts: Mapping[str, Sequence[Verdict]],
) -> tuple[list[Node], list[Edge]]:
    """Make an identity of each group of several entities, and of each that was told from another.

    Args:
        collection: The name of the collection.
        groups: All entities, in groups of those that are one.
        decisions: The decisions that led to the groups.
        verdicts: All that a model said of pairs, whether it was followed or not, by the ids of
            their first entities.
    """
    group_of = {entity.id: number for number, group in enumerate(groups) for entity in group}
    decisions_of: dict[int, list[IdentityDecision]] = defaultdict(list)
    for decision in decisions:
        decisions_of[group_of[decision.first.id]].append(decision)
    apart = [
        decision
        for decision in decisions
        if group_of[decision.first.id] != group_of[decision.second.id]
    ]
    told_apart = {id for decision in apart for id in (decision.first.id, decision.second.id)}
    nodes: list[Node] = []
    edges: list[Edge] = []
    identity_of: dict[str, str] = {}
    for number, group in enumerate(groups):
        if len(group) < 2 and group[0].id not in told_apart:
            continue
        id = digest(10, "identity", collection, *sorted(entity.id for entity in group))
        identity_of |= dict.fromkeys((entity.id for entity in group), id)
        joining = [decision for decision in decisions_of[number] if decision.same]
        of_model = [verdict for entity in group for verdict in verdicts.get(entity.id, ())]
        nodes.append(_node(collection, id, group, joining, of_model))
        edges += _member_edges(id, group, joining)
    pairs: dict[tuple[str, str], list[IdentityDecision]] = {}
    for decision in apart:
        first, second = sorted((identity_of[decision.first.id], identity_of[decision.second.id]))
        pairs.setdefault((first, second), []).append(decision)
    edges += [Edge(APART, *pair, _reason(of_pair)) for pair, of_pair in pairs.items()]
    return sorted(nodes, key=lambda node: node.id), sorted(
        edges, key=lambda edge: (edge.start, edge.type, edge.end)
    )


def _node(
    collection: str,
    id: str,
    group: Sequence[ComparedEntity],
    decisions: Sequence[IdentityDecision],
    verdicts: Sequence[Verdict],
) -> Node:
    """The identity of a group, which `decisions` joined."""
    by = {decision.by for decision in decisions}
    properties: dict[str, Any] = {
        "name": group[0].name,
        "keys": list(dict.fromkeys(entity.key for entity in group)),
        "type": group[0].type,
        "members": [entity.id for entity in group],
        "documents": len({entity.document for entity in group}),
        "by": next((who for who in (PERSON, MODEL, NAMES) if who in by), ""),
        "why": ", ".join(dict.fromkeys(decision.why for decision in decisions)),
        "score": min((decision.score for decision in decisions), default=1.0),
        # Here and not on edges, which are removed with a document that is replaced.
        "of": part_ids(collection, group),
        "asked": [digest for digest, _, _ in verdicts],
        "said_same": [same for _, same, _ in verdicts],
        "said_why": [why for _, _, why in verdicts],
    }
    sources = tuple(dict.fromkeys(entity.source for entity in group))
    return Node(id, IDENTITY, properties, sources)


def _member_edges(
    id: str, group: Sequence[ComparedEntity], decisions: Sequence[IdentityDecision]
) -> Iterator[Edge]:
    """An edge to each member, with the first decision that brought it to those before it."""
    position = {entity.id: number for number, entity in enumerate(group)}
    decisions_of: dict[str, list[IdentityDecision]] = {entity.id: [] for entity in group}
    for decision in decisions:
        later = max(decision.first.id, decision.second.id, key=position.__getitem__)
        decisions_of[later].append(decision)
    for entity in group:
        yield Edge(SAME, id, entity.id, _reason(decisions_of[entity.id]))


def _reason(decisions: Sequence[IdentityDecision]) -> Mapping[str, Any]:
    """Who made the first of these decisions, and why; nothing where there is none."""
    if not decisions:
        return {}
    first = decisions[0]
    return {"by": first.by, "why": first.why, "score": first.score}
