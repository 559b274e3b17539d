"""Entities of several documents as members of one network: those of one key or identity are one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fabula.graph import Node, Part
from fabula.graphs.communities.border import ENTITY
from fabula.graphs.communities.values import Bond, Member
from fabula.graphs.entities.resolve import agree, kind

IDENTITY, SAME = "Identity", "SAME"


def group(parts: Iterable[Part], identities: Part | None) -> dict[str, str]:
    """The id of the member that each entity belongs to, which is the smallest of its entities'.

    Those that identities take for one are one, and of all others those of equal keys, but no person
    and a place; with one identity of that key, too, where documents came after it was made.
    """
    standing: dict[str, str] = {}
    by_key: dict[str, list[Node]] = defaultdict(list)
    if identities:
        for edge in identities.edges:
            if edge.type == SAME:
                standing[edge.end] = f"identity {edge.start}"
        for node in identities.nodes:
            if node.label == IDENTITY:
                for key in node.properties["keys"]:
                    by_key[key].append(node)
    entities = [node for part in parts for node in part.nodes if node.label == ENTITY]
    kinds: dict[str, set[str]] = defaultdict(set)
    for node in entities:
        kinds[node.properties["key"]] |= {kind(node.properties["type"])} - {""}
    named: dict[str, list[str]] = defaultdict(list)
    for node in entities:
        key = node.properties["key"]
        type = node.properties["type"]
        known = [one for one in by_key[key] if agree((one.properties["type"], type), ())]
        # Of no kind, it may be either, unless there are both.
        if len(known) == 1:
            alone = f"identity {known[0].id}"
        else:
            alone = f"key {key} {kind(type) if len(kinds[key]) > 1 else ''}"
        named[standing.get(node.id, alone)].append(node.id)
    return {id: min(some) for some in named.values() for id in some}


def join_members(members: Iterable[Member], standing: Mapping[str, str]) -> Iterator[Member]:
    """One of all that are one, called as whom most chunks mention; `standing` as `group` says."""
    groups: dict[str, list[Member]] = defaultdict(list)
    for one in members:
        groups[standing[one.id]].append(one)
    for id, some in groups.items():
        first = min(some, key=lambda one: (-len(one.chunks), one.id))
        names: Counter[str] = Counter()
        for one in some:
            names.update(one.names)
        yield Member(
            id,
            first.name,
            first.type,
            " ".join(dict.fromkeys(one.text for one in some)),
            names,
            tuple(chunk for one in some for chunk in one.chunks),
            tuple(sorted(one.id for one in some)),
        )


def join_bonds(bonds: Iterable[Bond], standing: Mapping[str, str]) -> Iterator[Bond]:
    """One of each two members that are tied in any document; none of a member to itself."""
    groups: dict[tuple[str, str], list[Bond]] = defaultdict(list)
    for one in bonds:
        ends = sorted((standing[one.source], standing[one.target]))
        if ends[0] != ends[1]:
            groups[ends[0], ends[1]].append(one)
    for (source, target), some in groups.items():
        yield Bond(
            min(one.id for one in some),
            source,
            target,
            " ".join(dict.fromkeys(one.text for one in some)),
            sum(one.weight for one in some),
            _chunks(some),
            tuple(sorted(one.id for one in some)),
        )


def _chunks(bonds: Sequence[Bond]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chunk for one in bonds for chunk in one.chunks))
