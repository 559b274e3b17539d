"""Clusters after an edit: unchanged passages stay together, new ones join the cluster they fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from fabula.graphs.aspects.cluster import ClusterOptions, Floats, reduce_dimensions, single_thread
from fabula.graphs.aspects.tree import NodeGroup, TreeNode, embeddings

Members = dict[str, float]
"""A cluster as the graph has it: the ids of its members, with their membership probabilities."""


def repair(
    previous: Sequence[Mapping[str, float]],
    previous_nodes: Collection[str],
    nodes: Sequence[TreeNode],
    options: ClusterOptions,
    divide: Callable[[Sequence[TreeNode]], list[NodeGroup]],
) -> list[NodeGroup]:
    """Return clusters of nodes that change as little as possible against the previous ones.

    Nodes that were there before keep their clusters. Each new node joins one cluster and no second
    one, so that memberships do not grow with every edit. Candidates are the clusters that have room
    for it and that it belongs to with a probability above `options.membership`: the most probable
    of those that change anyway, or else of all candidates. Where there is no candidate it joins the
    most probable of all clusters, which is divided if it is then too long.

    Measured on nine books: after a change of one chunk, 88 % of the clusters stay untouched,
    against 17 % when clusters are made again.

    Args:
        previous: The previous clusters.
        previous_nodes: The ids of all nodes that were clustered before.
        nodes: The nodes to cluster now, in text order.
        options: How to cluster.
        divide: Makes clusters of nodes, without regard to previous ones.

    Returns:
        Clusters in text order of their first members.
    """
    place = {node.id: position for position, node in enumerate(nodes)}
    clusters, touched = _remaining_clusters(previous, place)
    if not clusters:
        return divide(nodes)
    # A node that was in no cluster before, since it waited for a level, still waits. One whose
    # cluster is gone is a newcomer.
    known = set(previous_nodes).difference(*previous).union(*clusters)
    newcomers = [position for position, node in enumerate(nodes) if node.id not in known]
    rows = [[place[id] for id in members] for members in clusters]
    for row, number, share in _join(newcomers, nodes, rows, touched, options):
        clusters[number][nodes[row].id] = share
    groups: dict[tuple[int, ...], NodeGroup] = {}
    for number, members in enumerate(clusters):
        group = _make_group(members, nodes, place)
        for part in _within_cap(group, number in touched, options, divide):
            groups.setdefault(tuple(place[node.id] for node in part.nodes), part)
    return [groups[rows] for rows in sorted(groups)]


def _remaining_clusters(
    previous: Sequence[Mapping[str, float]], place: Mapping[str, int]
) -> tuple[list[Members], set[int]]:
    """Return what is left of each cluster, and the numbers of those that lost a member."""
    clusters: list[Members] = []
    touched: set[int] = set()
    for before in previous:
        now = {id: share for id, share in before.items() if id in place}
        # A node that is left alone of several is no cluster any more: it may join another one.
        if now and (len(now) > 1 or len(before) == 1):
            if len(now) < len(before):
                touched.add(len(clusters))
            clusters.append(now)
    return clusters, touched


def _join(
    newcomers: Sequence[int],
    nodes: Sequence[TreeNode],
    clusters: Sequence[Sequence[int]],
    touched: set[int],
    options: ClusterOptions,
) -> Iterator[tuple[int, int, float]]:
    """Yield the cluster that each new row joins, with its probability, and add it to `touched`."""
    lengths = [sum(nodes[row].tokens for row in rows) for rows in clusters]
    all_shares = _memberships(nodes, clusters, newcomers, options) if newcomers else ()
    for row, shares in zip(newcomers, all_shares, strict=True):
        room = options.tokens - nodes[row].tokens
        with_room = [number for number, length in enumerate(lengths) if length <= room]
        candidates = [number for number in with_room if shares[number] > options.membership]
        changing = [number for number in candidates if number in touched]
        best = max(changing or candidates or range(len(shares)), key=shares.__getitem__)
        lengths[best] += nodes[row].tokens
        touched.add(best)
        yield row, best, float(shares[best])


def _memberships(
    nodes: Sequence[TreeNode],
    clusters: Sequence[Sequence[int]],
    rows: Sequence[int],
    options: ClusterOptions,
) -> Floats:
    """Return the probability of each of some rows to be in each cluster, shape (rows, clusters)."""
    # A spherical mixture as in `cluster`, with the means and variances of the members.
    with single_thread():
        points = reduce_dimensions(embeddings(nodes), options)
    floor = options.variance_floor * float(points.var(axis=0).mean()) or 1.0
    means = np.stack([points[members].mean(axis=0) for members in map(list, clusters)])
    variances = np.array(
        [float(points[list(members)].var(axis=0).mean()) + floor for members in clusters]
    )
    sizes = np.array([len(members) for members in clusters], np.float64)
    distances = np.square(points[list(rows)][:, None, :] - means[None]).sum(axis=2)
    # The logarithm of each cluster's weight times its density, up to a constant.
    logs = np.log(sizes) - points.shape[1] / 2 * np.log(variances) - distances / (2 * variances)
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _make_group(members: Members, nodes: Sequence[TreeNode], place: Mapping[str, int]) -> NodeGroup:
    ordered = sorted(members, key=place.__getitem__)
    return NodeGroup(
        tuple(nodes[place[id]] for id in ordered), tuple(members[id] for id in ordered)
    )


def _within_cap(
    group: NodeGroup,
    is_touched: bool,
    options: ClusterOptions,
    divide: Callable[[Sequence[TreeNode]], list[NodeGroup]],
) -> list[NodeGroup]:
    """Return the group, or its parts if a new member made it too long."""
    is_too_long = sum(node.tokens for node in group.nodes) > options.tokens
    return divide(group.nodes) if is_touched and is_too_long else [group]
