"""The rankings of the modes over entities, by hand; and the faults that they are not to have."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from cases import for_each
from casts import network
from fabula.errors import BadReply
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graph.trace import Trace
from fabula.graphs.entities.modes import fast, hippo, light, local, mini
from fabula.graphs.entities.network import pagerank
from fabula.graphs.entities.questions import rows_of
from fabula.graphs.entities.retrieval import fit_budgets, join_hits
from scripted import Says

TRIANGLE = network(
    {"a": ("Anna", "c1 c2"), "b": ("Boris", "c1 c3"), "c": ("Clara", "c2 c3"), "d": ("Dora", "c4")},
    {"ab": ("a", "b", "c1"), "bc": ("b", "c", "c3"), "ca": ("c", "a", "c2")},
)


def hit(id: str, score: float) -> Hit:
    return Hit(id, "chunk", "d", "D", "en", "", "", 0, 0, 9, "text", 2, score)


# hippo

FACTS = network(
    {"a": ("Anna", "c1 c2"), "b": ("Boris", "c1"), "c": ("Clara", "c2")},
    {},
    {"f1": ("a", "b", "c1"), "f2": ("a", "c", "c2"), "f3": ("b", "c", "c1 c2")},
)


def test_facts_are_scaled_among_all_and_the_best_are_kept() -> None:
    assert hippo.choose({0: 0.9, 1: 0.5, 2: 0.1}, 2) == {0: 1.0, 1: pytest.approx(0.5)}
    assert hippo.choose({4: 0.3}, 5) == {4: 1.0}
    assert hippo.choose({}, 5) == {}


def test_a_phrase_has_the_mean_of_its_facts_over_its_chunks() -> None:
    weights = hippo.fact_weights({0: 1.0, 1: 0.5, 2: 0.0}, FACTS, 5)
    # Anna: (1 + .5) / 2 / 2 chunks; Boris: (1 + 0) / 2 / 1; Clara: (.5 + 0) / 2 / 1.
    assert weights == {1: 0.5, 0: 0.375, 2: 0.25}
    assert list(weights) == [1, 0, 2]
    assert hippo.fact_weights({0: 1.0, 1: 0.5, 2: 0.0}, FACTS, 1) == {1: 0.5}


def test_the_last_fact_of_a_small_graph_stops_nothing() -> None:
    # The code asserts that a kept fact's score is not 0, as the last one's is.
    assert hippo.fact_weights(hippo.choose({0: 0.9, 1: 0.2}, 5), FACTS, 5) == {0: 0.25, 1: 1.0}


def test_a_phrase_in_ten_chunks_weighs_a_tenth_of_one_in_one() -> None:
    chunks = " ".join(f"c{n}" for n in range(10))
    graph = network({"a": ("Anna", chunks), "b": ("Boris", "c0")}, {}, {"f": ("a", "b", "c0")})
    weights = hippo.fact_weights({0: 1.0}, graph, 5)
    assert weights[0] == pytest.approx(weights[1] / 10)
    assert hippo.name_weights([0, 1], graph, 1) == {1: 1.0}


def test_the_walk_begins_at_phrases_and_at_passages_by_their_weight() -> None:
    found = [hit("c1", 0.7), hit("c2", 0.3), hit("elsewhere", 0.1)]
    ranks = hippo.walk({0: 0.5}, found, 0.05, 0.5, FACTS)
    seeds = np.array([0.5, 0, 0, 0.05, 0.05 / 3])
    assert ranks == pytest.approx(pagerank(FACTS.walk, seeds, 0.5))
    assert ranks.sum() == pytest.approx(1)
    assert not hippo.walk({}, [], 1.0, 0.5, FACTS).any()


def test_numbers_that_a_filter_invents_are_dropped() -> None:
    # The code takes the fact whose spelling is nearest, however far.
    assert hippo.read_fact_numbers(json.dumps({"keep": [2, 7, 0, -1, "1", 99999999999]}), 3) == {
        1,
        2,
    }
    assert hippo.read_fact_numbers('{"keep": []}', 3) == frozenset()
    with pytest.raises(BadReply):
        hippo.read_fact_numbers("the second", 3)


def test_a_fact_is_text_whatever_it_reads_like() -> None:
    # The code evaluates stored facts as Python.
    chat = Says(lambda user: json.dumps({"keep": [2]}))
    facts = ["__import__('os').abort() is a fact", "('Anna', 'is', 'late')"]
    assert hippo.ask_which_help("Who is late?", facts, chat) == {2}
    listed = "[1] __import__('os').abort() is a fact\n[2] ('Anna', 'is', 'late')"
    assert listed in chat.prompts[0].user


# fast


def test_seeds_are_the_largest_of_the_rows_each_divided_by_its_sum() -> None:
    assert fast.seed([{0: 1.0}, {0: 0.3, 1: 0.1}, {2: 0.0}], 4).tolist() == [1, 0.25, 0, 0]


def test_relations_of_a_triangle_count_for_their_chunks() -> None:
    ranks = np.array([0.5, 0.3, 0.2, 0.0])
    entities = fast.select_entities(ranks, TRIANGLE, 128, 0.005)
    relations = fast.select_relations(entities, TRIANGLE, 64)
    assert relations == pytest.approx({0: 0.8, 2: 0.7, 1: 0.5})
    scores = fast.rank_chunks(entities, relations, TRIANGLE, mentions=False)
    assert scores == pytest.approx([0.8, 0.7, 0.5, 0])
    with_mentions = fast.rank_chunks(entities, relations, TRIANGLE, mentions=True)
    assert with_mentions == pytest.approx([0.8 + 0.4, 0.7 + 0.35, 0.5 + 0.25, 0])
    assert fast.select_relations(entities, TRIANGLE, 1) == pytest.approx({0: 0.8})


def test_an_entity_without_relations_leads_to_its_chunk() -> None:
    ranks = pagerank(TRIANGLE.ties, np.array([0.0, 0, 0, 1]), 0.85)
    entities = fast.select_entities(ranks, TRIANGLE, 128, None)
    assert entities == {3: 1.0}
    scores = fast.rank_chunks(entities, {}, TRIANGLE, mentions=True)
    assert scores.tolist() == [0, 0, 0, 1]
    assert not fast.rank_chunks(entities, {}, TRIANGLE, mentions=False).any(), "as in the code"


def test_the_first_row_is_somebody() -> None:
    # The code takes the index 0 for none.
    assert rows_of(["Anna"], TRIANGLE) == [0]
    ranks = pagerank(TRIANGLE.ties, fast.seed([{0: 1.0}], 4), 0.85)
    assert 0 in fast.select_entities(ranks, TRIANGLE, 128, None)
    assert 0 in fast.select_relations({0: 1.0}, TRIANGLE, 64)


def test_entities_are_kept_that_are_met_more_often_than_from_anywhere() -> None:
    ranks = np.array([0.5, 1 / 3, 0.1, 0.0])
    assert fast.select_entities(ranks, TRIANGLE, 128, None) == {0: 0.5}
    assert fast.select_entities(ranks, TRIANGLE, 128, 0.005) == {0: 0.5, 1: 1 / 3, 2: 0.1}


def test_leftovers_go_to_chunks_and_no_record_is_cut() -> None:
    # The code gives leftovers to entities first: 2 entities, 1 relation, no chunk.
    taken = fit_budgets([[60, 60], [10], [200]], [100, 100, 100])
    assert [len(positions) for positions in taken] == [1, 1, 1]
    assert fit_budgets([[50, 90, 40]], [100]) == [[0, 2]]


@for_each(
    ("k", "shares", "counts"),
    [
        # Without filling a context there are five or six hits: local once had no entity among them.
        (5, (0.1, 0.1), (1, 1, 3)),
        (6, (0.1, 0.25), (1, 2, 3)),
        (50, (0.1, 0.2), (5, 10, 35)),
        (100, (0.07, 0.29), (7, 29, 64)),
        (5, (0.0, 0.1), (0, 1, 4)),
    ],
)
def test_each_kind_of_record_has_its_share_even_of_few_hits(
    k: int, shares: tuple[float, float], counts: tuple[int, int, int]
) -> None:
    def hits(kind: str) -> list[Hit]:
        place: dict[str, Any] = {
            "document": "d",
            "title": "D",
            "language": "en",
            "section": "",
            "aspect": "",
        }
        return [
            Hit(
                f"{kind} {number:03}", kind, level=0, start=0, end=9, text=kind, tokens=1,
                score=1.0, **place,
            )
            for number in range(100)
        ]  # fmt: skip

    nothing: Any = None
    models, others = (nothing,) * 4, (nothing,) * 3
    tools = Tools(*models, Trace(), k, 10_000, *others)
    records = list(zip((hits("entity"), hits("relation")), shares, strict=True))
    joined = join_hits(records, hits("chunk"), Filters("c"), tools)
    kinds = [hit.kind for hit in joined]
    assert tuple(map(kinds.count, ("entity", "relation", "chunk"))) == counts


# light


def test_lists_by_turns() -> None:
    assert light.by_turns([[1, 2], [2, 3]]) == [1, 2, 3]
    assert light.by_turns([[], [4], [5, 6]]) == [4, 5, 6]
    assert light.by_turns([]) == []


def test_half_of_five_chunks_an_entity_are_picked_by_the_question() -> None:
    lists = [[1, 2, 3], [3, 4, 5], [6]]
    assert light.pick_chunks(lists, {5: 0, 2: 1}) == [5, 2, 3, 1, 4, 6]
    assert light.pick_chunks([[1, 2, 3]], {3: 0}) == [3, 1]


def test_a_rare_keyword_is_not_drowned_by_common_ones() -> None:
    common = {0: 0.9, 1: 0.8}
    assert light.weigh([common, common, {2: 0.7}], [1, 1, 4]) == [2, 0, 1]


def test_a_hub_of_500_relations_brings_ten() -> None:
    others = {f"x{n:03}": (f"X{n}", "c1") for n in range(500)}
    hub = network(
        {"hub": ("Hub", "c1"), **others},
        {f"r{n:03}": ("hub", f"x{n:03}", "c1") for n in range(500)},
    )
    own = [list(range(500))]
    scores = {row: float(row) for row in range(500)}
    assert light.limit_each(own, scores, 10) == list(range(499, 489, -1))
    assert len(light.by_degree(own, hub)) == 500, "as the code does"


def test_what_two_say_of_each_other_alone_tells_more_than_a_hubs() -> None:
    pair = network(
        {id: (id.upper(), "c1") for id in "abcdhi"},
        {
            "ab": ("a", "b", "c1"),
            **{f"h{n}": ("h", n, "c1") for n in "acd"},
            **{f"i{n}": ("i", n, "c1") for n in "acd"},
        },
    )
    telling = light.particularity(pair)
    row = pair.relations.row
    assert telling[row["ab"]] == pytest.approx(np.log(2) / np.log(3))
    assert telling[row["ab"]] > telling[row["hc"]] > telling[row["ha"]]


def test_how_strong_a_model_takes_a_relation_to_be_ranks_nothing() -> None:
    # 003 blames wrong weights of models for much of what LightRAG misses.
    assert "strength" not in read_statement("entities/find_links")
    two = network(
        {"a": ("Anna", "c1"), "b": ("Boris", "c1"), "c": ("Clara", "c2")},
        {"often": ("a", "b", "c1 c2 c3"), "once": ("a", "c", "c2")},
    )
    often, once = light.particularity(two)[[two.relations.row[id] for id in ("often", "once")]]
    assert often > once


def test_all_chunks_of_a_hero_count() -> None:
    # The code keeps 200 of them, the oldest.
    many = " ".join(f"c{at:03}" for at in range(300))
    hero = network({"a": ("Anna", many)}, {})
    assert hero.chunk_counts.tolist() == [300]
    assert "c299" in hero.chunks
    assert fast.rank_chunks({0: 1.0}, {}, hero, mentions=True).all()


# mini

SIX = network(
    {
        "s1": ("Anna", "c1 c2"),
        "s2": ("Boris", "c3"),
        "m": ("Mill", "c2 c4"),
        "n": ("Nora", "c5"),
        "t1": ("Oven", "c4"),
        "t2": ("Pier", "c6"),
    },
    {
        "r1": ("s1", "m", "c2"),
        "r2": ("m", "t1", "c4"),
        "r3": ("n", "s2", "c5"),
        "r4": ("n", "t2", "c6"),
    },
)
S1, S2, M, N, T1, T2 = (SIX.row[id] for id in ("s1", "s2", "m", "n", "t1", "t2"))


def pair(row: int, other: int) -> tuple[int, int]:
    return min(row, other), max(row, other)


def test_relations_near_names_and_answers_count_more() -> None:
    # Anna - Mill - Oven, and Boris - Nora - Pier: within one hop of each relation are its own
    # component's start and answer.
    edges = mini.weigh_edges({S1: 1.0, S2: 1.0}, {T1: 1.0, T2: 1.0}, SIX, 60, 1)
    assert edges == {pair(S1, M): 1, pair(M, T1): 1, pair(S2, N): 1, pair(N, T2): 1}
    # Without Pier as an answer, the second component has Boris alone.
    edges = mini.weigh_edges({S1: 1.0, S2: 1.0}, {T1: 1.0}, SIX, 60, 1)
    assert edges == {pair(S1, M): 1, pair(M, T1): 1, pair(S2, N): 0.5}
    assert len(mini.weigh_edges({S1: 1.0, S2: 1.0}, {T1: 1.0}, SIX, 2, 1)) == 2


def test_paths_from_names_to_answers_are_ranked_by_likeness_times_what_they_meet() -> None:
    starts, answers = {S1: 0.8, S2: 1.0}, {T1: 1.0, T2: 1.0}
    edges = mini.weigh_edges(starts, answers, SIX, 60, 1)
    ways = mini.rank_paths(starts, answers, edges, SIX, 30)
    assert [way.entities for way in ways] == [(S2, N, T2), (S1, M, T1)]
    assert [way.score for way in ways] == pytest.approx([1 * (1 + 1 + 2), 0.8 * (1 + 1 + 2)])
    scores = mini.rank_chunks(ways, SIX)
    # Anna's c1, her mill's c2 and the oven's c4; all of the other's.
    assert scores == pytest.approx([1.6, 1.6, 2, 1.6, 2, 2], abs=1e-6)
    assert scores[SIX.chunk_row["c4"]] > scores[SIX.chunk_row["c1"]], "more of the path is there"


def test_all_paths_count_for_chunks_whichever_comes_last() -> None:
    # The code ranks chunks by the last path alone, and raises all after the first that is near.
    starts, answers = {S1: 0.8, S2: 1.0}, {T1: 1.0, T2: 1.0}
    edges = mini.weigh_edges(starts, answers, SIX, 60, 1)
    ways = mini.rank_paths(starts, answers, edges, SIX, 30)
    scores = mini.rank_chunks(ways, SIX)
    assert scores.all()
    assert mini.rank_chunks(ways[::-1], SIX) == pytest.approx(scores)


def test_a_path_along_a_relation_that_counts_is_before_one_without() -> None:
    edges = {pair(S1, M): 1.0, pair(M, T1): 1.0}
    ways = mini.rank_paths({S1: 1.0, S2: 1.0}, {T1: 1.0, T2: 1.0}, edges, SIX, 30)
    assert [way.entities for way in ways] == [(S1, M, T1), (S2, N, T2)]


def test_the_direction_of_a_relation_does_not_matter() -> None:
    turned = network({"a": ("Anna", "c1"), "b": ("Boris", "c2")}, {"r": ("b", "a", "c2")})
    there = mini.weigh_edges({0: 1.0}, {1: 1.0}, turned, 60, 2)
    back = mini.weigh_edges({1: 1.0}, {0: 1.0}, turned, 60, 2)
    assert there == back == {(0, 1): 1.0}
    assert [way.score for way in mini.rank_paths({0: 1.0}, {1: 1.0}, there, turned, 9)] == [3.0]


def test_where_nothing_is_known_of_the_answer_paths_are_scored_all_the_same() -> None:
    edges = mini.weigh_edges({S1: 1.0}, {}, SIX, 60, 2)
    assert edges == {pair(S1, M): 1.0}
    ways = mini.rank_paths({S1: 1.0}, {}, edges, SIX, 30)
    assert [(way.entities, way.score) for way in ways] == [((S1, M), 2.0)]


def test_one_alone_has_no_path() -> None:
    alone = network({"a": ("Anna", "c1")}, {})
    assert mini.weigh_edges({0: 1.0}, {}, alone, 60, 2) == {}
    assert mini.rank_paths({0: 1.0}, {}, {}, alone, 30) == []


# local


def test_relations_among_the_selected_come_before_those_outwards() -> None:
    many = network(
        {id: (id.upper(), "c1") for id in "abcxyz"},
        {
            "ax": ("a", "x", "c1"),
            "ay": ("a", "y", "c1"),
            "by": ("b", "y", "c1"),
            "ab": ("a", "b", "c1"),
            "bc": ("b", "c", "c1"),
            "cz": ("c", "z", "c1"),
        },
    )
    names = [many.relations.ids[row] for row in local.rank_relations([0, 1], many, 10)]
    # ab is among them; y is reached from both, c and x from one, c being tied to more.
    assert names == ["ab", "ay", "by", "bc", "ax"]
    names = [many.relations.ids[row] for row in local.rank_relations([0, 1], many, 1)]
    assert names == ["ab", "ay", "by"]


def test_chunks_come_by_entity_those_with_most_of_its_relations_first() -> None:
    rows = local.rank_chunks([1, 3], {}, TRIANGLE)
    assert [TRIANGLE.chunks[row] for row in rows] == ["c1", "c3", "c4"]
    more = network(
        {"a": ("Anna", "c1 c2"), "b": ("Boris", "c2"), "c": ("Clara", "c2")},
        {"ab": ("a", "b", "c2"), "ac": ("a", "c", "c2")},
    )
    assert [more.chunks[row] for row in local.rank_chunks([0], {}, more)] == ["c2", "c1"]
    assert [more.chunks[row] for row in local.rank_chunks([0], {"c1": 0}, more)] == ["c2", "c1"]
    rows = local.rank_chunks([1, 3], {"c3": 0, "c1": 1}, TRIANGLE)
    assert [TRIANGLE.chunks[row] for row in rows] == ["c3", "c1", "c4"]
