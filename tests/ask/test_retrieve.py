"""Rankings put together: pure parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fabula.ask.fusion import fuse_by_ranks, fuse_by_scores
from fabula.graph.hits import Hit
from fabula.text.ranking import bm25


def hits(**scores: float) -> list[Hit]:
    return [
        Hit(name, "chunk", "d", "T", "", "", "", 0, 0, 1, name, 1, score)
        for name, score in scores.items()
    ]


def test_a_passage_that_both_rankings_hold_high_wins() -> None:
    fused = fuse_by_scores([(hits(a=9.0, b=8.0, c=1.0), 0.5), (hits(b=0.9, c=0.3, a=0.1), 0.5)], 3)
    assert [hit.id for hit in fused] == ["b", "a", "c"]


def test_scores_are_scaled_so_that_no_ranking_drowns_the_other() -> None:
    fused = fuse_by_scores([(hits(a=1000.0, b=0.0), 0.4), (hits(b=0.02, a=0.01), 0.6)], 2)
    assert [(hit.id, hit.score) for hit in fused] == [("b", 0.6), ("a", 0.4)]


def test_a_passage_that_a_ranking_lacks_scores_nothing_there() -> None:
    fused = fuse_by_scores([(hits(a=2.0, b=1.0), 0.7), (hits(c=0.8, b=0.2), 0.3)], 5)
    assert [(hit.id, hit.score) for hit in fused] == [("a", 0.7), ("c", 0.3), ("b", 0.0)]


def test_equal_scores_are_in_the_order_of_ids() -> None:
    assert [hit.id for hit in fuse_by_scores([(hits(b=1.0, a=1.0), 1.0)], 2)] == ["a", "b"]


def test_one_empty_ranking_leaves_the_other() -> None:
    assert [hit.id for hit in fuse_by_scores([([], 0.7), (hits(a=0.5), 0.3)], 5)] == ["a"]


def test_ranks_alone_count_for_reciprocal_fusion() -> None:
    fused = fuse_by_ranks([hits(a=9.0, b=8.0, c=1.0), hits(c=0.9, a=0.3)], 3)
    assert [(hit.id, hit.score) for hit in fused] == [
        ("a", 1 / 61 + 1 / 62),
        ("c", 1 / 63 + 1 / 61),
        ("b", 1 / 62),
    ]


# Words


def by_words(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits by BM25, best first; word frequencies are those of the hits themselves."""
    words = set(re.findall(r"\w+", question.lower()))
    scores = bm25(words, [re.findall(r"\w+", hit.text.lower()) for hit in hits]).tolist()
    scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: (-hit.score, hit.id))


def said(**texts: str) -> list[Hit]:
    return [replace(hit, text=texts[hit.id]) for hit in hits(**dict.fromkeys(texts, 0.5))]


def test_rare_words_of_the_question_count_most_among_passages_at_hand() -> None:
    found = said(a="The old man slept.", b="The old chain rattled.", c="The old mill. The old sea.")
    ranked = by_words("What of the old CHAIN?", found)
    assert [hit.id for hit in ranked] == ["b", "c", "a"]
    assert ranked[0].score > 3 * ranked[1].score > 0


def test_a_word_said_twice_in_a_short_passage_counts_more_but_not_twice() -> None:
    once, twice = (
        by_words("mill", said(a=text, b="It rained."))[0].score
        for text in ("mill wood", "mill mill")
    )
    assert once < twice < 2 * once


def test_passages_without_the_questions_words_score_nothing() -> None:
    assert [hit.score for hit in by_words("?!", said(a="x", b=""))] == [0, 0]
    assert by_words("mill", []) == []


# Diversity
