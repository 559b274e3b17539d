"""Intervals, differences and corrections, against values that are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import erfc, sqrt
from statistics import fmean, stdev

import numpy as np
import pytest

from cases import for_each
from fabula_bench.statistics import Interval, Scores, difference, holm, mean

NAN = float("nan")


def named(texts: int, questions: int) -> list[str]:
    return [f"text {text}" for text in range(texts) for _ in range(questions)]


def test_equal_scores_leave_no_doubt() -> None:
    found = mean(np.full(12, 0.5), named(3, 4), seed=0)
    assert found is not None
    assert (found.mean, found.low, found.high) == (0.5, 0.5, 0.5)
    assert (found.questions, found.texts) == (12, 3)


def test_with_a_question_a_text_the_interval_is_the_textbooks() -> None:
    scores = np.random.default_rng(7).normal(size=400)
    found = mean(scores, named(400, 1), seed=0)
    assert found is not None
    half = 1.96 * scores.std(ddof=1) / sqrt(400)
    assert found.low == pytest.approx(scores.mean() - half, abs=0.01)
    assert found.high == pytest.approx(scores.mean() + half, abs=0.01)


def test_questions_that_agree_within_a_text_count_as_one() -> None:
    by_text = np.random.default_rng(7).normal(size=40)
    alone = mean(by_text, named(40, 1), seed=0)
    repeated = mean(np.repeat(by_text, 10), named(40, 10), seed=0)
    mixed = mean(np.tile(by_text, 10), named(40, 10), seed=0)
    assert alone is not None and repeated is not None and mixed is not None
    assert repeated.high - repeated.low == pytest.approx(alone.high - alone.low, rel=0.05)
    assert mixed.high - mixed.low < 0.6 * (alone.high - alone.low)


# How alike questions about one text are: a half is the text's own.
ALIKE = 0.5
TEXTS, QUESTIONS, TRIALS = 40, 5, 300


def draws(seed: int) -> Iterator[Scores]:
    """Scores around 0 with a variance of 1, of which a share is the text's own."""
    draw = np.random.default_rng(seed)
    for _ in range(TRIALS):
        own = np.repeat(draw.normal(scale=sqrt(ALIKE), size=TEXTS), QUESTIONS)
        yield own + draw.normal(scale=sqrt(1 - ALIKE), size=TEXTS * QUESTIONS)


def holds_in_95_of_100(intervals: Iterable[Interval | None]) -> None:
    """In 91 to 98 % of so few trials, and as wide as the means are apart."""
    found = [interval for interval in intervals if interval is not None]
    assert len(found) == TRIALS
    held = fmean(one.low <= 0 <= one.high for one in found)
    assert 0.91 <= held <= 0.98
    wide = fmean(one.high - one.low for one in found)
    assert wide == pytest.approx(2 * 1.96 * stdev(one.mean for one in found), rel=0.1)


def test_the_interval_of_a_mean_holds_the_truth_in_95_of_100_cases_no_less_and_no_more() -> None:
    texts = named(TEXTS, QUESTIONS)
    holds_in_95_of_100(mean(scores, texts, seed) for seed, scores in enumerate(draws(3)))


def test_the_interval_of_a_difference_holds_the_truth_in_95_of_100_cases() -> None:
    texts = named(TEXTS, QUESTIONS)
    pairs = zip(draws(3), draws(4), draws(5), strict=True)
    # What makes a question hard for both systems is in neither's favour.
    found = (
        difference(one + hard, other + hard, texts, seed)
        for seed, (one, other, hard) in enumerate(pairs)
    )
    holds_in_95_of_100(one.interval if one else None for one in found)


def test_texts_weigh_as_much_as_they_have_questions_in_any_order() -> None:
    texts = ["b", "a", "b", "b"]
    found = mean(np.array([1.0, 0.0, 1.0, 1.0]), texts, seed=0)
    assert found is not None
    assert (found.mean, found.low, found.high) == (0.75, 0.0, 1.0)
    assert mean(np.array([0.0, 1.0, 1.0, 1.0]), ["a", "b", "b", "b"], seed=0) == found


def test_the_same_seed_gives_the_same_numbers() -> None:
    scores = np.random.default_rng(1).random(30)
    assert mean(scores, named(15, 2), seed=1) == mean(scores, named(15, 2), seed=1)
    assert mean(scores, named(15, 2), seed=1) != mean(scores, named(15, 2), seed=2)


def test_what_has_no_score_is_left_out() -> None:
    found = mean(np.array([1.0, NAN, 0.0]), ["a", "b", "c"], seed=0)
    assert found is not None
    assert (found.mean, found.questions, found.texts) == (0.5, 2, 2)
    assert mean(np.array([NAN]), ["a"], seed=0) is None
    assert mean(np.array([]), [], seed=0) is None
    assert difference(np.array([NAN, 1.0]), np.array([1.0, NAN]), ["a", "b"], seed=0) is None


def test_scores_and_texts_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="one a question"):
        mean(np.zeros(3), ["a"], seed=0)


def test_a_difference_is_of_the_questions_that_both_answered() -> None:
    scores = np.array([1.0, 1.0, NAN, 0.0])
    baseline = np.array([0.5, 0.5, 0.0, NAN])
    found = difference(scores, baseline, ["a", "b", "c", "d"], seed=0)
    assert found is not None
    assert (found.interval.mean, found.interval.questions) == (0.5, 2)


@for_each("texts", [1, 3, 5, 8])
def test_always_better_by_the_same_is_as_sure_as_the_number_of_texts_lets_it_be(
    texts: int,
) -> None:
    found = difference(np.ones(4 * texts), np.zeros(4 * texts), named(texts, 4), seed=0)
    assert found is not None
    assert found.p == 2 ** (1 - texts)


def test_the_p_value_counts_all_flips_of_signs() -> None:
    # Of the eight sums +-1 +-2 +-3, 6 and -6 are as far from 0 as 6, and 4 and -4 are not.
    found = difference(np.array([1.0, 2.0, 3.0]), np.zeros(3), ["a", "b", "c"], seed=0)
    assert found is not None and found.p == 2 / 8
    # 1 + 2 - 3 = 0: every sum is as far.
    found = difference(np.array([1.0, 2.0, -3.0]), np.zeros(3), ["a", "b", "c"], seed=0)
    assert found is not None and found.p == 1.0


def test_many_texts_give_the_p_value_of_the_normal_distribution() -> None:
    differences = np.random.default_rng(5).normal(0.15, 1, size=200)
    found = difference(differences, np.zeros(200), named(200, 1), seed=0)
    reverse = difference(-differences, np.zeros(200), named(200, 1), seed=0)
    assert found is not None and reverse is not None
    distance = abs(differences.sum()) / sqrt(float((differences**2).sum()))
    assert found.p == pytest.approx(erfc(distance / sqrt(2)), abs=0.015)
    assert reverse.p == found.p


def test_holm_raises_p_values_by_their_rank() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.5, 0.6]) == (1.0, 1.0)
    assert holm([0.04]) == (0.04,)
    assert holm([]) == ()
