"""The trees of summaries, one an aspect, from clusters of chunks upward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.graph.builds import Build
from fabula.graphs.aspects import ids
from fabula.graphs.aspects.cluster import Cluster
from fabula.graphs.aspects.values import Aspect, ClusterMember, Summary
from fabula.text.document import Chunk, Vectors
from fabula.text.sections import BETWEEN, span_of_sections

TreeNode = Chunk | Summary
"""What a summary may be made from."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """The passages of one cluster, in text order, with their membership probabilities."""

    nodes: tuple[TreeNode, ...]
    weights: tuple[float, ...]


def grow_trees(
    clusters: Mapping[Aspect, Sequence[NodeGroup]],
    levels: int,
    summarise: Callable[[int, Mapping[Aspect, Sequence[NodeGroup]]], Build[list[Summary]]],
    divide: Callable[[Aspect, int, Sequence[TreeNode]], list[NodeGroup]],
) -> Build[list[Summary]]:
    """Return the summaries of all aspects: tree by tree, the lowest levels first.

    After RAPTOR (Sarthi et al. 2024, arXiv 2401.18059, section 3), with a tree for each aspect:
    level 1 summarises clusters of chunks, and each further level the clusters of the level below,
    until nothing is left to merge. All trees grow level by level: a level's summaries are embedded
    together, which a text that grows by few summaries a tree would else make many calls for.

    Args:
        clusters: The clusters of chunks that have each aspect.
        levels: Maximum number of levels.
        summarise: Writes the summaries of some clusters of each aspect on a level. It may leave out
            a cluster whose summary no model gives; the next level then goes on without it.
        divide: Clusters the nodes of the levels below.
    """
    trees: dict[Aspect, list[Summary]] = {aspect: [] for aspect in clusters}
    tops: dict[Aspect, list[Summary]] = {aspect: [] for aspect in clusters}
    growing = dict(clusters)
    for level in range(1, levels + 1):
        if level > 1:
            merging = {aspect: _merge(tops[aspect], aspect, level, divide) for aspect in growing}
            growing = {aspect: groups for aspect, groups in merging.items() if groups}
        if not growing:
            break
        written = yield from summarise(level, growing)
        for aspect, groups in growing.items():
            own = [summary for summary in written if summary.aspect == aspect.name]
            # A summary alone in its cluster would only be summarised again: it waits for a level.
            merged = {node.id for group in groups for node in group.nodes}
            tops[aspect] = [node for node in tops[aspect] if node.id not in merged] + own
            trees[aspect] += own
    return [summary for tree in trees.values() for summary in tree]


def _merge(
    nodes: Sequence[Summary],
    aspect: Aspect,
    level: int,
    divide: Callable[[Aspect, int, Sequence[TreeNode]], list[NodeGroup]],
) -> list[NodeGroup]:
    """Return the clusters of several nodes; none if the next level would not have fewer nodes."""
    groups = divide(aspect, level, nodes) if len(nodes) > 1 else []
    return [group for group in groups if len(group.nodes) > 1] if len(groups) < len(nodes) else []


def group_nodes(nodes: Sequence[TreeNode], clusters: Sequence[Cluster]) -> list[NodeGroup]:
    """Return clusters of row numbers as groups of nodes; of clusters of equal members, one."""
    groups: dict[tuple[int, ...], NodeGroup] = {}
    for cluster in clusters:
        members = tuple(nodes[row] for row in cluster.members)
        groups.setdefault(cluster.members, NodeGroup(members, cluster.weights))
    return list(groups.values())


def make_members(group: NodeGroup) -> tuple[ClusterMember, ...]:
    """Return the ids of a group's passages, with their membership probabilities."""
    return tuple(
        ClusterMember(node.id, weight)
        for node, weight in zip(group.nodes, group.weights, strict=True)
    )


def embeddings(nodes: Sequence[TreeNode]) -> Vectors:
    """Return the embeddings of nodes, shape (nodes, dimensions)."""
    return np.stack([node.embedding for node in nodes])


def make_summary(
    document: str, aspect: str, level: int, group: NodeGroup, text: str, tokens: int
) -> Summary:
    """Return a summary of a group, with the place of its members and without an embedding."""
    members = make_members(group)
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
    """Return 'First – Last', or the name of the section that all nodes are in."""
    first = min(nodes, key=lambda node: node.start).section.split(BETWEEN)[0]
    last = max(nodes, key=lambda node: node.end).section.split(BETWEEN)[-1]
    return span_of_sections(first, last)
