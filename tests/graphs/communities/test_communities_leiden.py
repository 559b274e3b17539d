"""Communities are found as Leiden finds them, the same for the same, and keep their ids."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import for_each
from fabula.graphs.communities.leiden import Weights, find_communities, modularity, sum_weights
from fabula.graphs.communities.values import Community

Edges = list[tuple[str, str, float]]


def make_id(level: int, members: Iterable[str]) -> str:
    return f"{level}:{','.join(sorted(members))}"


def found(weights: Weights, most: int = 10, before: Sequence[Community] = ()) -> list[Community]:
    return find_communities(weights, most, before, make_id)


def clique(*names: str) -> Edges:
    return [(one, other, 1.0) for one, other in itertools.combinations(names, 2)]


def drawn(seed: int, nodes: int = 120, groups: int = 6) -> Edges:
    """A network of groups within groups, with some ties across."""
    draw = random.Random(seed)
    edges: Edges = []
    for one, other in itertools.combinations(range(nodes), 2):
        same = (one % groups == other % groups) + (one % (3 * groups) == other % (3 * groups))
        if draw.random() < (0.01, 0.15, 0.6)[same]:
            edges.append((f"{one:03}", f"{other:03}", float(draw.randint(1, 5))))
    return edges


def test_two_cliques_are_the_communities() -> None:
    one, other = ("a0", "a1", "a2", "a3"), ("b0", "b1", "b2", "b3")
    weights = sum_weights([*clique(*one), *clique(*other), ("a0", "b0", 1.0)])
    assert [community.members for community in found(weights)] == [set(one), set(other)]


def test_modularity_is_that_of_the_definition() -> None:
    weights = sum_weights([("a", "b", 6.0), ("b", "c", 2.0), ("c", "d", 5.0)])
    assert modularity(weights, ["ab", "cd"]) == pytest.approx(0.343195, abs=1e-6)


def test_weights_are_summed_by_pair_and_none_is_below_zero() -> None:
    edges = [("b", "a", 1.0), ("a", "b", 2.0), ("a", "a", 9.0), ("a", "c", 0.0), ("c", "b", -3.0)]
    assert sum_weights(edges) == {("a", "b"): 3.0}
    assert found({}) == []


@for_each("seed", range(5))
def test_levels_divide_each_other_into_connected_parts(seed: int) -> None:
    weights = sum_weights(drawn(seed))
    communities = found(weights, most=5)
    top = [who for community in communities if community.level == 0 for who in community.members]
    assert sorted(top) == sorted({who for pair in weights for who in pair})
    assert {community.level for community in communities} >= {0, 1}
    for parent in communities:
        children = [community for community in communities if community.parent == parent.id]
        members = sorted(who for child in children for who in child.members)
        assert not children or members == sorted(parent.members)
        assert all(child.level == parent.level + 1 for child in children)
        assert len(children) != 1
    for one in communities:
        assert connected(one.members, weights)
    order = [(one.level, -len(one.members), min(one.members)) for one in communities]
    assert order == sorted(order)


@for_each("seed", range(3))
def test_edges_in_any_order_and_direction_give_the_same(seed: int) -> None:
    edges = drawn(seed)
    wanted = found(sum_weights(edges))
    draw = random.Random(seed)
    for _ in range(4):
        shuffled = [
            (other, one, weight) if draw.random() < 0.5 else (one, other, weight)
            for one, other, weight in draw.sample(edges, len(edges))
        ]
        weights = dict(draw.sample(list(sum_weights(shuffled).items()), len(edges)))
        assert found(weights) == wanted


def test_a_community_that_is_not_to_be_divided_is_left_alone() -> None:
    weights = sum_weights([*clique(*"abcdef"), *clique(*"uvwxyz"), ("a", "u", 1.0)])
    assert [one.level for one in found(weights, most=3)] == [0, 0]


def test_what_did_not_change_stays_as_it_was() -> None:
    weights = sum_weights(drawn(1))
    before = found(weights, most=5)
    assert found(weights, most=5, before=before) == before


def test_a_community_alike_keeps_its_id_and_another_is_new() -> None:
    old = found(sum_weights([*clique(*"abcdef"), *clique(*"uvw"), ("a", "u", 0.1)]))
    now = found(sum_weights([*clique(*"abcdeg"), *clique(*"vxyz"), ("a", "x", 0.1)]), before=old)
    assert [one.id for one in now] == [old[0].id, "0:v,x,y,z"]
    assert [one.members for one in now] == [set("abcdeg"), set("vxyz")]


def test_no_two_communities_have_one_id_though_one_has_grown_out_of_its_name() -> None:
    grown = Community(make_id(0, "abc"), 0, "", frozenset("defg"))
    now = found(sum_weights([*clique(*"abc"), *clique(*"defg"), ("a", "d", 0.1)]), before=[grown])
    assert [one.members for one in now] == [set("defg"), set("abc")]
    assert now[0].id == grown.id
    assert now[1].id not in ("", grown.id)


@given(st.randoms(use_true_random=True))
@settings(max_examples=60)
def test_old_communities_may_be_in_pieces(draw: random.Random) -> None:
    """Of which the library makes a panic, which is no exception of Python's."""
    names = [f"{one:02}" for one in range(draw.randint(4, 25))]
    pairs = [pair for pair in itertools.combinations(names, 2) if draw.random() < 0.08]
    weights = sum_weights((*pair, draw.choice((0.1, 1.0, 5.0))) for pair in pairs)
    old = [
        Community(f"old {level} {number}", level, "", frozenset(names[number :: 3 + level]))
        for level in (0, 1)
        for number in range(3 + level)
    ]
    now = found(weights, most=3, before=old)
    assert all(connected(one.members, weights) for one in now)
    top = sorted(who for one in now if one.level == 0 for who in one.members)
    assert top == sorted({who for pair in weights for who in pair})


def test_one_whose_tie_is_gone_is_in_two() -> None:
    old = [Community("x", 0, "", frozenset("abcxyz"))]
    now = found(sum_weights([*clique(*"abc"), *clique(*"xyz")]), before=old)
    assert {one.members for one in now} == {frozenset("abc"), frozenset("xyz")}


def connected(members: frozenset[str], weights: Weights) -> bool:
    reached = {min(members)}
    while (
        more := {
            who
            for pair in weights
            if members.issuperset(pair) and not reached.isdisjoint(pair)
            for who in pair
        }
        - reached
    ):
        reached |= more
    return reached == members
