"""When the next call may start, learned from what an endpoint accepts and refuses: no clock here.

Two limits are told apart, as their cures differ.

- *So many at once.* A refusal at a number of calls under way that was never accepted puts the
  ceiling just below it. Now and then one call goes above the ceiling; when it is refused, the next
  such probe comes after twice as many calls (additive increase, as TCP's congestion avoidance,
  RFC 5681, but a refusal shows the limit itself, so there is nothing to halve).
- *So many a minute.* A refusal at a number under way that was accepted before. No call starts
  until the wait asked for is over; then one at a time, with waits that double, until one is
  accepted: a circuit breaker that is half open. From the first call since it opened last until it
  opens again, N were accepted in W seconds; from then on at most N start in any W. That keeps
  sliding windows, fixed windows and token buckets alike: all three allow N in W again and again.
  Now and then W is made a little shorter, in the same rhythm of probes, with steps that double
  while they are accepted; so a limit that was raised is found.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

SHORTEST_WAIT, FIRST_WAIT, LONGEST_WAIT = 0.05, 0.5, 8.0
"""Seconds without a call after a refusal, where the endpoint does not say how long."""
GROWTH = 1.5
GRACE = 1.0
"""Seconds after which a call that was not refused counts as accepted: refusals come at once."""
MINUTE = 60.0
"""How far back to count when nothing is known of a limit: most are by the minute."""
ENOUGH = 10
"""Calls; a rate measured over fewer is too coarse."""
STEP, LARGEST_STEP = 0.05, 0.4
MARGIN = 0.01
"""Of a window: calls may arrive closer together than they started."""
SPREAD, EVENLY = 4.0, 1.25
"""Times the mean rate of a window, and of a ceiling: calls that start all at once would all be
refused at once."""
TOO_MANY, LATELY = 3.5, 10
"""Refusals among about as many calls lately: a limit refuses nearly every call once it is reached;
some alone may be the endpoint's whim."""
MOST_SLOWER = 6
"""Times that a window is made longer; if refusals go on, they do not come from how many calls."""
MOST_SELDOM = 1024
"""Calls between two tries for more."""
REMEMBERED = 20_000


@dataclass(eq=False, slots=True)
class Call:
    """A call under way; `level` is how many were when it started, without those refused since."""

    started: float
    level: int
    above: bool = False


