"""The network of entities in memory, and personalised PageRank over it."""

from __future__ import annotations

from collections.abc import Sequence

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.sparse import csr_array

from cases import for_each
from casts import network
from fabula.graphs.entities.network import columns_of, pagerank, per_chunk, within
from fabula.text.ranking import Scores

EDGES = list[tuple[int, int, float]]


def tied(count: int, edges: Sequence[tuple[int, int, float]]) -> csr_array:
    matrix = np.zeros((count, count))
    for first, second, weight in edges:
        matrix[first, second] += weight
        matrix[second, first] += weight
    return csr_array(matrix)


def at(count: int, *seeds: int) -> Scores:
    reset = np.zeros(count)
    reset[list(seeds)] = 1
    return reset


# Personalised PageRank: known answers


@for_each("damping", [0.5, 0.85, 0.95])
def test_of_two_nodes_the_seed_has_one_over_one_and_damping(damping: float) -> None:
    ranks = pagerank(tied(2, [(0, 1, 3)]), at(2, 0), damping)
    # To and fro for ever: nothing comes to rest more slowly, and there are 200 steps.
    near = max(1e-7, 2 * damping**200)
    assert ranks == pytest.approx([1 / (1 + damping), damping / (1 + damping)], abs=near)


def test_a_stars_centre_shares_with_its_leaves() -> None:
    star = tied(5, [(0, leaf, 1) for leaf in range(1, 5)])
    assert pagerank(star, at(5, 0), 0.85) == pytest.approx(
        [1 / 1.85, *[0.85 / 1.85 / 4] * 4], abs=1e-7
    )
    of_a_leaf = pagerank(star, at(5, 1), 0.5)
    assert of_a_leaf == pytest.approx([1 / 3, 0.541667, *[0.041667] * 3], abs=1e-6)


@for_each("damping", [0.5, 0.85, 0.95])
def test_it_is_that_of_networkx(damping: float) -> None:
    club = networkx.karate_club_graph()
    club.add_node(34)
    weights = csr_array(networkx.to_scipy_sparse_array(club, weight="weight", dtype=np.float64))
    reset = at(35, 0, 7, 34) * 2
    expected = networkx.pagerank(
        club, damping, personalization=dict(enumerate(reset)), tol=1e-12, max_iter=1000
    )
    ranks = pagerank(weights, reset, damping)
    assert np.abs(ranks - [expected[node] for node in range(35)]).sum() < 1e-6


# Its properties

graphs = some.integers(2, 7).flatmap(
    lambda count: some.tuples(
        some.just(count),
        some.lists(
            some.tuples(
                some.integers(0, count - 1), some.integers(0, count - 1), some.integers(1, 9)
            ).filter(lambda edge: edge[0] != edge[1]),
            max_size=12,
        ),
        some.lists(some.integers(0, 9), min_size=count, max_size=count).filter(any),
        some.permutations(range(count)),
    )
)
Drawn = tuple[int, EDGES, list[int], list[int]]


@settings(deadline=None)
@given(graphs)
def test_it_sums_to_one_and_the_scale_of_weights_does_not_matter(drawn: Drawn) -> None:
    count, edges, seeds, _ = drawn
    weights, reset = tied(count, edges), np.array(seeds, float)
    ranks = pagerank(weights, reset, 0.85)
    assert ranks.sum() == pytest.approx(1)
    assert pagerank(csr_array(weights * 7.0), reset * 3, 0.85) == pytest.approx(ranks, abs=1e-7)


@settings(deadline=None)
@given(graphs)
def test_it_does_not_matter_in_what_order_the_nodes_are(drawn: Drawn) -> None:
    count, edges, seeds, order = drawn
    place = {node: at for at, node in enumerate(order)}
    moved = [(place[first], place[second], weight) for first, second, weight in edges]
    ranks = pagerank(tied(count, edges), np.array(seeds, float), 0.5)
    again = pagerank(tied(count, moved), np.array([seeds[node] for node in order], float), 0.5)
    assert again[[place[node] for node in range(count)]] == pytest.approx(ranks, abs=1e-7)


@settings(deadline=None)
@given(graphs)
def test_it_is_linear_in_the_seeds_where_all_have_edges(drawn: Drawn) -> None:
    count, edges, seeds, _ = drawn
    ring = [(node, (node + 1) % count, 1.0) for node in range(count)]
    weights = tied(count, [*edges, *ring])
    reset = np.array(seeds, float) / sum(seeds)
    mixed = sum(share * pagerank(weights, at(count, node), 0.5) for node, share in enumerate(reset))
    assert pagerank(weights, reset, 0.5) == pytest.approx(mixed, abs=1e-7)


def test_a_component_without_a_seed_has_nothing() -> None:
    ranks = pagerank(tied(4, [(0, 1, 1), (2, 3, 1)]), at(4, 0), 0.85)
    assert ranks[2:].tolist() == [0, 0]


# The network


