"""When the next call may start, learned from what an endpoint answers and refuses: no clock here.

- *So many at once.* A call that is refused while as many are under way as were ever answered
  lowers the ceiling to those that are left; the ceiling rises by one after some answers, and the
  sooner it was wrong to, the more answers that takes: additive increase, exponential back-off.
- *So many a minute.* Calls that are refused one after the other close the endpoint for as long as
  it asks, then one call tries it, and the wait doubles until one is not refused. From then on calls
  start as far apart as they were taken from one opening to the next; each answer sets them a little
  closer, each refusal further apart (AIMD on the rate).
- *Refusals by chance.* Where calls that start further apart are refused as before, their rate is
  not why: the interval of before is back, and only more refusals in a row close the endpoint.
- *What the endpoint says.* No call starts where its headers say that nothing is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.models.stop import Stop

FIRST_WAIT, LONGEST_WAIT = 0.5, 16.0
"""Seconds to wait after a refusal, where the endpoint does not say or says too little."""
GRACE = 1.0
"""Seconds after which a call that was not refused counts as taken: refusals come at once."""
TRIP = 0.1
"""Seconds that a call takes to its endpoint, at most."""
FASTER, SLOWER = 0.0016, 0.05
"""How much closer each answer, and how much further apart each refusal sets the calls: in
balance, one call in 30 is refused."""
IN_A_ROW = 3
"""Refusals that close the endpoint; twice as many where refusals came by chance before."""
IN_VAIN = 3.0
"""Times the measured interval; if refusals go on, they come by chance, or it was wrong."""
FEW = 120
"""Calls within which so many refusals are no chance."""
ENOUGH = 40
"""Calls; a rate measured over fewer is too coarse."""


@dataclass(eq=False, slots=True)
class Call:
    """A call under way; `level` is how many were when it started, without those refused since.

    `cut` ends it before its time, if anything does.
    """

    started: float
    number: int
    level: int
    cut: Stop | None = None


class RateLimit:
    """Decides on starts; told of every start and end, with the time in seconds of any clock."""

    def __init__(self, most: int) -> None:
        self.most = self.ceiling = most
        self.interval = self._measured = 0.0
        """Seconds from one start to the next: now, and as taken between two openings."""
        self._measured_at = 0
        self._under_way: list[Call] = []
        self._started = 0
        self._last_start = self._lowered = -math.inf
        self._last_end = 0.0
        self._answered_at_once = 0
        self._answers_at_ceiling, self._answers_to_rise = 0, 1
        self._refused, self._in_a_row = -1, 0
        """Number of the last call that was refused, and how many were with those just before."""
        self._by_chance = False
        self._open_since, self._taken = 0.0, 0
        """When the endpoint opened, without idle time; calls since then that were not refused."""
        self._closed_until = -math.inf
        self._waited = 0.0
        """Seconds of the last wait while the endpoint is closed; 0 once it is open."""
        self._probe: Call | None = None
        """The call that tries whether it has opened."""
        self._is_real = False
        """Whether something tells this closure from chance."""

    @property
    def under_way(self) -> int:
        """How many calls have started and not ended."""
        return len(self._under_way)

    def wait(self, now: float) -> float:
        """Seconds until a call may start; 0 for now, infinity until one has ended."""
        if len(self._under_way) >= self.ceiling:
            return math.inf
        return max(0.0, self._next_turn() - now)

    def start(self, now: float) -> Call:
        """A call starts: to be called when `wait` gives 0."""
        if self._probe:
            self._open(self._probe)
        if not self._under_way:
            self._open_since += max(0.0, now - max(self._last_end, self._next_turn()))
        self._started += 1
        call = Call(now, self._started, len(self._under_way) + 1)
        self._under_way.append(call)
        self._taken += 1
        self._last_start = now
        if self._waited:
            self._probe = call
        return call

    def allowance(self, call: Call, left: float, reset: float) -> None:
        """The call's answer says how much was left for later ones, until `reset` seconds on.

        It was counted when the call arrived, however long the answer took; calls may overtake each
        other on the way.
        """
        arrived = call.started + TRIP
        if left <= sum(one.started > arrived for one in self._under_way):
            self._closed_until = max(self._closed_until, arrived + reset)

    def accepted(self, now: float, call: Call) -> None:
        """The call was answered."""
        if call is self._probe:
            self._open(call)
        self.failed(now, call)
        self._answered_at_once = max(self._answered_at_once, call.level)
        self.interval *= 1 - FASTER
        if call.level >= self.ceiling < self.most:
            self._answers_at_ceiling += 1
            if self._answers_at_ceiling >= self._answers_to_rise:
                self.ceiling += 1
                self._answers_at_ceiling = 0
                self._answers_to_rise = max(1, self._answers_to_rise // 2)

    def failed(self, now: float, call: Call) -> None:
        """The call ended in a way that says nothing of limits, or that was told already."""
        if call in self._under_way:
            self._under_way.remove(call)
            self._last_end = now

    def late(self, now: float, call: Call) -> None:
        """The call was not answered in time, as by a small server that is asked too much at once:
        half as many from now on, but calls that were under way then halve no more.
        """
        if call.started >= self._lowered:
            self._lower(now, call, self.ceiling // 2)
        self.failed(now, call)

    def refused(self, now: float, call: Call, after: float | None) -> None:
        """The call was refused, with `after` seconds to wait if the endpoint says so."""
        place = self._under_way.index(call)
        self.failed(now, call)
        for later in self._under_way[place:]:
            later.level -= 1
        self._taken -= 1
        if call.started < self._closed_until:
            return
        if not self._by_chance:
            self.interval *= 1 + SLOWER
            if self.interval > IN_VAIN * self._measured:
                if call.number - self._measured_at > FEW:
                    self.interval, self._by_chance = self._measured, True
                self._measured, self._measured_at = self.interval, call.number
        self._in_a_row = self._in_a_row + 1 if call.number == self._refused + 1 else 1
        self._refused = call.number
        if not self._under_way and not self._answered_at_once:
            # Nothing is answered, not even a call alone: how many there are is not why.
            self.ceiling = self.most
            self._close(now, after)
        elif self._under_way and call.level >= self._answered_at_once:
            self._lower(now, call, len(self._under_way))
        elif call is self._probe or self._in_a_row >= IN_A_ROW * (1 + self._by_chance):
            self._close(now, after)

    def _next_turn(self) -> float:
        apart = max(self.interval, GRACE if self._probe else 0.0)
        return max(self._closed_until, self._last_start + apart)

    def _lower(self, now: float, call: Call, ceiling: int) -> None:
        self.ceiling = max(1, min(self.ceiling, ceiling))
        self._answers_at_ceiling = 0
        if call.started >= self._lowered:
            self._lowered = now
            self._answers_to_rise = min(512, 4 * self._answers_to_rise)

    def _close(self, now: float, after: float | None) -> None:
        self._is_real |= self._waited > 0 or self._taken < ENOUGH or (after or 0.0) > 2 * GRACE
        again = self._waited > 0
        self._waited = min(LONGEST_WAIT, 2 * self._waited) if again else FIRST_WAIT
        if after is None:
            after = self._waited
        elif again:
            # It was too little the last time.
            after = max(after, self._waited)
        self._closed_until = now + after
        self._probe = None

    def _open(self, probe: Call) -> None:
        """The endpoint takes calls again: their rate is what it took since it opened before."""
        self._probe, self._waited = None, 0.0
        taken = self._taken - 1
        if taken >= ENOUGH and (self._is_real or not self._measured):
            self.interval = self._measured = (probe.started - self._open_since) / taken
            self._measured_at = probe.number
            self._by_chance = self._is_real = False
        if taken >= ENOUGH or not taken:
            self._open_since, self._taken = probe.started, 1
