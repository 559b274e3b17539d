"""Rankings put together: pure parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabula.model import Hit, Vector
from fabula.retrieve.adaptive import ENOUGH, Frontier
from fabula.retrieve.diversity import diverse
from fabula.retrieve.fusion import by_ranks, by_scores


def hits(**scores: float) -> list[Hit]:
    return [
        Hit(name, "chunk", "d", "T", "", "", 0, 0, 1, name, 1, score)
        for name, score in scores.items()
    ]


def test_a_passage_that_both_rankings_hold_high_wins() -> None:
    fused = by_scores([(hits(a=9.0, b=8.0, c=1.0), 0.5), (hits(b=0.9, c=0.3, a=0.1), 0.5)], 3)
    assert [hit.id for hit in fused] == ["b", "a", "c"]


def test_scores_are_scaled_so_that_no_ranking_drowns_the_other() -> None:
    fused = by_scores([(hits(a=1000.0, b=0.0), 0.4), (hits(b=0.02, a=0.01), 0.6)], 2)
    assert [(hit.id, hit.score) for hit in fused] == [("b", 0.6), ("a", 0.4)]


def test_a_passage_that_a_ranking_lacks_scores_nothing_there() -> None:
    fused = by_scores([(hits(a=2.0, b=1.0), 0.7), (hits(c=0.8, b=0.2), 0.3)], 5)
    assert [(hit.id, hit.score) for hit in fused] == [("a", 0.7), ("c", 0.3), ("b", 0.0)]


def test_equal_scores_are_in_the_order_of_ids() -> None:
    assert [hit.id for hit in by_scores([(hits(b=1.0, a=1.0), 1.0)], 2)] == ["a", "b"]


def test_one_empty_ranking_leaves_the_other() -> None:
    assert [hit.id for hit in by_scores([([], 0.7), (hits(a=0.5), 0.3)], 5)] == ["a"]


def test_ranks_alone_count_for_reciprocal_fusion() -> None:
    fused = by_ranks([hits(a=9.0, b=8.0, c=1.0), hits(c=0.9, a=0.3)], 3)
    assert [(hit.id, hit.score) for hit in fused] == [
        ("a", 1 / 61 + 1 / 62),
        ("c", 1 / 63 + 1 / 61),
        ("b", 1 / 62),
    ]


# Diversity


def test_a_near_duplicate_waits_until_what_is_new_was_said() -> None:
    vectors = {"a": unit(1, 0), "b": unit(0.99, 0.1), "c": unit(0, 1)}
    found = hits(a=1.0, b=0.99, c=0.5)
    assert [hit.id for hit in diverse(found, vectors, 0.5, 3)] == ["a", "c", "b"]
    assert [hit.id for hit in diverse(found, vectors, 0.0, 2)] == ["a", "b"]
    assert diverse([], {}, 0.5, 3) == []


def unit(*numbers: float) -> Vector:
    row = np.array(numbers, np.float32)
    return row / np.linalg.norm(row)


# When to stop going down


def summaries(**scores: float) -> list[Hit]:
    return [replace(hit, kind="summary", level=1) for hit in hits(**scores)]


def test_the_best_that_are_closed_are_opened_next() -> None:
    frontier = Frontier({hit.id: hit for hit in summaries(a=0.5, b=0.4, c=0.3)})
    assert [hit.id for hit in frontier.next(2)] == ["a", "b"]
    frontier.open(frontier.found["a"], hits(d=0.7))
    assert [hit.id for hit in frontier.next(2)] == ["b", "c"], "chunks are not opened"
    assert [hit.id for hit in frontier.best()] == ["d", "a", "b", "c"]


def test_what_could_not_reach_the_best_is_left_closed() -> None:
    frontier = Frontier({hit.id: hit for hit in summaries(far=0.1, near=0.75)})
    frontier.found |= {hit.id: hit for hit in hits(**{f"c{n}": 0.8 for n in range(ENOUGH)})}
    # What was opened gained 0.1: that takes one of them to 0.8, and the other nowhere near.
    assert [hit.id for hit in frontier.next(5)] == ["near"]


def test_openings_that_gain_much_keep_more_doors_open() -> None:
    frontier = Frontier({hit.id: hit for hit in summaries(far=0.2, opened=0.2)})
    frontier.found |= {hit.id: hit for hit in hits(**{f"c{n}": 0.8 for n in range(ENOUGH)})}
    assert frontier.next(5) == []
    frontier.open(frontier.found["opened"], hits(d=0.9))
    frontier.open(frontier.found["opened"], hits(e=0.95))
    assert [hit.id for hit in frontier.next(5)] == ["far"]
