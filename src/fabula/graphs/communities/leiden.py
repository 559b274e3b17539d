"""Leiden communities, level by level, and which of them were there in the previous build.

Traag, Waltman and van Eck 2019, Scientific Reports 9:5233, by the library graspologic-native. Two
things to know about it: of repeated edges it counts only the first, and another order of the edges
gives another division. So edges are summed and sorted before they are passed on. Each level starts
from where it was in the previous build, which the library's own hierarchical function can do for
the first level only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from fabula.graphs.communities.values import Community

SEED = 0xDEADBEEF
"""Microsoft's seed."""
ITERATIONS = 10
"""After ten iterations mostly nothing moves any more. What still would, moves at the next build,
although nothing has changed.
"""
MIN_SHARED = 0.5
"""The Jaccard index of two communities' members from which on they are the same community."""

Pair = tuple[str, str]
Weights = Mapping[Pair, float]


def sum_weights(edges: Iterable[tuple[str, str, float]]) -> dict[Pair, float]:
    """Return one weight for each pair of different ends, the smaller end first, sorted.

    Pairs whose weights sum up to 0 or less are left out.
    """
    weights: dict[Pair, float] = defaultdict(float)
    for source, target, weight in edges:
        if source != target:
            weights[min(source, target), max(source, target)] += weight
    return {pair: weights[pair] for pair in sorted(weights) if weights[pair] > 0}


def find_communities(
    weights: Weights,
    max_size: int,
    previous: Sequence[Community],
    make_id: Callable[[int, frozenset[str]], str],
) -> list[Community]:
    """Return communities by level, then by size, largest first, then by their smallest member.

    Level 0 has every member that has an edge, once. The communities below a community have all of
    its members.

    Args:
        weights: The network's weights, as `sum_weights` returns them.
        max_size: A community of more members is divided further, as far as Leiden divides it.
        previous: The communities of the previous build, from which this one starts. A community
            that shares enough members with one of them keeps its id.
        make_id: Makes an id of a level and members, for all other communities.
    """
    communities: list[Community] = []
    ids = _Ids(previous, make_id)
    undivided = {"": weights} if weights else {}
    for level in range(len(weights)):
        previous_ids = {
            member: community.id
            for community in previous
            if community.level == level
            for member in community.members
        }
        groups: list[tuple[str, frozenset[str]]] = []
        weights_inside: dict[frozenset[str], Weights] = {}
        for parent, parent_weights in undivided.items():
            parts = _divide(parent_weights, previous_ids)
            if parent and len(parts) == 1:
                continue
            groups += [(parent, members) for members in parts]
            too_large = [members for members in parts if len(members) > max_size]
            weights_inside |= _split_weights(parent_weights, too_large)
        if not groups:
            break
        group_ids = ids.assign(level, [members for _, members in groups])
        found = [
            Community(id, level, parent, members)
            for (parent, members), id in zip(groups, group_ids, strict=True)
        ]
        found.sort(key=lambda community: (-len(community.members), min(community.members)))
        communities += found
        undivided = {
            community.id: weights_inside[community.members]
            for community in found
            if community.members in weights_inside
        }
    return communities


def modularity(weights: Weights, groups: Iterable[Iterable[str]]) -> float:
    """Return how much more of the weight is inside groups than by chance; 1 at most."""
    import graspologic_native

    group_of = {member: number for number, group in enumerate(groups) for member in group}
    return float(graspologic_native.modularity(_edges(weights), group_of))


def _divide(weights: Weights, previous_ids: Mapping[str, str]) -> list[frozenset[str]]:
    """Return the connected groups that Leiden finds, starting from the previous communities."""
    import graspologic_native

    members = sorted({member for pair in weights for member in pair})
    # Ids have no zero byte, so no new member is taken for a community.
    starts = {member: previous_ids.get(member, f"\0{member}") for member in members}
    # An edit may cut a community in two, and the library panics if a start is not connected.
    pieces = _connected_pieces(weights, starts)
    start = {member: number for number, piece in enumerate(pieces) for member in piece}
    _, partition = graspologic_native.leiden(
        _edges(weights), starting_communities=start, iterations=ITERATIONS, seed=SEED
    )
    groups: dict[int, set[str]] = defaultdict(set)
    for member, number in partition.items():
        groups[number].add(member)
    return sorted(map(frozenset, groups.values()), key=min)


def _edges(weights: Weights) -> list[tuple[str, str, float]]:
    return [(*pair, float(weight)) for pair, weight in sorted(weights.items())]


def _connected_pieces(weights: Weights, groups: Mapping[str, str]) -> list[frozenset[str]]:
    """Split groups, given by each member's group, into pieces that edges connect (union-find)."""
    root = {member: member for member in groups}

    def find_root(member: str) -> str:
        while root[member] != member:
            root[member] = member = root[root[member]]
        return member

    for source, target in weights:
        if groups[source] == groups[target]:
            first, second = sorted((find_root(source), find_root(target)))
            root[second] = first
    pieces: dict[str, set[str]] = defaultdict(set)
    for member in groups:
        pieces[find_root(member)].add(member)
    return [frozenset(pieces[member]) for member in sorted(pieces)]


def _split_weights(
    weights: Weights, groups: Sequence[frozenset[str]]
) -> dict[frozenset[str], dict[Pair, float]]:
    """Return the weights inside each group; those between groups are left out."""
    group_of = {member: number for number, group in enumerate(groups) for member in group}
    inside: list[dict[Pair, float]] = [{} for _ in groups]
    for (source, target), weight in weights.items():
        if source in group_of and group_of[source] == group_of.get(target):
            inside[group_of[source]][source, target] = weight
    return dict(zip(groups, inside, strict=True))


class _Ids:
    """Assigns ids to communities: the previous one's, where it shares enough members."""

    def __init__(
        self, previous: Sequence[Community], make_id: Callable[[int, frozenset[str]], str]
    ) -> None:
        self._previous, self._make_id = previous, make_id
        self._taken = {community.id for community in previous}

    def assign(self, level: int, groups: Sequence[frozenset[str]]) -> list[str]:
        """Return an id for each group of a level, in their order; the best matches go first."""
        previous = [community for community in self._previous if community.level == level]
        with_member: dict[str, list[int]] = defaultdict(list)
        for index, community in enumerate(previous):
            for member in community.members:
                with_member[member].append(index)
        matches = sorted(
            (-_jaccard(group, previous[index].members), previous[index].id, row)
            for row, group in enumerate(groups)
            for index in {index for member in group for index in with_member[member]}
        )
        ids: dict[int, str] = {}
        reused: set[str] = set()
        for score, id, row in matches:
            if -score >= MIN_SHARED and id not in reused and row not in ids:
                ids[row] = id
                reused.add(id)
        return [
            ids[row] if row in ids else self._new_id(level, groups[row])
            for row in range(len(groups))
        ]

    def _new_id(self, level: int, group: frozenset[str]) -> str:
        """Return an id made of the members, or of more where that one is taken."""
        members = group
        # It may be taken, as a community keeps its id while its members change.
        while (id := self._make_id(level, members)) in self._taken:
            members |= {id}
        self._taken.add(id)
        return id


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right)