def test_entities_of_one_key_are_one_across_documents_and_their_ties_are_summed() -> None:
    graph = network(
        {
            "a1": ("Anna", "c1 c2"),
            "b1": ("Boris", "c1"),
            "a2": ("Anna", "d1"),
            "b2": ("Boris", "d1"),
        },
        {"r1": ("a1", "b1", "c1 c2"), "r2": ("b2", "a2", "d1")},
    )
    assert graph.entities == (("a1", "a2"), ("b1", "b2"))
    assert graph.ties.toarray().tolist() == [[0, 3], [3, 0]]
    assert graph.chunk_counts.tolist() == [3, 2]
    assert graph.names[0] == {"Anna": 3}


def test_two_documents_people_of_one_name_do_not_tie_to_themselves() -> None:
    graph = network({"a": ("Anna", "c1"), "b": ("Anna", "c1")}, {"r": ("a", "b", "c1")})
    assert graph.ties.toarray().tolist() == [[0]]
    assert graph.degrees.tolist() == [0]


NAMESAKES = {
    "a1": ("Anna", "c1 c2"),
    "a2": ("Anna", "d1"),
    "a3": ("Anna", "e1"),
    "k2": ("Anna Karenina", "d1"),
}


def test_whom_identities_take_for_one_are_one_and_whom_they_part_are_two() -> None:
    decided = {"a1": "one", "k2": "one", "a2": "other"}
    graph = network(NAMESAKES, {"r": ("a1", "a2", "c1")}, identities=decided)
    # Nothing is decided of the third, who may be either.
    assert graph.entities == (("a1", "k2"), ("a2",), ("a3",))
    assert graph.names[0] == {"Anna": 2, "Anna Karenina": 1}
    assert graph.ties.toarray()[0, 1] == 1
    alone = network(NAMESAKES, {})
    assert alone.entities == (("a1", "a2", "a3"), ("k2",))


def test_whom_nothing_is_decided_of_is_the_only_one_of_that_name() -> None:
    graph = network(NAMESAKES, {}, identities={"a1": "one", "k2": "one", "gone": "one"})
    assert graph.entities == (("a1", "a2", "a3", "k2"),)


def test_a_person_and_a_place_of_one_name_are_two() -> None:
    named = {"a": ("Florence", "c1"), "b": ("Florence", "d1 d2"), "c": ("Florence", "e1")}
    types = {"a": "person", "b": "Location", "c": "name"}
    assert network(named, {}, types=types).entities == (("a",), ("b",), ("c",)), "it may be either"
    assert network(named, {}, types={**types, "b": "person"}).entities == (("b", "a", "c"),)
    decided = {"a": "one", "gone": "one"}
    graph = network(named, {}, types={**types, "c": "person"}, identities=decided)
    assert graph.entities == (("a", "c"), ("b",)), "an identity of a person is no place's"


def test_names_in_other_alphabets_stay_apart() -> None:
    # HippoRAG 2's code keeps A-Z and figures of a name, and so had one node for all of these.
    graph = network({"a": ("Соня", "c1"), "b": ("Родион", "c2"), "c": ("Żółć", "c3")}, {})
    assert len(graph.entities) == 3
    assert [graph.by_name.exact(name) for name in ("Соня", "родион", "ŻÓŁĆ")] == [(0,), (1,), (2,)]


def test_the_walk_ties_chunks_once_and_facts_twice_for_each_chunk() -> None:
    graph = network({"a": ("Anna", "c1 c2"), "b": ("Boris", "c2")}, {"r": ("a", "b", "c1 c2")})
    assert graph.walk.toarray().tolist() == [
        [0, 4, 1, 1],
        [4, 0, 0, 1],
        [1, 0, 0, 0],
        [1, 1, 0, 0],
    ]


def test_facts_are_walked_instead_of_relations_where_there_are_some() -> None:
    cast = {"a": ("Anna", "c1"), "b": ("Boris", "c1")}
    graph = network(cast, {"r": ("a", "b", "c1")}, {"t": ("a", "b", "c1"), "u": ("b", "a", "c1")})
    assert graph.walk.toarray()[0, 1] == 4
    assert graph.ties.toarray()[0, 1] == 1


def test_what_went_while_it_was_read_is_left_out() -> None:
    graph = network({"a": ("Anna", "c1 gone")}, {"r": ("a", "gone", "c1")}, chunks="c1 c2")
    assert graph.mentions.toarray().tolist() == [[1, 0]]
    assert graph.relations.ids == ()


def test_a_name_is_whom_the_text_calls_so_most_often() -> None:
    graph = network({"a": ("Scrooge", "c1"), "b": ("Fred|Scrooge", "c1 c2")}, {})
    assert graph.by_name.exact("Scrooge’s")[0] == graph.row["a"]


def test_within_so_many_hops() -> None:
    path = tied(4, [(0, 1, 5), (1, 2, 5), (2, 3, 5)])
    assert within(path, [0, 3], 2).tolist() == [
        [True, True, True, False],
        [False, True, True, True],
    ]
    assert columns_of(path, 1) == [0, 2]


def test_a_score_is_shared_among_the_chunks() -> None:
    chunks = csr_array(np.array([[1.0, 1, 0], [0, 1, 0], [0, 0, 0]]))
    scores = np.array([4.0, 1, 9])
    assert per_chunk(chunks, scores).tolist() == [4, 5, 0]
    assert per_chunk(chunks, scores, shared=True).tolist() == [2, 3, 0]
