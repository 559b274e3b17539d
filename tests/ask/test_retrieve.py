"""Rankings put together: pure parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabula.ask.diversity import select_diverse
from fabula.ask.fusion import by_ranks, by_scores
from fabula.ask.words import by_words
from fabula.graph.hits import Hit
from fabula.graphs.aspects.ids import summary_id
from fabula.graphs.aspects.modes.adaptive import ENOUGH, Frontier
from fabula.text.document import Vector


def hits(**scores: float) -> list[Hit]:
    return [
        Hit(name, "chunk", "d", "T", "", "", "", 0, 0, 1, name, 1, score)
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


# Words


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


def test_a_near_duplicate_waits_until_what_is_new_was_said() -> None:
    vectors = {"a": unit(1, 0), "b": unit(0.99, 0.1), "c": unit(0, 1)}
    found = hits(a=1.0, b=0.99, c=0.5)
    assert [hit.id for hit in select_diverse(found, vectors, 0.5, 3)] == ["a", "c", "b"]
    assert [hit.id for hit in select_diverse(found, vectors, 0.0, 2)] == ["a", "b"]
    assert select_diverse([], {}, 0.5, 3) == []


def unit(*numbers: float) -> Vector:
    row = np.array(numbers, np.float32)
    return row / np.linalg.norm(row)


# When to stop going down


def summaries(**scores: float) -> list[Hit]:
    """Summaries of chunks, each of other ones."""
    return [
        replace(hit, kind="summary", level=1, start=place)
        for place, hit in enumerate(hits(**scores))
    ]


def test_the_best_that_are_closed_are_opened_next() -> None:
    frontier = Frontier({hit.id: hit for hit in summaries(a=0.5, b=0.4, c=0.3)})
    assert [hit.id for hit in frontier.next(2)] == ["a", "b"]
    frontier.open(frontier.found["a"], hits(d=0.7))
    assert [hit.id for hit in frontier.next(2)] == ["b", "c"], "chunks are not opened"
    assert [hit.id for hit in frontier.best()] == ["d", "a", "b", "c"]


def resting_on(members: str, aspect: str, summary: Hit) -> Hit:
    return replace(summary, id=summary_id("d", aspect, 1, members), aspect=aspect, start=0)


def test_of_two_summaries_of_the_same_chunks_one_is_opened() -> None:
    plot, theme, other = summaries(plot=0.5, theme=0.45, other=0.3)
    plot, theme = resting_on("cd", "plot", plot), resting_on("cd", "theme", theme)
    frontier = Frontier({hit.id: hit for hit in (plot, theme, other)})
    assert frontier.next(5) == [plot, other]
    frontier.open(plot, hits(d=0.6, c=0.5))
    assert frontier.next(5) == [other]
    higher = [replace(one, level=2) for one in (plot, theme)]
    frontier = Frontier({hit.id: hit for hit in higher})
    assert len(frontier.next(5)) == 2, "above the chunks each aspect has members of its own"


def test_clusters_that_span_the_same_text_with_other_chunks_are_both_opened() -> None:
    plot, theme = summaries(plot=0.5, theme=0.45)
    plot, theme = resting_on("ae", "plot", plot), resting_on("ace", "theme", theme)
    frontier = Frontier({hit.id: hit for hit in (plot, theme)})
    frontier.open(plot, hits(a=0.6, e=0.5))
    assert frontier.next(5) == [theme]
    frontier.open(theme, hits(a=0.6, c=0.55, e=0.5))
    assert frontier.next(5) == []


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
