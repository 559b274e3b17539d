"""The queue of calls to the endpoint, in an event loop: who starts next, and when."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fabula.models.limiter import MAX_SLEEP_SECONDS, CallOrder
from fabula.models.rate_limit import Call, RateLimit

Waiter = asyncio.Future[Call]


class CallQueue:
    """Starts the calls of all clients by one learned limit, those of answers first.

    It waits as `models.limiter.Limiter` does, by the same rules (`CallOrder`), but a thousand
    waiting calls are a thousand futures and no threads.
    """

    def __init__(self, rate_limit: RateLimit) -> None:
        self._order = CallOrder(rate_limit)
        self._urgent: deque[Waiter] = deque()
        self._builds: deque[Waiter] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._answered_at = time.monotonic()

    @property
    def silent_for(self) -> float:
        """The seconds since a call was last answered, or since the beginning."""
        return time.monotonic() - self._answered_at

    @property
    def waiting(self) -> int:
        """The number of calls that wait."""
        return sum(not waiter.done() for waiter in (*self._urgent, *self._builds))

    def limits(self) -> dict[str, float]:
        """Return the most calls at once, the calls under way, and the seconds between starts."""
        return self._order.limits()

    @asynccontextmanager
    async def slot(self, *, urgent: bool) -> AsyncIterator[Call]:
        """Wait until a call may start; leaving without an error counts as an answer."""
        call = await self._enter(urgent=urgent)
        try:
            yield call
        except BaseException:
            self._leave(call, urgent=urgent, answered=False)
            raise
        self._answered_at = time.monotonic()
        self._leave(call, urgent=urgent, answered=True)

    def report_refusal(self, call: Call, after: float | None) -> None:
        """Report that the endpoint refused a call as one too many, and asks to wait so long."""
        self._order.rate_limit.end_refused(time.monotonic(), call, after)

    def report_lateness(self, call: Call) -> None:
        """Report that the endpoint did not answer in time."""
        self._order.rate_limit.end_late(time.monotonic(), call)

    def allowance(self, call: Call, left: float, reset: float) -> None:
        """Report what an answer's headers say is `left`, until `reset` seconds from its start."""
        self._order.rate_limit.allowance(call, left, reset)

    async def _enter(self, *, urgent: bool) -> Call:
        waiter: Waiter = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._builds).append(waiter)
        self._order.urgent_waiting += urgent
        try:
            self._start_waiting()
            return await waiter
        except BaseException:
            if waiter.done() and not waiter.cancelled():
                # It was started in the moment in which its client left.
                self._leave(waiter.result(), urgent=urgent, answered=False)
            raise
        finally:
            if urgent:
                self._order.urgent_waiting -= 1
                self._start_waiting()

    def _leave(self, call: Call, *, urgent: bool, answered: bool) -> None:
        self._order.end(time.monotonic(), call, urgent=urgent, answered=answered)
        self._start_waiting()

    def _start_waiting(self) -> None:
        """Start the calls that may start now, and look again when the next one may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for queue, urgent in ((self._urgent, True), (self._builds, False)):
            while queue:
                if queue[0].done():
                    # Its client has left.
                    queue.popleft()
                    continue
                now = time.monotonic()
                wait = self._order.wait(now, urgent=urgent)
                if wait > 0:
                    self._look_again(wait)
                    break
                queue.popleft().set_result(self._order.start(now, urgent=urgent))

    def _look_again(self, wait: float) -> None:
        # Even where only another call's end can change something, a reservation ends by itself.
        delay = min(wait, MAX_SLEEP_SECONDS)
        loop = asyncio.get_running_loop()
        if self._timer is None or self._timer.when() > loop.time() + delay:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_later(delay, self._start_waiting)
