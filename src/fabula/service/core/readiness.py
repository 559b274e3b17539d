"""Check whether questions can be answered now, for `/readyz`, which anybody may request often."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from anyio import CapacityLimiter, to_thread

from fabula.errors import FabulaError, StoreError
from fabula.library import App
from fabula.service.core.maintenance import Outage
from fabula.store import schema

PATIENCE_SECONDS = 1.0
"""How long an answer waits for Neo4j."""
BUSY_SECONDS = 5.0
"""How long a Neo4j that has just answered may be silent before it counts as down. While it commits
a large document it may answer nobody for a second or two; one that died is noticed otherwise."""
KEEP_SECONDS = 1.0
KEEP_FACTOR = 10
"""The result of a check is kept for KEEP_SECONDS, or for KEEP_FACTOR times as long as the check
took: a flood of requests uses at most a tenth of one connection."""


class Readiness:
    """Checks Neo4j once at a time; all requests within a second get the same result."""

    def __init__(self, app: App, outage: Callable[[], Outage | None]) -> None:
        self._app, self._outage = app, outage
        self._problem = ""
        self._has_answered = False
        self._kept_until = -math.inf
        self._check: asyncio.Task[None] | None = None
        self._check_since = -math.inf

    async def problem(self) -> str:
        """Return why questions can't be answered now, or "". It takes a second at most.

        The message names no collection, as requests for it need no key.
        """
        if outage := self._outage():
            return outage.reason
        if time.monotonic() < self._kept_until:
            return self._problem
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._run_check())
            self._check_since = time.monotonic()
        # A check that hangs goes on, and the next request waits for the same one.
        done, _ = await asyncio.wait({self._check}, timeout=PATIENCE_SECONDS)
        if not done:
            if time.monotonic() - self._check_since < BUSY_SECONDS and self._has_answered:
                return self._problem
            return f"Neo4j does not answer within {PATIENCE_SECONDS:.0f} s."
        self._check.result()
        return self._problem

    async def _run_check(self) -> None:
        began = time.monotonic()
        # A limiter of its own: the threads of requests may all be waiting for Neo4j.
        self._problem = await to_thread.run_sync(self._find_problem, limiter=CapacityLimiter(1))
        self._has_answered = True
        now = time.monotonic()
        self._kept_until = now + max(KEEP_SECONDS, KEEP_FACTOR * (now - began))

    def _find_problem(self) -> str:
        store = self._app.connect()
        try:
            spaces = [space for space in store.spaces() if space.has_documents]
            indexes = store.indexes() if spaces else []
            faults = {
                fault.name
                for space in spaces
                for fault in schema.find_faults(store, space, indexes)
            }
        except StoreError:
            return "Neo4j does not answer."
        except FabulaError:
            return "Neo4j can't be reached."
        return f"indexes that are missing or not ready: {len(faults)}." if faults else ""
