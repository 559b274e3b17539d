"""When the next call may start, learned from the answers and refusals of an endpoint.

The class has no clock and no threads: `limiter` tells it the time and what happened.

- *Concurrency.* A call that is refused while at least as many are under way as were ever answered
  lowers the ceiling to those that are left. Answers at the ceiling raise it again (additive
  increase).
- *Rate.* Calls that are refused one after the other close the endpoint for as long as it asks, or
  for twice as long each time (exponential back-off), until a call is accepted again. The rate at
  which calls were accepted until then is where the interval between two starts begins. From then on
  every answer shortens it a little, and every refusal makes it longer (AIMD on the rate).
- *Random refusals.* If refusals go on though calls start much further apart, the rate is not the
  reason. The measured interval is restored, and refusals do not change it until the endpoint
  closes.
- *One after another.* A server that works on one call at a time, as those on a desk do, refuses
  none: calls wait there, until the last ones are late. It is recognised by its answers, which come
  in the order of the calls, each as much later than the one before as a call takes. Then two calls
  are sent at once: one to work on and one that waits, so that a question need not wait for a queue.
  An answer that overtakes an older call shows that this was an error.
- *Late calls.* After a call that was not answered in time, no more are sent at once than would
  have been answered in half of that time.
- *Headers.* No call starts while the endpoint's headers say that nothing is left.

tests/models/test_rate_limit.py simulates endpoints with such limits, and states how close to the
ideal time this has to come.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.models.stop import Stop

FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.5, 16.0
"""The wait while the endpoint is closed, if it does not say how long, or says too little."""
PROBE_SECONDS = 1.0
"""The time between two starts until a call is accepted after a closure."""
TRIP_SECONDS = 0.1
"""The longest time that a request takes to reach the endpoint."""
ANSWER_FACTOR, REFUSAL_FACTOR = 1 - 0.0016, 1 + 0.05
"""How an answer and a refusal change the interval; they balance if one call in 30 is refused."""
CEILING_STEP = 1 / 50
"""How much an answer at the ceiling raises it. At a fixed limit, one call in 50 is refused."""
REFUSALS_TO_CLOSE = 3
"""Refusals one after the other that close the endpoint; twice as many if they are random."""
RANDOM_FACTOR = 3.0
"""If the interval grows to this multiple of the measured one, refusals are random."""
MIN_MEASURED_CALLS = 40
"""A rate measured over fewer accepted calls is too inaccurate."""


SERIAL_RUN = 8
"""Answers one after another that show a server which works on one call at a time."""
MIN_SERIAL_LEVEL, SERIAL_LEVEL = 3, 2
"""From how many calls under way answers show that, and how many such a server is sent at once."""
MIN_SERIAL_SECONDS = 2.0
"""Shorter waits need no remedy, and may come from this machine."""
MIN_WAIT_FACTOR, MIN_GAP_FACTOR = 2.0, 0.5
"""At such a server a call waits for several others, and answers are a whole call's time apart: as
multiples of the time of the fastest call."""


@dataclass(eq=False, slots=True)
class Call:
    """A call under way.

    Attributes:
        started: When it started, in seconds.
        number: Its number among all calls.
        level: How many calls were under way when it started, itself included and those that were
            refused since excluded; 0 if that does not matter any more.
        cut: Ends the call early when it is set.
        is_shared: Whether another call was under way at any time of it.
    """

    started: float
    number: int
    level: int
    cut: Stop | None = None
    is_shared: bool = False


class RateLimit:
    """Decides when calls start; it has to be told of every start and end of a call.

    All times are in seconds, of any one clock.
    """

    def __init__(self, most: int) -> None:
        """Begin without knowing a limit; `most` is the most calls at once."""
        self.most = most
        self.interval = 0.0
        """The time from one start to the next."""
        self._measured = 0.0
        """The interval as it was measured last; 0 before that, and while refusals are random."""
        self._open_since, self._accepted = 0.0, 0
        """When the endpoint opened, later by idle times, and the calls not refused since then."""
        self._ceiling: float = most
        self._max_answered_level = 0
        self._under_way: list[Call] = []
        self._started = 0
        self._last_start, self._last_end = -math.inf, 0.0
        self.is_serial = False
        """Whether the endpoint seems to work on one call at a time."""
        self._in_turn = 0
        """How many answers in a row came one after another."""
        self._fastest, self._last_answer = math.inf, -math.inf
        """The seconds of the fastest call, and when the last one was answered."""
        self._answers: list[float] = []
        """When the last calls were answered, as many as may be under way."""
        self._last_refused, self._refused_in_a_row = -1, 0
        """The number of the last refused call, and how many were refused with those before it."""
        self._closed_until = -math.inf
        self._waited = 0.0
        """The last wait of this closure; 0 while the endpoint is open."""

    @property
    def ceiling(self) -> int:
        """The most calls at once for now."""
        return int(self._ceiling)

    @property
    def under_way(self) -> int:
        """The number of calls that have started and not ended."""
        return len(self._under_way)

    def wait(self, now: float) -> float:
        """Return the seconds until a call may start: 0 for now, infinity until one has ended."""
        if len(self._under_way) >= self.ceiling:
            return math.inf
        return max(0.0, self._next_start() - now)

    def start(self, now: float) -> Call:
        """Start a call; `wait` has to return 0 before."""
        if not self._under_way:
            # Idle time is no sign of a slow endpoint.
            self._open_since += max(0.0, now - max(self._last_end, self._next_start()))
        self._started += 1
        call = Call(now, self._started, len(self._under_way) + 1, is_shared=bool(self._under_way))
        for earlier in self._under_way:
            earlier.is_shared = True
        self._under_way.append(call)
        self._accepted += 1
        self._last_start = now
        return call

    def allowance(self, call: Call, left: float, reset: float) -> None:
        """Take over the limits that the headers of a reply state.

        Args:
            call: The call. The endpoint counted what was left when it arrived, however long the
                answer took, and calls may overtake each other on the way.
            left: How many calls or tokens were left after it.
            reset: The seconds from then until all are there again.
        """
        arrived = call.started + TRIP_SECONDS
        # Calls that started later are not in the endpoint's count yet: they will use up what was
        # left.
        if left <= sum(later.started > arrived for later in self._under_way):
            self._closed_until = max(self._closed_until, arrived + reset)

    def end_answered(self, now: float, call: Call) -> None:
        """End a call that was answered."""
        # Before the call is taken from the list, which the order of answers is compared with.
        self._note_turn(now, call)
        self.end_call(now, call)
        # An answer to a call from before the closure says nothing about the endpoint of now.
        if self._waited and call.started >= self._closed_until:
            self._open(call)
        # A little faster with each answer, in proportion: endpoints differ by orders of magnitude.
        self.interval *= ANSWER_FACTOR
        self._max_answered_level = max(self._max_answered_level, call.level)
        most = SERIAL_LEVEL if self.is_serial else self.most
        # Only a call that used the whole ceiling shows that there may be room above it.
        if call.level >= self.ceiling and self._ceiling < most:
            self._ceiling = min(self._ceiling + CEILING_STEP, most)

    def _note_turn(self, now: float, call: Call) -> None:
        """Note whether an answer came in its turn, and what that says of the endpoint."""
        seconds, gap = now - call.started, now - self._last_answer
        # As many as `late` can need: no more calls than that were ever under way at once.
        self._answers = [*self._answers[-self.most :], now]
        self._last_answer = now
        # Calls that started together may have changed their order on the way.
        is_overtaking = any(
            earlier.started < call.started - TRIP_SECONDS for earlier in self._under_way
        )
        if is_overtaking:
            self._in_turn = 0
            if self.is_serial:
                self.is_serial, self._ceiling = False, self.most
        elif call.level >= MIN_SERIAL_LEVEL:
            waited = seconds >= max(MIN_SERIAL_SECONDS, MIN_WAIT_FACTOR * self._fastest)
            is_in_turn = waited and gap >= MIN_GAP_FACTOR * self._fastest
            self._in_turn = self._in_turn + 1 if is_in_turn else 0
        self._fastest = min(self._fastest, seconds)
        if self._in_turn >= SERIAL_RUN and not self.is_serial:
            self.is_serial, self._ceiling = True, min(self._ceiling, SERIAL_LEVEL)

    def end_call(self, now: float, call: Call) -> None:
        """End a call that says nothing about limits, or that has ended before."""
        if call in self._under_way:
            self._under_way.remove(call)
            self._last_end = now

    def end_late(self, now: float, call: Call) -> None:
        """End a call that was not answered in time, as by a small server with too many at once.

        The ceiling is halved, or lowered to half of what was answered meanwhile if that is less,
        but only once for all calls that are under way.
        """
        if call.level > 0:
            answered = sum(answer > call.started for answer in self._answers)
            # Where nothing was answered at all, the number of calls need not be the reason.
            fitting = answered // 2 if answered else self.ceiling
            self._ceiling = max(1.0, min(self.ceiling // 2, fitting))
            # One overload makes all calls under way late. Each of them must not halve the ceiling.
            for later in self._under_way:
                later.level = 0
        self.end_call(now, call)

    def end_refused(self, now: float, call: Call, after: float | None) -> None:
        """End a call that was refused; `after` is the wait that the endpoint asks for, if any."""
        # Later calls were counted beside this one, which the endpoint did not take.
        index = self._under_way.index(call)
        self.end_call(now, call)
        for later in self._under_way[index:]:
            later.level -= 1
        self._accepted -= 1
        # It was sent before the last refusal was known here, and says nothing new.
        if call.started < self._closed_until:
            return
        in_a_row = call.number == self._last_refused + 1
        self._refused_in_a_row = self._refused_in_a_row + 1 if in_a_row else 1
        self._last_refused = call.number
        if self._under_way and call.level >= self._max_answered_level:
            self._ceiling = min(self._ceiling, len(self._under_way))
        elif not self._max_answered_level:
            # Not even a call alone is answered, so that the number of calls is not the reason.
            self._ceiling = self.most
            self._close(now, after)
        else:
            # Some endpoints refuse a share of all calls, however few there are. Then a longer
            # interval changes nothing, and twice as many refusals in a row are needed to close.
            self._slow_down()
            are_random = self.interval and not self._measured
            limit = REFUSALS_TO_CLOSE * (2 if are_random else 1)
            if self._waited or self._refused_in_a_row >= limit:
                self._close(now, after)

    def _next_start(self) -> float:
        interval = self.interval
        if self._waited and self._last_start >= self._closed_until:
            # A call tries whether the endpoint is open again; the next one waits for the result.
            interval = max(interval, PROBE_SECONDS)
        return max(self._closed_until, self._last_start + interval)

    def _slow_down(self) -> None:
        if self._measured:
            self.interval *= REFUSAL_FACTOR
            if self.interval > RANDOM_FACTOR * self._measured:
                self.interval, self._measured = self._measured, 0.0

    def _close(self, now: float, after: float | None) -> None:
        if self._waited:
            self._waited = min(MAX_WAIT_SECONDS, 2 * self._waited)
            # What the endpoint asked for was too little the last time.
            after = max(after or 0.0, self._waited)
        else:
            self._waited = FIRST_WAIT_SECONDS
        self._closed_until = now + (self._waited if after is None else after)

    def _open(self, call: Call) -> None:
        """Open the endpoint again, and measure the rate that it accepted since it opened before."""
        self._waited = 0.0
        # The call that found the endpoint open belongs to the next measurement.
        accepted = self._accepted - 1
        if accepted >= MIN_MEASURED_CALLS:
            if not self._measured:
                self.interval = self._measured = (call.started - self._open_since) / accepted
            self._open_since, self._accepted = call.started, 1
