"""One aspect's tree of summaries, from clusters of chunks upward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def grow_tree(
    aspect: Aspect,
    groups: Sequence[NodeGroup],
    levels: int,
    summarise: Callable[[Aspect, int, Sequence[NodeGroup]], Build[list[Summary]]],
    divide: Callable[[Aspect, int, Sequence[TreeNode]], list[NodeGroup]],
) -> Build[list[Summary]]:
    """Return the summaries of an aspect on all levels, lowest first.

    After RAPTOR (Sarthi et al. 2024, arXiv 2401.18059, section 3), with a tree for each aspect:
    level 1 summarises clusters of chunks, and each further level the clusters of the level below,
    until nothing is left to merge.

    Args:
        aspect: The aspect of all summaries.
        groups: The clusters of chunks that have this aspect.
        levels: Maximum number of levels.
        summarise: Writes the summaries of some clusters on a level. It may leave out a cluster
            whose summary no model gives; the next level then goes on without it.
        divide: Clusters the nodes of the level below.
    """
    level = yield from summarise(aspect, 1, groups)
    tree = list(level)
    nodes: list[Summary] = level
    for number in range(2, levels + 1):
        groups = divide(aspect, number, nodes) if len(nodes) > 1 else []
        merged = [group for group in groups if len(group.nodes) > 1]
        if not merged or len(groups) >= len(nodes):
            break
        # A summary alone in its cluster would only be summarised again: it waits for a level.
        merged_ids = {node.id for group in merged for node in group.nodes}
        level = yield from summarise(aspect, number, merged)
        tree += level
        nodes = [node for node in nodes if node.id not in merged_ids] + level
    return tree


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
