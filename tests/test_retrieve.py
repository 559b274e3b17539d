"""Rankings put together: pure parts."""

from __future__ import annotations

from fabula.model import Hit
from fabula.retrieve.hybrid import weighted


def hits(**scores: float) -> list[Hit]:
    return [
        Hit(name, "chunk", "d", "T", "", "", 0, 0, 1, name, 1, score)
        for name, score in scores.items()
    ]


def test_a_passage_that_both_rankings_hold_high_wins() -> None:
    fused = weighted([(hits(a=9.0, b=8.0, c=1.0), 0.5), (hits(b=0.9, c=0.3, a=0.1), 0.5)], 3)
    assert [hit.id for hit in fused] == ["b", "a", "c"]


def test_scores_are_scaled_so_that_no_ranking_drowns_the_other() -> None:
    fused = weighted([(hits(a=1000.0, b=0.0), 0.4), (hits(b=0.02, a=0.01), 0.6)], 2)
    assert [(hit.id, hit.score) for hit in fused] == [("b", 0.6), ("a", 0.4)]


def test_a_passage_that_a_ranking_lacks_scores_nothing_there() -> None:
    fused = weighted([(hits(a=2.0, b=1.0), 0.7), (hits(c=0.8, b=0.2), 0.3)], 5)
    assert [(hit.id, hit.score) for hit in fused] == [("a", 0.7), ("c", 0.3), ("b", 0.0)]


def test_equal_scores_are_in_the_order_of_ids() -> None:
    assert [hit.id for hit in weighted([(hits(b=1.0, a=1.0), 1.0)], 2)] == ["a", "b"]


def test_one_empty_ranking_leaves_the_other() -> None:
    assert [hit.id for hit in weighted([([], 0.7), (hits(a=0.5), 0.3)], 5)] == ["a"]
