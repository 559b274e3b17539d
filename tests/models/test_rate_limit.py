"""The rate limit keeps an endpoint busy, not hammered: simulated, in no time."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Protocol

import pytest

from cases import for_each
from fabula.models.rate_limit import Call, RateLimit

# An endpoint with limits and the callers that ask it, on a clock that needs no time.

TRIP = 0.004
"""Seconds there and back again, give or take."""


class Limit(Protocol):
    """What allows calls or not; `take` is asked in the order of arrival."""

    def take(self, now: float, cost: float) -> float:
        """0 for a call that is allowed; otherwise the seconds until one may be."""
        ...

    def left(self, now: float) -> tuple[float, float]:
        """What is left, and the seconds until all of it is there again: x-ratelimit-*."""
        ...


@dataclass
class Sliding:
    """At most `count` in the last `seconds`."""

    count: int
    seconds: float
    _taken: deque[tuple[float, float]] = field(default_factory=deque)
    _sum: float = 0.0

    def take(self, now: float, cost: float) -> float:
        self._drop(now)
        if self._sum + cost > self.count:
            return self._taken[0][0] + self.seconds - now
        self._taken.append((now, cost))
        self._sum += cost
        return 0.0

    def left(self, now: float) -> tuple[float, float]:
        self._drop(now)
        last = self._taken[-1][0] if self._taken else now - self.seconds
        return self.count - self._sum, last + self.seconds - now

    def _drop(self, now: float) -> None:
        while self._taken and self._taken[0][0] <= now - self.seconds:
            self._sum -= self._taken.popleft()[1]


@dataclass
class Fixed:
    """At most `count` in each stretch of `seconds`, the first of which began before."""

    count: int
    seconds: float
    began: float = -0.7
    """As a share of `seconds`."""
    spent: float = 0
    """Of the first stretch, by others."""
    _window: float = -math.inf
    _taken: float = 0

    def take(self, now: float, cost: float) -> float:
        left, seconds = self.left(now)
        if left < cost:
            return seconds
        self._taken += cost
        return 0.0

    def left(self, now: float) -> tuple[float, float]:
        window = math.floor(now / self.seconds - self.began)
        if window != self._window:
            self._taken = self.spent if self._window == -math.inf else 0
            self._window = window
        return self.count - self._taken, (window + 1 + self.began) * self.seconds - now


@dataclass
class Bucket:
    """`count` tokens in `seconds`, of which `full` are kept."""

    count: int
    seconds: float
    full: float
    _tokens: float = math.nan
    _at: float = 0.0

    def take(self, now: float, cost: float) -> float:
        left, _ = self.left(now)
        if left < cost:
            return (cost - left) * self.seconds / self.count
        self._tokens -= cost
        return 0.0

    def left(self, now: float) -> tuple[float, float]:
        held = self.full if math.isnan(self._tokens) else self._tokens
        rate = self.count / self.seconds
        self._tokens, self._at = min(self.full, held + (now - self._at) * rate), now
        return self._tokens, (self.full - self._tokens) / rate


RetryAfter = Literal["right", "one", "none"]


@dataclass
class World:
    """`callers` ask for `calls` replies in all, of `latency` seconds each, `at_once` at most."""

    rate_limit: RateLimit
    calls: int
    callers: int
    latency: float
    limit: Limit | None = None
    at_once: int = 10**9
    retry_after: RetryAfter = "none"
    seed: int = 1
    by_chance: float = 0.0
    """Share of calls that is refused whatever the limits are."""
    costs: tuple[float, float] = (1, 1)
    """What a call takes of the limit: between the two."""
    headers: bool = False
    """Whether answers and refusals tell what is left of the limit."""
    now: float = 0.0
    in_flight: int = 0
    answers: list[float] = field(default_factory=list)
    refusals: list[tuple[float, int]] = field(default_factory=list)
    """When, and how many were answered by then."""

    def run(self) -> World:
        """Until all is answered."""
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._turns = itertools.count()
        self._random = random.Random(self.seed)
        self._woken = math.inf
        self._left, self._idle = self.calls, self.callers
        while len(self.answers) < self.calls:
            self._begin()
            self.now, _, event = heapq.heappop(self._events)
            event()
            assert self.now < 1e6, "calls stopped"
        return self

    def _begin(self) -> None:
        while self._left and self._idle:
            wait = self.rate_limit.wait(self.now)
            if wait > 0:
                if self.now + wait < self._woken:
                    self._woken = self.now + wait
                    self._at(self._woken + 1e-6, partial(self._wake, self._woken))
                return
            call = self.rate_limit.start(self.now)
            self._left -= 1
            self._idle -= 1
            self._at(self.now + self._trip(), partial(self._arrive, call))

    def _arrive(self, call: Call) -> None:
        wait = 0.0
        if self.in_flight >= self.at_once:
            wait = 0.5
        elif self._random.random() < self.by_chance:
            wait = 0.05
        elif self.limit is not None:
            wait = self.limit.take(self.now, self._random.uniform(*self.costs))
        left = self.limit.left(self.now) if self.headers and self.limit else None
        if wait:
            after = {"right": wait, "one": 1.0, "none": None}[self.retry_after]
            if after is None and left is not None and left[0] < 1:
                after = left[1]
            self._at(self.now + self._trip(), lambda: self._refused(call, after))
            return
        self.in_flight += 1
        latency = self.latency * self._random.uniform(0.7, 1.3)
        self._at(self.now + latency, self._leave)
        self._at(self.now + latency + self._trip(), lambda: self._accepted(call, left))

    def _wake(self, due: float) -> None:
        if due == self._woken:
            self._woken = math.inf

    def _leave(self) -> None:
        self.in_flight -= 1

    def _accepted(self, call: Call, left: tuple[float, float] | None) -> None:
        if left is not None:
            self.rate_limit.allowance(call, *left)
        self.rate_limit.end_answered(self.now, call)
        self.answers.append(self.now)
        self._idle += 1

    def _refused(self, call: Call, after: float | None) -> None:
        self.rate_limit.end_refused(self.now, call, after)
        self.refusals.append((self.now, len(self.answers)))
        self._left += 1
        # Whoever was refused waits as long as was asked, whatever the others do.
        self._at(self.now + (after or 0.0), self._free)

    def _free(self) -> None:
        self._idle += 1

    def _trip(self) -> float:
        return TRIP / 2 * self._random.uniform(0.5, 1.5)

    def _at(self, when: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._turns), event))

    # What is asserted

    def refused_share(self, seconds: float = 0.0, calls: int = 500) -> float:
        """Of the calls sent once settled: after so many seconds or answers."""
        settled = min(seconds or math.inf, self.answers[min(calls, self.calls) - 1])
        refused = sum(when > settled for when, _ in self.refusals)
        answered = sum(when > settled for when in self.answers)
        return refused / max(1, refused + answered)


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


@for_each("retry_after", ["right", "one", "none"])
@for_each("latency", [0.5, 5.0])
def test_a_minute_that_others_have_spent_teaches_nothing(
    latency: float, retry_after: RetryAfter
) -> None:
    limit = Fixed(120, 60.0, began=0.0, spent=120)
    world = World(RateLimit(16), CALLS, 16, latency, limit, retry_after=retry_after).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * (1 + CALLS // 120) * 60


@for_each("retry_after", ["right", "one", "none"])
@for_each("limit", [Sliding, Fixed])
def test_a_limit_on_tokens_is_found_and_kept_whatever_a_call_takes(
    limit: type[Sliding | Fixed], retry_after: RetryAfter
) -> None:
    allows, costs = limit(200_000, 60.0), (500, 3500)
    world = World(RateLimit(16), CALLS, 16, 0.5, allows, retry_after=retry_after, costs=costs).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * CALLS * 2000 / 200_000 * 60


@for_each("retry_after", ["right", "none"])
@for_each("limit", [Bucket(60, 60.0, 60), Bucket(600, 60.0, 600)])
def test_a_bucket_of_tokens_is_emptied_as_fast_as_it_fills(
    limit: Bucket, retry_after: RetryAfter
) -> None:
    world = World(RateLimit(16), CALLS, 16, 0.5, replace(limit), 8, retry_after).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * CALLS * max(0.504 / 8, 1 if limit.count == 60 else 0.1)


@for_each("latency", [0.5, 5.0])
@for_each("limit", [Fixed(120, 60.0), Fixed(120, 60.0, 0.0, 120), Bucket(60, 60, 60)])
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


@for_each("retry_after", ["right", "none"])
@for_each("seed", [1, 2, 3])
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


@for_each("seconds", [(5, 5), (0.5, 0.8), (2, 20)])
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


@for_each(("seconds", "at_once"), [(100, 1), (40, 1), (25, 2), (10, 1)])
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
