"""What all requests of one service share."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread

from fabula.collection import Collection
from fabula.errors import FabulaError, NotFound
from fabula.names import problem, quoted
from fabula.queries import FOLDER
from fabula.service.access.keys import Keys
from fabula.service.access.limits import AtOnce, Window
from fabula.service.access.sessions import Sessions
from fabula.service.audit import Audit
from fabula.service.conversations import Conversations
from fabula.service.jobs import Jobs
from fabula.service.jobs.runner import Runner
from fabula.service.jobs.uploads import Uploads
from fabula.service.ledger import Ledger
from fabula.service.watch.metrics import Metrics
from fabula.serving import TABLE, Serving
from fabula.store import Store, schema

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.service.access import Caller


ASKS = 100
"""Questions that are worked on at once, in threads of their own, so that reading goes on."""
DOOR = 20
"""Threads that look who asks: whatever the others are at, everybody is let in, or told why not."""
REQUESTS = 20
"""Requests of one key, or one stranger's address, at once, beside its questions: half of the
threads that there are for all, and each stream of events has one of its own.
"""
RENEW_SECONDS = 60.0
"""How often a turn that is being answered is renewed: its key lapses after ten minutes without."""
GUESSES = 20
"""Keys, links and tokens that don't hold, of one address in a minute."""


class House:
    """One App, and what the service keeps beside it; `open` for as long as it serves."""

    def __init__(self, app: App) -> None:
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
        self.questions = AtOnce(self.serving.asks_at_once, "questions")
        self.guesses = Window(GUESSES)
        self.conversations = Conversations(app)
        self.queries = threading.BoundedSemaphore(self.serving.queries_at_once)
        self.jobs = Jobs(self)
        self.uploads = Uploads(self)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Makes the schema that the service is kept by, and starts what runs beside requests."""
        make_schema(self.app.store)
        self.asks = CapacityLimiter(ASKS)
        self.door = CapacityLimiter(DOOR)
        runner = Runner(self)
        renewing = threading.Event()
        threading.Thread(target=self._renew, args=(renewing,), name="leases", daemon=True).start()
        self.ledger.open()
        runner.start()
        try:
            yield
        finally:
            await to_thread.run_sync(runner.close)
            await to_thread.run_sync(self.ledger.close)
            renewing.set()

    def _renew(self, is_closing: threading.Event) -> None:
        """Says now and then of the turns that are being answered that they still are."""
        while not is_closing.wait(RENEW_SECONDS):
            with suppress(FabulaError):
                self.conversations.renew()

    def collection(self, name: str, caller: Caller) -> Collection:
        """A collection as a caller sees it. Raises NotFound for one that it may not see."""
        if not caller.may_see(name):
            raise NotFound(f"There is no collection {quoted(name)}.")
        return self.app.collection(name, budget=self.ledger.budget(caller))

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
