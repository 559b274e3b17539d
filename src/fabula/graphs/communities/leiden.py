"""Who belongs together: Leiden communities, level by level, and which of them there were before.

Traag, Waltman and van Eck 2019, Scientific Reports 9:5233, by graspologic-native. That takes the
first of repeated edges alone, and divides in another way what comes in another order: so edges are
summed and sorted before. Each level is divided from where the level was before, which its own
hierarchical function can't do below the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from fabula.graphs.communities.values import Community

SEED = 0xDEADBEEF
ITERATIONS = 10
"""Until nothing moves, mostly: what is not settled moves at the next build, though nothing changed.
"""
ALIKE = 0.5
"""Share of the members of two communities together that are of both: where it is as much, they are
the same one."""

Pair = tuple[str, str]
Weights = Mapping[Pair, float]


def sum_weights(edges: Iterable[tuple[str, str, float]]) -> dict[Pair, float]:
    """One weight above 0 for each pair of different ends, smaller end first, in order."""
    found: dict[Pair, float] = defaultdict(float)
    for one, other, weight in edges:
        if one != other:
            found[min(one, other), max(one, other)] += weight
    return {pair: found[pair] for pair in sorted(found) if found[pair] > 0}


def find_communities(
    weights: Weights,
    most: int,
    before: Sequence[Community],
    make_id: Callable[[int, frozenset[str]], str],
) -> list[Community]:
    """Communities by level, then size, largest first, then their smallest member.

    Level 0 has everyone who is tied to anyone, once; what has more than `most` members is divided
    as far as Leiden divides it, all of it. `before` are those of an earlier build, from which this
    one starts: what is alike keeps its id, and all others are given one by `make_id`.
    """
    found: list[Community] = []
    ids = _Ids(before, make_id)
    open_ = {"": weights} if weights else {}
    for level in range(len(weights)):
        old = {who: one.id for one in before if one.level == level for who in one.members}
        groups: list[tuple[str, frozenset[str]]] = []
        inner: dict[frozenset[str], Weights] = {}
        for parent, own in open_.items():
            divided = _divide(own, old)
            if parent and len(divided) == 1:
                continue
            groups += [(parent, members) for members in divided]
            inner |= _within(own, [one for one in divided if len(one) > most])
        if not groups:
            break
        named = ids.give(level, [members for _, members in groups])
        made = [
            Community(id, level, parent, members)
            for (parent, members), id in zip(groups, named, strict=True)
        ]
        made.sort(key=lambda one: (-len(one.members), min(one.members)))
        found += made
        open_ = {one.id: inner[one.members] for one in made if one.members in inner}
    return found


def modularity(weights: Weights, groups: Iterable[Iterable[str]]) -> float:
    """How much more of the weight is within groups than by chance; 1 at most."""
    import graspologic_native

    place = {who: number for number, group in enumerate(groups) for who in group}
    return float(graspologic_native.modularity(_edges(weights), place))


def _divide(weights: Weights, old: Mapping[str, str]) -> list[frozenset[str]]:
    """The groups that Leiden finds, each of them connected; who was in none before is alone.

    It starts from the connected pieces of old communities: where one of those is in pieces, as an
    edit has cut it, the library's code panics.
    """
    import graspologic_native

    nodes = sorted({who for pair in weights for who in pair})
    # Ids have no such character.
    pieces = _connected(weights, {who: old.get(who, f"\0{who}") for who in nodes})
    start = {who: number for number, piece in enumerate(pieces) for who in piece}
    _, found = graspologic_native.leiden(
        _edges(weights), starting_communities=start, iterations=ITERATIONS, seed=SEED
    )
    groups: dict[int, set[str]] = defaultdict(set)
    for who, number in found.items():
        groups[number].add(who)
    return sorted(map(frozenset, groups.values()), key=min)


def _edges(weights: Weights) -> list[tuple[str, str, float]]:
    return [(*pair, float(weight)) for pair, weight in sorted(weights.items())]


def _connected(weights: Weights, groups: Mapping[str, str]) -> list[frozenset[str]]:
    """The groups, each a name to its members, as far as ties hold them together."""
    root = {who: who for who in groups}

    def find(who: str) -> str:
        while root[who] != who:
            root[who] = who = root[root[who]]
        return who

    for one, other in weights:
        if groups[one] == groups[other]:
            first, second = sorted((find(one), find(other)))
            root[second] = first
    found: dict[str, set[str]] = defaultdict(set)
    for who in groups:
        found[find(who)].add(who)
    return [frozenset(found[who]) for who in sorted(found)]


def _within(
    weights: Weights, groups: Sequence[frozenset[str]]
) -> dict[frozenset[str], dict[Pair, float]]:
    """What ties the members of each group to each other."""
    place = {who: number for number, group in enumerate(groups) for who in group}
    found: list[dict[Pair, float]] = [{} for _ in groups]
    for (one, other), weight in weights.items():
        if one in place and place[one] == place.get(other):
            found[place[one]][one, other] = weight
    return dict(zip(groups, found, strict=True))


class _Ids:
    """Gives communities the ids that they had, if they are alike those of before."""

    def __init__(
        self, before: Sequence[Community], make_id: Callable[[int, frozenset[str]], str]
    ) -> None:
        self._before, self._make = before, make_id
        self._taken = {one.id for one in before}

    def give(self, level: int, groups: Sequence[frozenset[str]]) -> list[str]:
        """An id for each of a level's groups, by their order."""
        old = [one for one in self._before if one.level == level]
        holding: dict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(old):
            for who in one.members:
                holding[who].append(place)
        likely = sorted(
            (-_alike(group, old[place].members), old[place].id, row)
            for row, group in enumerate(groups)
            for place in {place for who in group for place in holding[who]}
        )
        found: dict[int, str] = {}
        given: set[str] = set()
        for score, id, row in likely:
            if -score >= ALIKE and id not in given and row not in found:
                found[row] = id
                given.add(id)
        return [
            found[row] if row in found else self._new(level, groups[row])
            for row in range(len(groups))
        ]

    def _new(self, level: int, group: frozenset[str]) -> str:
        """The one of its members; another, where one that has changed since has that."""
        members = group
        while (id := self._make(level, members)) in self._taken:
            members |= {id}
        self._taken.add(id)
        return id


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index."""
    return len(one & other) / len(one | other)
