"""The rate limit keeps an endpoint busy, not hammered: simulated, in no time."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cases import for_each
from fabula.models.rate_limit import Call, RateLimit
from simulated import TRIP, Bucket, Fixed, RetryAfter, Sliding, World

REFUSED = 0.05
TIMES = 1.5
CALLS = 1500


@for_each("retry_after", ["right", "one", "none"])
@for_each("latency", [0.05, 0.5, 5.0])
@for_each("callers", [16, 64])
def test_a_limit_on_calls_at_once_is_found_and_kept(
    retry_after: RetryAfter, latency: float, callers: int
) -> None:
    world = World(RateLimit(callers), CALLS, callers, latency, None, 8, retry_after).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * CALLS * (latency + TRIP) / 8 + latency


@for_each("retry_after", ["right", "one", "none"])
@for_each("at_once", [8, 1000])
@for_each("limit", [Sliding, Fixed])
def test_a_limit_by_the_minute_is_found_and_kept(
    limit: type[Sliding | Fixed], at_once: int, retry_after: RetryAfter
) -> None:
    allows = limit(120, 60.0)
    world = World(RateLimit(16), CALLS, 16, 0.5, allows, at_once, retry_after).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * (CALLS // 120) * 60


@pytest.mark.parametrize("retry_after", ["right", "one", "none"])
@pytest.mark.parametrize("latency", [0.5, 5.0])
def test_a_minute_that_others_have_spent_teaches_nothing(
    latency: float, retry_after: RetryAfter
) -> None:
    limit = Fixed(120, 60.0, began=0.0, spent=120)
    world = World(RateLimit(16), CALLS, 16, latency, limit, retry_after=retry_after).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * (1 + CALLS // 120) * 60


@pytest.mark.parametrize("retry_after", ["right", "one", "none"])
@pytest.mark.parametrize("limit", [Sliding, Fixed])
def test_a_limit_on_tokens_is_found_and_kept_whatever_a_call_takes(
    limit: type[Sliding | Fixed], retry_after: RetryAfter
) -> None:
    allows, costs = limit(200_000, 60.0), (500, 3500)
    world = World(RateLimit(16), CALLS, 16, 0.5, allows, retry_after=retry_after, costs=costs).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * CALLS * 2000 / 200_000 * 60


@pytest.mark.parametrize("retry_after", ["right", "none"])
@pytest.mark.parametrize("limit", [Bucket(60, 60.0, 60), Bucket(600, 60.0, 600)])
def test_a_bucket_of_tokens_is_emptied_as_fast_as_it_fills(
    limit: Bucket, retry_after: RetryAfter
) -> None:
    world = World(RateLimit(16), CALLS, 16, 0.5, replace(limit), 8, retry_after).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * CALLS * max(0.504 / 8, 1 if limit.count == 60 else 0.1)


@pytest.mark.parametrize("latency", [0.5, 5.0])
@pytest.mark.parametrize(
    "limit", [Fixed(120, 60.0), Fixed(120, 60.0, 0.0, 120), Bucket(60, 60, 60)]
)
def test_few_calls_are_refused_from_the_first_on_where_answers_say_what_is_left(
    limit: Fixed | Bucket, latency: float
) -> None:
    world = World(RateLimit(16), CALLS, 16, latency, replace(limit), headers=True).run()
    assert len(world.refusals) <= REFUSED * CALLS
    assert world.now <= TIMES * (1 + CALLS // limit.count) * 60


@for_each("share", [0.01, 0.02, 0.03])
@for_each("retry_after", ["right", "none"])
@for_each(("callers", "latency"), [(16, 0.5), (16, 0.05), (64, 0.5)])
def test_a_refusal_now_and_then_is_no_limit(
    share: float, retry_after: RetryAfter, callers: int, latency: float
) -> None:
    world = World(
        RateLimit(callers), CALLS, callers, latency, by_chance=share, retry_after=retry_after
    ).run()
    assert world.now <= TIMES * CALLS * (latency + TRIP) / callers


@pytest.mark.parametrize("retry_after", ["right", "none"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_refusals_by_chance_slow_calls_and_starve_none(
    seed: int, retry_after: RetryAfter
) -> None:
    world = World(
        RateLimit(16), 5000, 16, 0.5, by_chance=0.1, retry_after=retry_after, seed=seed
    ).run()
    assert world.now <= 2 * 5000 * (0.5 + TRIP) / 16


def test_an_endpoint_without_limits_is_not_slowed() -> None:
    rate_limit = RateLimit(16)
    world = World(rate_limit, CALLS, 16, 0.05).run()
    assert (rate_limit.ceiling, rate_limit.interval, world.refusals) == (16, 0.0, [])


def test_what_the_endpoint_asks_for_is_waited_by_all_once_three_in_a_row_were_refused() -> None:
    rate_limit = RateLimit(16)
    calls = [rate_limit.start(0.0) for _ in range(16)]
    for call in calls:
        rate_limit.end_answered(0.5, call)
    for now in (1.0, 2.0, 3.0):
        assert rate_limit.wait(now) == 0
        rate_limit.end_refused(now + 0.1, rate_limit.start(now), 30.0)
    assert rate_limit.wait(3.1) == pytest.approx(30)
    assert rate_limit.wait(33.2) == 0


def test_time_in_which_nobody_asks_is_no_slow_rate() -> None:
    rate_limit = RateLimit(16)
    for n in range(50):
        rate_limit.end_answered(60.0 * n + 1, rate_limit.start(60.0 * n))
    while rate_limit.wait(3000.0) == 0:
        rate_limit.end_refused(3000.0, rate_limit.start(3000.0), None)
    rate_limit.end_answered(3002.0, rate_limit.start(3001.0))
    assert 0 < rate_limit.interval < 2


# Servers that work on one call at a time


class Served:
    """A server with some slots, whose other calls wait, and what its callers see of it."""

    def __init__(self, slots: int, callers: int, seconds: Sequence[float]) -> None:
        self.rate_limit = RateLimit(callers)
        self.under_way: list[int] = []
        """How many calls were under way when each was answered."""
        ends: list[tuple[float, int, Call]] = []
        free, now = [0.0] * slots, 0.0
        for length in seconds:
            while (wait := self.rate_limit.wait(now)) > 0:
                if math.isinf(wait):
                    now = self._answer(ends)
                else:
                    now += wait
            call = self.rate_limit.start(now)
            slot = min(range(slots), key=free.__getitem__)
            free[slot] = max(free[slot], now) + length
            heapq.heappush(ends, (free[slot], call.number, call))
        while ends:
            self._answer(ends)

    def _answer(self, ends: list[tuple[float, int, Call]]) -> float:
        end, _, call = heapq.heappop(ends)
        self.under_way.append(self.rate_limit.under_way)
        self.rate_limit.end_answered(end, call)
        return end


def lengths(least: float, most: float, count: int = 200) -> list[float]:
    draw = random.Random(3)
    return [draw.uniform(least, most) for _ in range(count)]


@pytest.mark.parametrize("seconds", [(5, 5), (0.5, 0.8), (2, 20)])
def test_a_server_with_one_slot_is_sent_two_calls_at_once(seconds: tuple[float, float]) -> None:
    served = Served(1, 16, lengths(*seconds))
    assert served.rate_limit.is_serial
    assert served.under_way[:8] == [16] * 8, "nothing is known of it at first"
    assert max(served.under_way[-150:]) == 2


@for_each("slots", [4, 8, 16])
@for_each("seconds", [(5, 5), (0.01, 0.02), (2, 20), (0.1, 60)])
def test_a_server_with_several_slots_is_not_taken_for_one(
    slots: int, seconds: tuple[float, float]
) -> None:
    served = Served(slots, 16, lengths(*seconds))
    assert served.rate_limit.ceiling == 16
    assert not served.rate_limit.is_serial


def test_an_answer_that_overtakes_another_call_shows_that_there_are_more_slots() -> None:
    limit = Served(1, 16, lengths(5, 5)).rate_limit
    first, second = limit.start(2000), limit.start(2001)
    limit.end_answered(2003, second)
    limit.end_answered(2005, first)
    assert (limit.is_serial, limit.ceiling) == (False, 16)


@pytest.mark.parametrize(("seconds", "at_once"), [(100, 1), (40, 1), (25, 2), (10, 1)])
def test_after_late_calls_no_more_are_sent_than_are_answered_in_half_of_the_time(
    seconds: float, at_once: int
) -> None:
    limit, timeout = RateLimit(16), 120.0
    calls = [limit.start(0.0) for _ in range(16)]
    answered = int(timeout / seconds)
    for number, call in enumerate(calls[:answered], 1):
        limit.end_answered(number * seconds, call)
    for call in calls[answered:]:
        limit.end_late(timeout, call)
    assert limit.ceiling == at_once
