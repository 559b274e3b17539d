"""What all requests of one service share."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict

from anyio import CapacityLimiter, to_thread

from fabula.app import App
from fabula.app.collection import Collection
from fabula.config.serving import TABLE, Serving
from fabula.errors import FabulaError, NotFound
from fabula.graph.queries import FOLDER
from fabula.models.stop import Stop
from fabula.service.core.accounts import Ledger
from fabula.service.core.asking import AskingParts
from fabula.service.core.audit import Audit
from fabula.service.core.callers import Caller
from fabula.service.core.conversations import Conversations
from fabula.service.core.daily_dump import DailyDump
from fabula.service.core.jobs.queue import Jobs
from fabula.service.core.jobs.recipes import Recipes
from fabula.service.core.jobs.runner import Parts, Runner
from fabula.service.core.jobs.uploads import Uploads
from fabula.service.core.keys import Keys
from fabula.service.core.maintenance import Maintenance
from fabula.service.core.rate_limits import AtOnce, Window
from fabula.service.core.readiness import Readiness
from fabula.service.core.sessions import Sessions
from fabula.service.core.supervisor import Supervisor
from fabula.service.observe.metrics import Metrics
from fabula.store import Store, schema
from fabula.text.names import problem, quoted

ASKS = 100
"""Questions that are worked on at once, in threads of their own, so that reading goes on."""
DOOR = 20
"""Threads that look who asks: whatever the others are at, everybody is let in, or told why not."""
REQUESTS = 20
"""Requests of one key, or one stranger's address, at once, beside its questions: half of the
threads that there are for all, and each stream of events has one of its own.
"""
LARGE_TASKS = 2
"""Exports and estimates of one key at once, among those requests: each takes seconds of the CPU,
and an export takes as much of the disk as the graph that it holds."""
RENEW_SECONDS = 60.0
"""How often a turn that is being answered is renewed: its key lapses after ten minutes without."""
GUESSES = 20
"""Keys, links and tokens that don't hold, of one address in a minute."""


class House:
    """One App, and what the service keeps beside it; `open` for as long as it serves.

    `clock` tells the time by which dumps fall due.
    """

    def __init__(self, app: App, clock: Callable[[], float] = time.time) -> None:
        self.app = app
        self.serving: Serving = app.settings.table(TABLE)
        self.metrics = Metrics()
        self.keys = Keys(app.store)
        self.sessions = Sessions(app.store, self.keys, self.serving.session_days)
        self.ledger = Ledger(
            app.store,
            self.metrics,
            app.settings,
            app.settings.cache_folder,
            self.serving.unpriced,
        )
        self.audit = Audit(app.store)
        self.asks: CapacityLimiter
        self.door: CapacityLimiter
        self.requests = AtOnce(REQUESTS, "requests")
        self.large_tasks = AtOnce(LARGE_TASKS, "exports and estimates")
        self.questions = AtOnce(self.serving.asks_at_once, "questions")
        self.guesses = Window(GUESSES)
        self.conversations = Conversations(app)
        self.asking = AskingParts(self.ledger, self.metrics, self.conversations)
        self.maintenance = Maintenance()
        self.neo4j = Supervisor(app, self.maintenance)
        self.readiness = Readiness(app, self.neo4j.outage)
        self.query_slots = threading.BoundedSemaphore(self.serving.queries_at_once)
        self.stopping = Stop()
        """Set when the service begins to stop: streams of events end, and jobs are let go of."""
        self._stop_by = math.inf
        self._closing: threading.Thread | None = None
        self._is_closed = threading.Event()
        self.uploads = Uploads(app, self.serving.uploads)
        self.jobs = Jobs(app, Recipes(app, self.uploads), self.audit)
        self.runner: Runner
        self.parts = Parts(
            self.app,
            self.serving,
            self.jobs,
            self.uploads,
            self.ledger,
            self.conversations,
            self.neo4j.outage,
        )
        self.daily_dump = DailyDump(
            app, self.serving, self.maintenance, self.neo4j, self.metrics, clock
        )

        self.metrics.watch("state", self._count_state)

    def _count_state(self) -> dict[str, Mapping[str, float]]:
        """Return what the metrics show of jobs, of the store's cache and of learned limits."""
        counts: dict[str, Mapping[str, float]] = {
            "fabula_jobs": self.jobs.count(),
            "fabula_kept": asdict(self.app.store.kept()),
        }
        limits = self.app.kit.limits()
        return counts | ({"fabula_model_limits": limits} if limits else {})

    @asynccontextmanager
    async def open(self, *, takes_others: bool = True) -> AsyncIterator[None]:
        """Makes the schema that the service is kept by, and starts what runs beside requests.

        Without `takes_others` no jobs are worked on but those that this process begins.
        """
        make_schema(self.app.store)
        self.asks = CapacityLimiter(ASKS)
        self.door = CapacityLimiter(DOOR)
        self.runner = Runner(self.parts, others=takes_others)
        try:
            self.neo4j.start()
            self.ledger.open()
            threading.Thread(target=self._renew, name="leases", daemon=True).start()
            self.runner.start()
            yield
        finally:
            self.stop()
            assert self._closing
            await to_thread.run_sync(self._closing.join, self.seconds_left)
            self._is_closed.set()
            await to_thread.run_sync(self.ledger.close)

    def _renew(self) -> None:
        """Says now and then of the turns that are being answered that they still are."""
        while not self._is_closed.wait(RENEW_SECONDS):
            with suppress(FabulaError):
                self.conversations.renew()

    def stop(self) -> None:
        """Begin to stop, once: everything has `serve.grace` seconds from now, all together.

        It does not wait. Jobs are let go of while answers under way go on.
        """
        if self._closing is not None:
            return
        self._stop_by = time.monotonic() + self.serving.grace
        self._closing = threading.Thread(
            target=self.runner.close, args=(self.serving.grace,), name="stop-jobs", daemon=True
        )
        self._closing.start()
        self.daily_dump.close()
        self.neo4j.close()
        self.stopping.set()
        self.jobs.tell()

    @property
    def seconds_left(self) -> float:
        """How many seconds of the grace are left; infinite before the service begins to stop."""
        return max(0.0, self._stop_by - time.monotonic())

    def collection(self, name: str, caller: Caller) -> Collection:
        """A collection as a caller sees it. Raises NotFound for one that it may not see."""
        if not caller.may_see(name):
            raise NotFound(f"There is no collection {quoted(name)}.")
        return self.app.collection(name, budget=self.ledger.budget(caller), takes_paths=False)

    def stocked(self, name: str, caller: Caller) -> Collection:
        """A collection with documents. One without is told of as one that a caller may not see."""
        if caller.may_see(name) and not problem(name):
            collection = self.collection(name, caller)
            if self.app.store.count(name)[0]:
                return collection
        raise NotFound(f"There is no collection {quoted(name)}.")

    def usual(self, caller: Caller) -> str:
        """The collection that is meant where none is named, if a caller may see it, else another;
        '' where there is none.
        """
        meant = self.app.meant().name
        if caller.may_see(meant):
            return meant
        return next(iter([*self.collections(caller), *sorted(caller.collections or ())]), "")

    def collections(self, caller: Caller) -> list[str]:
        """The names of the collections that hold documents and that a caller may see."""
        return [name for name in self.app.collections() if caller.may_see(name)]


def make_schema(store: Store) -> None:
    """Makes what the service's own nodes are kept by; what is there stays."""
    for file in sorted((FOLDER / "service").glob("schema_*.cypher")):
        schema.ensure(store, f"service/{file.stem}")
