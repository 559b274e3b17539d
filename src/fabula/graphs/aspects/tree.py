"""One aspect's tree of summaries, from clusters of chunks upward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.graphs.aspects import ids
from fabula.graphs.aspects.cluster import Cluster
from fabula.graphs.aspects.values import Aspect, Member, Summary
from fabula.text.document import Chunk, Vectors

TreeNode = Chunk | Summary
"""What a summary may rest on."""


@dataclass(frozen=True, slots=True)
class Group:
    """The passages of one cluster, in text order, with their membership probabilities."""

    nodes: tuple[TreeNode, ...]
    weights: tuple[float, ...]


def grow(
    aspect: Aspect,
    groups: Sequence[Group],
    levels: int,
    summarise: Callable[[Aspect, int, Sequence[Group]], list[Summary]],
    divide: Callable[[Aspect, int, Sequence[TreeNode]], list[Group]],
) -> list[Summary]:
    """The summaries of `aspect`, all levels, lowest first.

    Level 1 summarises `groups` of chunks; each further level the clusters of the level below,
    within this aspect alone, up to `levels` or until nothing is left to merge. Where `summarise`
    leaves a group out, the next level goes on without what that would have told. After Sarthi et
    al. 2024 (RAPTOR, arXiv 2401.18059), section 3, with a tree for each aspect.
    """
    level = summarise(aspect, 1, groups)
    tree = list(level)
    nodes: list[Summary] = level
    for number in range(2, levels + 1):
        groups = divide(aspect, number, nodes) if len(nodes) > 1 else []
        merged = [group for group in groups if len(group.nodes) > 1]
        if not merged or len(groups) >= len(nodes):
            break
        # What shares a cluster with nothing says all there is already: it waits a level.
        kept = {node.id for group in merged for node in group.nodes}
        level = summarise(aspect, number, merged)
        tree += level
        nodes = [node for node in nodes if node.id not in kept] + level
    return tree


def grouped(nodes: Sequence[TreeNode], clusters: Sequence[Cluster]) -> list[Group]:
    """Clusters of row numbers as groups of the nodes in those rows; none has another's members."""
    groups: dict[tuple[int, ...], Group] = {}
    for one in clusters:
        members = tuple(nodes[row] for row in one.members)
        groups.setdefault(one.members, Group(members, one.weights))
    return list(groups.values())


def members_of(group: Group) -> tuple[Member, ...]:
    """The ids of a group's passages, with their membership probabilities."""
    return tuple(
        Member(node.id, weight) for node, weight in zip(group.nodes, group.weights, strict=True)
    )


def embeddings(nodes: Sequence[TreeNode]) -> Vectors:
    """The embeddings of nodes, shape (nodes, dimensions)."""
    return np.stack([node.embedding for node in nodes])


def summary(
    document: str, aspect: str, level: int, group: Group, text: str, tokens: int
) -> Summary:
    """A summary of a group, placed where its members are; not embedded yet."""
    members = members_of(group)
    return Summary(
        id=ids.summary_id(document, aspect, level, sorted(member.id for member in members)),
        aspect=aspect,
        level=level,
        section=_span_of_sections(group.nodes),
        start=min(node.start for node in group.nodes),
        end=max(node.end for node in group.nodes),
        text=text,
        tokens=tokens,
        members=members,
    )


def _span_of_sections(nodes: Sequence[TreeNode]) -> str:
    """'First – Last', or the one section that all are in."""
    first = min(nodes, key=lambda node: node.start).section.split(" – ")[0]
    last = max(nodes, key=lambda node: node.end).section.split(" – ")[-1]
    return first if first == last or not last else (f"{first} – {last}" if first else last)
