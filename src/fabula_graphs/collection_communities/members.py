"""The entities of several documents as the members of one network."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from fabula.graph import Part
from fabula.graphs.communities.labels import ENTITY
from fabula.graphs.communities.values import Member, MemberRelation
from fabula.graphs.entities.across_documents import DocumentEntity, group_across_documents


def find_members(parts: Iterable[Part], identities: Part | None) -> dict[str, str]:
    """Find which entities are one member of the network.

    Args:
        parts: The graphs of entities of all documents.
        identities: The collection's identities, where these were built.

    Returns:
        By the id of each entity the id of its member, which is the smallest of its entities' ids.
    """
    entities = [
        DocumentEntity(node.id, node.properties["key"], node.properties["type"])
        for part in parts
        for node in part.nodes
        if node.label == ENTITY
    ]
    decided = {
        member: node.id
        for node in (identities.nodes if identities else ())
        if node.label == "Identity"
        for member in node.properties["members"]
    }
    member_of: dict[str, str] = {}
    for group in group_across_documents(entities, decided):
        ids = [entities[position].id for position in group]
        member_of |= dict.fromkeys(ids, min(ids))
    return member_of


def join_members(members: Iterable[Member], member_of: Mapping[str, str]) -> Iterator[Member]:
    """Join the members that are one, as `find_members` says.

    Each has the name and the type that it has in the document whose most chunks mention it.
    """
    groups: dict[str, list[Member]] = defaultdict(list)
    for member in members:
        groups[member_of[member.id]].append(member)
    for id, group in groups.items():
        first = min(group, key=lambda member: (-len(member.chunks), member.id))
        names: Counter[str] = Counter()
        for member in group:
            names.update(member.names)
        yield Member(
            id,
            first.name,
            first.type,
            " ".join(dict.fromkeys(member.text for member in group)),
            names,
            tuple(chunk for member in group for chunk in member.chunks),
            tuple(sorted(member.id for member in group)),
        )


def join_bonds(
    bonds: Iterable[MemberRelation], member_of: Mapping[str, str]
) -> Iterator[MemberRelation]:
    """Join the bonds of the same two members; what ties a member to itself is left out."""
    groups: dict[tuple[str, str], list[MemberRelation]] = defaultdict(list)
    for bond in bonds:
        first, second = sorted((member_of[bond.source], member_of[bond.target]))
        if first != second:
            groups[first, second].append(bond)
    for (source, target), group in groups.items():
        yield MemberRelation(
            min(bond.id for bond in group),
            source,
            target,
            " ".join(dict.fromkeys(bond.text for bond in group)),
            sum(bond.weight for bond in group),
            tuple(dict.fromkeys(chunk for bond in group for chunk in bond.chunks)),
            tuple(sorted(bond.id for bond in group)),
        )
