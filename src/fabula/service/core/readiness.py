"""Whether questions can be answered now, for `/readyz`: anybody may ask, as often as they like."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from anyio import CapacityLimiter, to_thread

from fabula.app import App
from fabula.errors import FabulaError, StoreError
from fabula.service.core.maintenance import Outage
from fabula.store import schema

PATIENCE_SECONDS = 1.0
"""How long an answer waits for Neo4j."""
BUSY_SECONDS = 5.0
"""How long a Neo4j that has just answered may be silent before it counts as away. While it commits
a large document it may answer nobody for a second or two; one that died is noticed otherwise."""
KEEP_SECONDS = 1.0
SHARE = 10
"""What was found holds for KEEP_SECONDS, or for SHARE times as long as it took to find: a flood of
requests takes at most a tenth of one connection."""


class Readiness:
    """One look at Neo4j at a time, whose result all who ask within a second are told."""

    def __init__(self, app: App, outage: Callable[[], Outage | None]) -> None:
        self._app, self._outage = app, outage
        self._problem = ""
        self._has_answered = False
        self._holds_until = -math.inf
        self._looking: asyncio.Task[None] | None = None
        self._looking_since = -math.inf

    async def problem(self) -> str:
        """Return what keeps questions from being answered, or "". It takes a second at most.

        Whoever asks need not have a key: the words name no collection.
        """
        if outage := self._outage():
            return outage.reason
        if time.monotonic() < self._holds_until:
            return self._problem
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
            self._looking_since = time.monotonic()
        # A look that hangs goes on, and whoever asks next waits for the same one.
        done, _ = await asyncio.wait({self._looking}, timeout=PATIENCE_SECONDS)
        if not done:
            if time.monotonic() - self._looking_since < BUSY_SECONDS and self._has_answered:
                return self._problem
            return f"Neo4j does not answer within {PATIENCE_SECONDS:.0f} s."
        self._looking.result()
        return self._problem

    async def _look(self) -> None:
        began = time.monotonic()
        # A limiter of its own: the threads of requests may all be waiting for Neo4j.
        self._problem = await to_thread.run_sync(self._find_problem, limiter=CapacityLimiter(1))
        self._has_answered = True
        now = time.monotonic()
        self._holds_until = now + max(KEEP_SECONDS, SHARE * (now - began))

    def _find_problem(self) -> str:
        store = self._app.store
        try:
            spaces = [space for space in store.spaces() if space.documents]
            indexes = store.indexes() if spaces else []
            faults = {
                fault.name for space in spaces for fault in schema.faults(store, space, indexes)
            }
        except StoreError:
            return "Neo4j does not answer."
        except FabulaError:
            return "Neo4j can't be reached."
        return f"indexes that are missing or not ready: {len(faults)}." if faults else ""
