"""An endpoint with limits and the callers that ask it, on a clock that needs no time."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Protocol

from fabula.models.rate_limit import Call, RateLimit

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
