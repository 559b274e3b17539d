"""The state of a service: everything that its requests share."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import CapacityLimiter, to_thread

from fabula.config.serving import TABLE, Serving
from fabula.errors import FabulaError, NotFound, ServerError, StoreError
from fabula.jobs.audit import Audit
from fabula.jobs.callers import Caller
from fabula.jobs.estimates import Estimate
from fabula.jobs.idempotency import Idempotency
from fabula.jobs.ledger import Ledger
from fabula.jobs.queue import Jobs
from fabula.jobs.recipes import Recipes
from fabula.jobs.runner import JobServices, Runner
from fabula.jobs.uploads import Uploads
from fabula.jobs.work import BuildWork
from fabula.library import App
from fabula.library.collection import Collection
from fabula.models.budget import Budget
from fabula.models.stop import Stop
from fabula.operations.kit import Asker, Operation
from fabula.service.core.caller_limits import ConcurrencyLimit, RequestLimit
from fabula.service.core.conversations import Conversations
from fabula.service.core.daily_dump import DailyDump
from fabula.service.core.errors import TooManyRequests, describe_failure
from fabula.service.core.keys import Keys
from fabula.service.core.maintenance import Maintenance
from fabula.service.core.readiness import Readiness
from fabula.service.core.retention import delete_old_records
from fabula.service.core.sessions import Sessions
from fabula.service.core.supervisor import Supervisor
from fabula.service.observe.metrics import Metrics
from fabula.store import schema
from fabula.text.names import name_problem, quote_name

if TYPE_CHECKING:
    from fabula.build.cluster import WorkerCluster

MAX_QUESTION_THREADS = 100
"""How many questions are answered at the same time, in threads of their own, so that they don't
hold up other requests."""
MAX_ADMISSION_THREADS = 20
"""How many callers are identified at the same time, in threads of their own, so that requests are
admitted or refused whatever the other threads do."""
MAX_REQUESTS = 20
"""How many requests one key, or the address of one stranger, may have at the same time, beside its
questions: half of the threads that there are for all. Each stream of events has its own thread."""
MAX_LARGE_TASKS = 2
"""How many of these requests may be large tasks, such as exports, estimates and counts of words:
each takes seconds of CPU time, and an export takes as much of the disk as its graph."""
QUERY_WAIT_SECONDS = 5.0
"""How long a query waits for its turn before it is refused."""
RENEW_SECONDS = 60.0
"""How often the leases of turns that are being answered are renewed; they last ten minutes."""
SWEEP_SECONDS = 3600.0
"""How often what is not needed any more is deleted."""
MAX_GUESSES = 20
"""How many invalid keys, links and tokens one address may send in a minute."""


class ServiceState:
    """An App, and what the service has beside it. It is `open` while the service runs.

    Args:
        app: The App, which stays its owner's to close.
        clock: Returns the time, in seconds since the epoch, by which dumps are due.
    """

    def __init__(self, app: App, clock: Callable[[], float] = time.time) -> None:
        self.app = app
        self.serving: Serving = app.settings.table(TABLE)
        self.metrics = Metrics()
        self.keys = Keys(app.connect())
        self.sessions = Sessions(app.connect(), self.keys, self.serving)
        self.ledger = Ledger(
            app.connect(),
            self.metrics.spent,
            app.settings,
            app.settings.cache_folder,
            self.serving.unpriced,
        )
        self.audit = Audit(app.connect())
        self.question_threads: CapacityLimiter
        self.admission_threads: CapacityLimiter
        self.request_limit = ConcurrencyLimit(MAX_REQUESTS, "requests")
        self.large_task_limit = ConcurrencyLimit(MAX_LARGE_TASKS, "large tasks")
        self.question_limit = ConcurrencyLimit(self.serving.asks_at_once, "questions")
        self.guess_limit = RequestLimit(MAX_GUESSES)
        self.conversations = Conversations(app)
        self.maintenance = Maintenance()
        self.neo4j = Supervisor(app, self.maintenance, clock)
        self.readiness = Readiness(app, self.neo4j.outage)
        self.query_slots = threading.BoundedSemaphore(self.serving.queries_at_once)
        self.stopping = Stop()
        """Set when the service begins to stop: streams of events end, and jobs are released."""
        self._stop_by = math.inf
        self._closing: threading.Thread | None = None
        self._is_closed = threading.Event()
        self.uploads = Uploads(app, self.serving.uploads)
        self.jobs = Jobs(app, Recipes(app, self.uploads), self.audit)
        self.runner: Runner
        self.job_services = JobServices(
            self.app,
            self.serving,
            self.jobs,
            self.uploads,
            self.ledger,
            self.neo4j.outage,
            self.question_limit.is_held,
            cluster=self._make_cluster(),
        )
        self.daily_dump = DailyDump(
            app, self.serving, self.maintenance, self.neo4j, self.metrics, clock
        )

        self.metrics.watch("state", self._count_state)

    def _make_cluster(self) -> WorkerCluster | None:
        """Return the workers that the settings name; the first job connects to them."""
        if not self.serving.scheduler:
            return None
        from fabula.build.cluster import WorkerCluster

        return WorkerCluster(scheduler=self.serving.scheduler)

    def _count_state(self) -> dict[str, Mapping[str, float]]:
        """Return the gauges of jobs, of the store's cache and of endpoints' learned limits."""
        counts: dict[str, Mapping[str, float]] = {
            "fabula_jobs": self.jobs.count(),
            "fabula_kept": asdict(self.app.connect().cache_usage()),
        }
        limits = self.app.models.limits()
        return counts | ({"fabula_model_limits": limits} if limits else {})

    @asynccontextmanager
    async def open(self, *, takes_others: bool = True) -> AsyncIterator[None]:
        """Create the schema of the service, and run its background threads while the block runs.

        Args:
            takes_others: Whether jobs are taken that other processes have added.
        """
        schema.make_service(self.app.connect())
        self.question_threads = CapacityLimiter(MAX_QUESTION_THREADS)
        self.admission_threads = CapacityLimiter(MAX_ADMISSION_THREADS)
        self.runner = Runner(self.job_services, takes_others=takes_others)
        try:
            self.neo4j.start()
            self.ledger.open()
            threading.Thread(target=self._renew, name="leases", daemon=True).start()
            threading.Thread(target=self._sweep, name="sweep", daemon=True).start()
            self.runner.start()
            yield
        finally:
            self.stop()
            assert self._closing
            await to_thread.run_sync(self._closing.join, self.seconds_left)
            self._is_closed.set()
            if cluster := self.job_services.cluster:
                await to_thread.run_sync(cluster.close)
            await to_thread.run_sync(self.ledger.close)

    def _renew(self) -> None:
        """Renew the leases of the turns that are being answered here."""
        while not self._is_closed.wait(RENEW_SECONDS):
            with suppress(FabulaError):
                self.conversations.renew()

    def _sweep(self) -> None:
        """Delete uploads that nobody needs, and records older than `serve.keep_days`."""
        while not self.stopping.is_set():
            with suppress(StoreError, ServerError, OSError):
                self.uploads.sweep()
                if days := self.serving.keep_days:
                    delete_old_records(self.app.connect(), days)
            self._is_closed.wait(SWEEP_SECONDS)

    def stop(self) -> None:
        """Begin to stop, and return at once. Calling it again does nothing.

        All work together has `serve.grace` seconds from now. Jobs are released; answers go on.
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
        self.jobs.notify()

    @property
    def seconds_left(self) -> float:
        """How many seconds of the grace are left; infinite before `stop` is called."""
        return max(0.0, self._stop_by - time.monotonic())

    def collection(self, name: str, caller: Caller) -> Collection:
        """Return a collection for a caller. Raises NotFound if the caller may not see it."""
        return self._collection(name, caller, self.ledger.budget(caller))

    def _collection(self, name: str, caller: Caller, budget: Budget | None) -> Collection:
        if not caller.may_see(name):
            raise NotFound(f"There is no collection {quote_name(name)}.")
        settings = None
        if caller.is_visitor and not self.serving.public_tokens_a_day:
            settings = self.app.settings.without_endpoint()
        return self.app.collection(name, budget=budget, takes_paths=False, settings=settings)

    def filled_collection(self, name: str, caller: Caller) -> Collection:
        """Return a collection that has documents.

        Raises:
            NotFound: The collection has no documents, or the caller may not see it. The message is
                the same, so that nobody learns which collections exist.
        """
        if caller.may_see(name) and not name_problem(name):
            collection = self.collection(name, caller)
            if collection.open_store().count(name, 1)[0]:
                return collection
        raise NotFound(f"There is no collection {quote_name(name)}.")

    def collections(self, names: Sequence[str], caller: Caller) -> list[Collection]:
        """Return several collections for a caller; without names, all that the caller may see.

        Raises:
            NotFound: The caller may not see one of them, or sees none.
        """
        chosen = list(dict.fromkeys(names)) or self.visible_collections(caller)
        if not chosen:
            raise NotFound("There is no document yet that you may read.")
        for name in chosen:
            if name_problem(name):
                raise NotFound(f"There is no collection {quote_name(name)}.")
        # One budget: with one for each, a question could spend what is left of a quota many times.
        budget = self.ledger.budget(caller)
        return [self._collection(name, caller, budget) for name in chosen]

    def default_collection(self, caller: Caller) -> str:
        """Return the name of the collection that is used if a caller names none.

        It is that of the settings if the caller may see it, else another one; '' if there is none.
        """
        default = self.app.default_collection().name
        if caller.may_see(default):
            return default
        return next(
            iter([*self.visible_collections(caller), *sorted(caller.collections or ())]), ""
        )

    def visible_collections(self, caller: Caller) -> list[str]:
        """Return the names of the collections with documents that a caller may see."""
        return [name for name in self.app.collections() if caller.may_see(name)]

    def asker(self, caller: Caller, stop: Stop | None = None) -> Asker:
        """Return what an operation knows of a caller; `stop` ends a question."""
        return Asker(
            caller.name,
            self.app,
            partial(self.visible_collections, caller),
            lambda name: self.filled_collection(name, caller),
            caller,
            self,
            stop,
            describe_failure,
            lambda names: self.collections(names, caller),
        )

    def run_operation(
        self,
        caller: Caller,
        operation: Operation,
        collection: Collection | None,
        values: Mapping[str, Any],
        stop: Stop | None = None,
        idempotency: Idempotency | None = None,
    ) -> Any:
        """Return the result of an operation, within what a caller may see and have at once.

        What changes something is recorded, with what its result says in `audited`. A job builds
        what has to be built after it, and does what is work; the result is that job then.

        Raises:
            FabulaError: What the operation raises; TooManyRequests if the caller has too many large
                tasks.
        """
        if operation.is_work and collection:
            return self.jobs.begin(caller, operation.plan(collection, values), idempotency)
        with ExitStack() as held:
            if operation.is_large:
                held.enter_context(self.large_task_limit.hold(caller.id, operation.command))
            if operation.is_query:
                held.enter_context(self.query_turn())
            result = operation.run(collection, values, self.asker(caller, stop))
        if operation.changes and operation.is_recorded and not values.get("dry_run"):
            document = getattr(result, "document", values.get("document", ""))
            target = "/".join(filter(None, (collection.name if collection else "", document)))
            # What people wrote, as a note, is not the audit's business: results say what is.
            details = getattr(result, "audited", {})
            self.audit.record(caller, operation.command, target, **details)
        if operation.starts_job and collection and result.build.is_due:
            work = BuildWork(collection, result.build.graph, result.build.documents)
            result = replace(result, job=self.jobs.begin(caller, work).id)
        return result

    def estimate_work(
        self,
        caller: Caller,
        operation: Operation,
        collection: Collection,
        values: Mapping[str, Any],
    ) -> Estimate:
        """Return what an operation that is work would do and cost. Raises as `run_operation`."""
        with self.large_task_limit.hold(caller.id, "an estimate"):
            return operation.plan(collection, values).estimate()

    @contextmanager
    def query_turn(self) -> Iterator[None]:
        """Take one of the few turns for queries, so that no question has to wait for Neo4j."""
        if not self.query_slots.acquire(timeout=QUERY_WAIT_SECONDS):
            raise TooManyRequests(
                "Other queries are running: try again in a moment.", QUERY_WAIT_SECONDS
            )
        try:
            yield
        finally:
            self.query_slots.release()