@dataclass(slots=True)
class Rhythm:
    """When to try for more, and how much: twice as seldom after a try that failed, and in small
    steps again; after one that passed, twice as soon with a step twice as large.
    """

    calls: int
    step: int = 1
    since: int = 0

    @property
    def due(self) -> bool:
        """Whether it is time to try."""
        return self.since > self.calls

    def passed(self) -> None:
        """More was accepted."""
        self.calls, self.step, self.since = max(8, self.calls // 2), self.step * 2, 0

    def failed(self) -> None:
        """More was refused."""
        if self.since:
            self.calls = min(MOST_SELDOM, self.calls * 2)
        self.step, self.since = 1, 0


@dataclass(slots=True)
class _Closure:
    """The endpoint refuses: since when, until when to wait, and what is tried then."""

    since: float
    until: float = 0.0
    waited: float = 0.0
    refused: float = 0.0
    again: bool = False
    probe: Call | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """At most `count` starts in any `seconds`."""

    count: int
    seconds: float


class Pacing:
    """Decides on starts; told of every start and end, with the time in seconds of any clock."""

    def __init__(self, most: int) -> None:
        self.most = self.ceiling = most
        self.window: Window | None = None
        self._proven, self._latency = 0, 0.0
        self._safe: Window | None = None
        self._slower = self._doubt = self._doubts = 0
        self._refusals = 0.0
        self._higher, self._faster = Rhythm(32), Rhythm(96)
        self._under_way: list[Call] = []
        self._starts: deque[Call] = deque(maxlen=REMEMBERED)
        self._opened = self._halved = -math.inf
        self._closure: _Closure | None = None

    def wait(self, now: float) -> float:
        """Seconds until a call may start; 0 for now, infinity until one has ended."""
        if self._closure is not None:
            closed = self._closed_for(now, self._closure)
            if closed:
                return closed
        if len(self._under_way) >= self._room():
            return math.inf
        return 0.0 if self._closure is not None else max(0.0, self._next_turn() - now)

    def start(self, now: float) -> Call:
        """A call starts: to be called when `wait` gives 0."""
        level = len(self._under_way) + 1
        call = Call(now, level, above=level > self.ceiling)
        if level >= self.ceiling < self.most:
            self._higher.since += 1
        self._refusals *= 1 - 1 / LATELY
        if self._closure is not None:
            self._closure.probe = call
        elif self.window is not None:
            self._try_faster(now, self.window)
        self._under_way.append(call)
        self._starts.append(call)
        return call

    def accepted(self, now: float, call: Call) -> None:
        """The call was answered."""
        self._latency += (now - call.started - self._latency) / 8
        self._under_way.remove(call)
        self._proven = max(self._proven, call.level)
        if call.above and call.level > self.ceiling:
            self.ceiling = min(self.most, call.level)
            self._higher.passed()
        if self._closure is not None and self._closure.probe is call:
            self._open(call, self._closure)

    def late(self, now: float, call: Call) -> None:
        """The call was not answered in time, as by a small server that is asked too much at once:
        half as many from now on, but calls that were under way then halve no more.
        """
        if call.started >= self._halved:
            self._halved = now
            self.ceiling = max(1, self.ceiling // 2)
            self._higher.failed()
        self.failed(call)

    def failed(self, call: Call) -> None:
        """The call ended in a way that says nothing of limits, or that was told already."""
        if call not in self._under_way:
            return
        self._under_way.remove(call)
        if self._closure is not None and self._closure.probe is call:
            self._closure.probe = None

    def refused(self, now: float, call: Call, after: float | None) -> None:
        """The call was refused, with `after` seconds to wait if the endpoint says so."""
        place = self._under_way.index(call)
        del self._under_way[place]
        self._forget(call)
        for later in self._under_way[place:]:
            later.level -= 1
        others = max(call.level - 1, len(self._under_way))
        if call.started < self._opened:
            # It started before the endpoint closed the last time, and tells nothing new.
            return
        if self._closure is not None:
            self._closure.refused = call.started
            if self._closure.probe is call:
                self._closure.again = True
                self._hold(now, self._closure, after)
        elif call.above or (others and others + 1 >= self._proven):
            self._higher.failed()
            self.ceiling = min(self.ceiling, max(1, others))
        else:
            self._refusals += 1
            if self._refusals > TOO_MANY:
                self._closure = _Closure(call.started)
                self._hold(now, self._closure, after)

    def _room(self) -> int:
        """How many calls may be under way."""
        if self._closure is None and self._higher.due:
            return min(self.most, self.ceiling + self._higher.step)
        return self.ceiling

    def _next_turn(self) -> float:
        """When a call may start by the window, and not all at once with those before."""
        if not self._starts:
            return -math.inf
        spread, freed, window = 0.0, -math.inf, self.window
        if self.ceiling < self.most:
            spread = self._latency / self.ceiling / EVENLY
        if window is not None:
            spread = max(spread, window.seconds / window.count / SPREAD)
            if len(self._starts) >= window.count:
                freed = self._freed(window)
        return max(self._starts[-1].started + spread, freed)

    def _freed(self, window: Window) -> float:
        """When the window has room again."""
        return self._starts[-window.count].started + window.seconds * (1 + MARGIN)

    def _forget(self, call: Call) -> None:
        for place in range(len(self._starts) - 1, -1, -1):
            if self._starts[place] is call:
                del self._starts[place]
                return

    def _closed_for(self, now: float, closure: _Closure) -> float:
        if closure.probe is None:
            return max(0.0, closure.until - now)
        left = closure.probe.started + GRACE - now
        if left <= 0:
            self._open(closure.probe, closure)
        return max(0.0, left)

    def _hold(self, now: float, closure: _Closure, after: float | None) -> None:
        """No call for a while; then one."""
        first = max(SHORTEST_WAIT, self.window.seconds / 20) if self.window else FIRST_WAIT
        closure.waited = min(LONGEST_WAIT, GROWTH * closure.waited) if closure.again else first
        wait = closure.waited if after is None else max(after, closure.again * closure.waited)
        closure.until, closure.probe = now + wait * (1 + MARGIN), None

    def _open(self, probe: Call, closure: _Closure) -> None:
        """A call was accepted: calls go on, by what the closure has taught."""
        self._closure = None
        opened = self._opened
        self._opened = probe.started
        if self._doubt:
            self._doubt -= 1
        elif self.window is None:
            self._learn(max(opened, closure.since - MINUTE), probe, closure)
        elif self._safe is not self.window:
            self.window = self._safe
            self._faster.failed()
        elif self._slower < MOST_SLOWER:
            self.window = self._safe = self._longer(self.window, opened, probe)
            self._faster.since = 0
            few = sum(opened <= one.started for one in self._starts) < LATELY
            self._slower = self._slower + 1 if few else 0
        else:
            self.window = self._safe = None
            self._slower, self._doubts = 0, 2 * self._doubts + MOST_SLOWER
            self._doubt = self._doubts

    def _learn(self, since: float, probe: Call, closure: _Closure) -> None:
        """The window: what was accepted until the endpoint closed, and when it opened."""
        accepted = [one.started for one in self._starts if since <= one.started < probe.started]
        if accepted and probe.started - accepted[0] > SHORTEST_WAIT:
            self._safe = Window(len(accepted), probe.started - accepted[0])
            between = (probe.started - closure.refused) / 2 if closure.again else 0.0
            self.window = Window(self._safe.count, self._safe.seconds - between)

    def _longer(self, window: Window, opened: float, probe: Call) -> Window:
        """A window that is kept no more: longer, by what was accepted since it opened last."""
        longer = window.seconds * (1 + STEP)
        lasted = probe.started - opened
        accepted = sum(opened <= one.started < probe.started for one in self._starts)
        if accepted >= 2 * window.count or lasted * window.count <= accepted * longer:
            return Window(window.count, longer)
        if accepted >= ENOUGH:
            return Window(accepted, lasted * (1 + STEP))
        return Window(window.count, min(2 * longer, lasted * window.count / max(1, accepted)))

    def _try_faster(self, now: float, window: Window) -> None:
        """Makes the window shorter when it is time, and the window is what calls wait for."""
        if len(self._starts) < window.count:
            return
        if now - self._freed(window) > window.seconds * MARGIN + 0.05:
            return
        self._faster.since += 1
        if self._faster.since > max(self._faster.calls, window.count):
            if self._safe is not window:
                self._faster.passed()
                self._slower = 0
            share = min(LARGEST_STEP, STEP * self._faster.step)
            self._safe = window
            self.window = Window(window.count, window.seconds * (1 - share))
            self._faster.since = 0
