"""Doing the jobs: threads that take them up and keep telling how far they are."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fabula import tracing
from fabula.app import App
from fabula.app.collection import Collection
from fabula.build.outcome import Outcome
from fabula.config.serving import Serving
from fabula.errors import (
    BudgetSpent,
    FabulaError,
    ServerError,
    SpaceError,
    Stopped,
    StoreError,
    TooLarge,
)
from fabula.load.source import Source
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.service.core.accounts import Ledger
from fabula.service.core.callers import Caller, Quotas
from fabula.service.core.conversations import Conversations
from fabula.service.core.jobs.job import OPEN, Item, Job, Kind, State, in_all, item_row, job_row
from fabula.service.core.jobs.progress import Watched
from fabula.service.core.jobs.queue import Jobs
from fabula.service.core.jobs.start import read
from fabula.service.core.jobs.uploads import Uploads
from fabula.service.core.retention import delete_old_records
from fabula.store.turns import Turn, find_held, turn

LOG = logging.getLogger("fabula.service")
LEASE = 30.0
"""Seconds that a job is a worker's without another word from it."""
HEARTBEAT = 5.0
"""Seconds after which a worker says that it is there, though nothing has changed."""
EVERY = 1.0
"""Seconds between two looks at what there is to do, and two words of how far a job is."""
MOST_ATTEMPTS = 10
"""How often a job is begun that gets nowhere: what ends a process each time is not begun for ever.
"""
PAUSE_POLL_SECONDS = 0.1
"""How often it is looked whether all jobs were let go."""
IDLE = 60.0
"""Seconds between two words over the connection that a turn is: what is idle may be cut off."""
UNFORESEEN = "Something went wrong that nobody foresaw; the log tells of it."
SWEEP = 3600.0
"""Seconds between two looks for what is to be deleted: uploaded files that nobody needs, and what
is older than `serve.keep_days`."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the work on jobs needs of the service. `outage` says whether Neo4j is away."""

    app: App
    serving: Serving
    jobs: Jobs
    uploads: Uploads
    ledger: Ledger
    conversations: Conversations
    outage: Callable[[], object]


class Runner:
    """Threads that work on jobs as long as the service runs, `jobs_at_once` of them.

    Without `others` only the jobs are taken that this process has begun itself.
    """

    def __init__(self, parts: Parts, *, others: bool = True) -> None:
        self._parts, self._others = parts, others
        self._is_closing = threading.Event()
        self._is_paused = False
        self._stops: set[Stop] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._taking = 0
        """How many threads look for a job or do one."""
        self._sees_turns = True
        """Whether this server shows who is at work; a hosted one may not, and leases tell alone."""

    def start(self) -> None:
        """Begins to take up jobs, those of processes that have ended, too."""
        if self._others:
            self._parts.app.store.rows("service/save_queue")
        for number in range(self._parts.serving.jobs_at_once):
            thread = threading.Thread(target=self._work, name=f"jobs-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()
        sweeping = threading.Thread(target=self._sweep, name="jobs-sweep", daemon=True)
        sweeping.start()

    def close(self, seconds: float) -> None:
        """Lets jobs go for others to take up; that takes no longer than a model's call, and this
        waits no longer than `seconds`.
        """
        self._is_closing.set()
        with self._lock:
            stops = [*self._stops]
        for stop in stops:
            stop.set()
        self._parts.jobs.tell()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let all jobs go, and take up none as long as the context lasts.

        A job that does not let go within the grace is not waited for any longer: it fails at Neo4j
        and is taken up again later.
        """
        with self._lock:
            self._is_paused = True
            for stop in self._stops:
                stop.set()
        try:
            until = time.monotonic() + self._parts.serving.grace
            while time.monotonic() < until:
                with self._lock:
                    if not self._taking:
                        break
                time.sleep(PAUSE_POLL_SECONDS)
            yield
        finally:
            with self._lock:
                self._is_paused = False
            self._parts.jobs.tell()

    def _is_letting_go(self) -> bool:
        """Return whether jobs are let go of through no fault of their own."""
        return self._is_closing.is_set() or self._is_paused

    def _work(self) -> None:
        while not self._is_closing.is_set():
            try:
                # While Neo4j is away, what is waiting waits there; the supervisor tells of it.
                is_done = self._parts.outage() is None and self._take_one_unless_paused()
            except FabulaError as error:
                LOG.warning("No job can be taken up now: %s", error)
                is_done = False
            except Exception:
                LOG.exception("A job ended in a way that nobody foresaw.")
                is_done = False
            if not (is_done or self._is_closing.is_set()):
                with self._parts.jobs.changed:
                    self._parts.jobs.changed.wait(EVERY)

    def _take_one_unless_paused(self) -> bool:
        with self._lock:
            if self._is_paused:
                return False
            self._taking += 1
        try:
            return self._take_one()
        finally:
            with self._lock:
                self._taking -= 1

    def _take_one(self) -> bool:
        """Does the job that waits longest; False where there is none."""
        store, jobs = self._parts.app.store, self._parts.jobs
        if not (self._others or jobs.begun):
            return False
        is_due, workers = jobs.is_any_waiting(others=self._others)
        if not (is_due or self._dead(workers)):
            return False
        # Before: what makes the schema of locks would wait for whoever holds one.
        store.make_schema()
        worker = f"{self._parts.app.settings.neo4j_username} {uuid.uuid4().hex}"
        # While it is held, others see that the worker lives, and not a moment longer.
        with turn(store, [worker]) as held:
            dead = self._dead(workers, worker)
            id = jobs.take(worker, dead, round(LEASE * 1000), others=self._others)
            if id is None:
                return False
            jobs.tell()
            job = jobs.read(id)
            if job is None:
                return False
            with self._stopping() as stop:
                Work(self._parts, job, worker, held, stop, self._is_letting_go).run()
        return True

    def _dead(self, workers: Sequence[str | None], own: str = "") -> list[str]:
        """Those of these workers that are known to have ended.

        A server shows a user that user's turns. Where it does not show `own`, it shows none.
        """
        mine = f"{self._parts.app.settings.neo4j_username} "
        asked = {one for one in workers if one and one.startswith(mine)}
        if not (asked and self._sees_turns):
            return []
        with self._parts.app.store.session() as session:
            held = find_held(session)
        if own and own not in held:
            self._sees_turns = False
            return []
        return sorted(asked - held)

    @contextmanager
    def _stopping(self) -> Iterator[Stop]:
        stop = Stop()
        with self._lock:
            self._stops.add(stop)
        if self._is_letting_go():
            stop.set()
        try:
            yield stop
        finally:
            with self._lock:
                self._stops.discard(stop)

    def _sweep(self) -> None:
        while not self._is_closing.is_set():
            with suppress(StoreError, ServerError, OSError):
                self._parts.uploads.sweep()
                if days := self._parts.serving.keep_days:
                    delete_old_records(self._parts.app.store, days)
            self._is_closing.wait(SWEEP)


class Work:
    """One job, done by one worker, whose turn is `held` meanwhile.

    `is_closing` tells whether the process ends or pauses, and the job is to be left for later.
    """

    def __init__(
        self,
        parts: Parts,
        job: Job,
        worker: str,
        held: Turn,
        stop: Stop,
        is_closing: Callable[[], bool],
    ) -> None:
        self._parts, self._job, self._worker, self._held = parts, job, worker, held
        self._stop, self._is_closing = stop, is_closing
        self._watched = Watched(job.items)
        self._is_lost = False
        self._is_away = False
        self._is_cancelled = job.cancelling
        self._overspent = ""
        """Why its caller may spend no more."""
        self._kept_at = time.monotonic()
        self._attempts = job.attempts
        self._is_over = threading.Event()
        told = job.caller
        self._caller = Caller(told["id"], told["name"], "write", quotas=Quotas.of(told))

    def run(self) -> None:
        """Does it, and keeps what became of it."""
        keeper = threading.Thread(target=self._keep_on, name="jobs-keeper", daemon=True)
        keeper.start()
        try:
            state, problem, wait = self._attempt()
        finally:
            self._is_over.set()
            keeper.join()
        self._end(state, problem, wait)

    def _attempt(self) -> tuple[State, str, float]:
        """What state it is in then, why, and seconds to wait before it is begun again."""
        if self._is_cancelled:
            return "cancelled", "", 0
        if self._job.attempts > MOST_ATTEMPTS:
            return (
                "failed",
                (
                    f"It was begun {MOST_ATTEMPTS} times and got nowhere, as each time the process "
                    "ended or Neo4j was away: the log of the service says more. Retry it then."
                ),
                0,
            )
        told = {tracing.JOB: self._job.id, tracing.DATA_SOURCE: self._job.collection}
        try:
            with tracing.span(f"job {self._job.kind}", told):
                made = self._do()
        except FabulaError as error:
            return self._excuse(error)
        except Exception:
            LOG.exception("Job %s ended in a way that nobody foresaw.", self._job.id)
            return "failed", UNFORESEEN, 0
        if any(one.status == "stopped" for one in made):
            return self._stopped()
        if self._job.kind in ("build", "retry"):
            # Begun before, and now not even looked at: it is done by now, or not there any more.
            self._watched.settle("unchanged")
        if self._watched.waiting():
            return self._stopped()
        failed = sum(one.state == "failed" for one in self._watched.items)
        if failed:
            of = len(self._watched.items)
            return "failed", f"{failed} of {of} failed; what is said of each says why.", 0
        return "succeeded", "", 0

    def _excuse(self, error: FabulaError) -> tuple[State, str, float]:
        """What state it comes into by an error, why, and seconds to wait."""
        if isinstance(error, Stopped):
            return self._stopped()
        if isinstance(error, BudgetSpent):
            return "paused", str(error), 0
        is_away = isinstance(error, StoreError | ServerError)
        if is_away and not isinstance(error, SpaceError | TooLarge):
            LOG.warning("Job %s waits: %s", self._job.id, error)
            # It waits for Neo4j or room on a disk as long as that takes: attempts are counted for
            # jobs that end their process.
            self._is_away = True
            return "queued", str(error), min(60.0, 2.0 ** min(self._job.attempts, 6))
        return "failed", str(error), 0

    def _stopped(self) -> tuple[State, str, float]:
        if self._overspent and not self._is_cancelled:
            return "paused", self._overspent, 0
        return ("cancelled" if self._is_cancelled else "queued"), "", 0

    def _do(self) -> Sequence[Outcome]:
        self._parts.ledger.refuse_spent(self._caller)
        ledger, job = self._parts.ledger, self._job
        shelf = self._parts.app.collection(
            job.collection,
            budget=ledger.budget(self._caller),
            # Counts each call by itself as it is answered: exactly what the endpoint charges.
            counter=ledger.account(self._caller, job.collection, job.kind),
            takes_paths=False,
        )
        return WORKS[job.kind](self, shelf)

    # The kinds of work

    def _ingest(self, shelf: Collection) -> Sequence[Outcome]:
        waiting = self._watched.waiting()
        options = self._job.options
        ingest = partial(
            shelf.ingest_sources,
            graphs=options.get("graphs"),
            rebuild=options.get("rebuild", False),
            listener=self._watched,
            stop=self._stop,
        )
        found = {
            one.source: Source(one.source, partial(read, self._parts.uploads, shelf.name, one))
            for one in waiting
        }
        try:
            return ingest([*found.values()])
        except FabulaError:
            raise
        except Exception:
            if len(found) == 1:
                raise
            LOG.exception("Job %s goes on with one document after the other.", self._job.id)
            return self._ingest_one_by_one(ingest, found)

    def _ingest_one_by_one(
        self, ingest: Callable[[Sequence[Source]], Sequence[Outcome]], found: Mapping[str, Source]
    ) -> Sequence[Outcome]:
        """So that what nobody foresaw of one document is not in the way of others."""
        for one in self._watched.waiting():
            try:
                ingest([found[one.source]])
            except FabulaError:
                raise
            except Exception:
                LOG.exception("Job %s, %s", self._job.id, one.source)
                error = FabulaError(
                    "Something went wrong that nobody foresaw; the log tells of it."
                )
                self._watched.end(Outcome(one.source, "failed", error=error))
            if self._stop.is_set():
                break
        return ()

    def _build(self, shelf: Collection) -> Sequence[Outcome]:
        options = self._job.options
        return shelf.build(
            options["graph"],
            *options.get("documents", ()),
            rebuild=options.get("rebuild", False),
            listener=self._watched,
            stop=self._stop,
        )

    def _retry(self, shelf: Collection) -> Sequence[Outcome]:
        return shelf.retry(listener=self._watched, stop=self._stop)

    def _reembed(self, shelf: Collection) -> Sequence[Outcome]:
        [item] = self._watched.items
        shelf.reembed(self._watched.begin(item.source), stop=self._stop)
        self._watched.end(Outcome(item.source, "replaced"))
        return ()

    def _remove(self, shelf: Collection) -> Sequence[Outcome]:
        self._watched.expect(len(self._watched.items))
        for item in self._watched.waiting():
            steps = self._watched.begin(item.source)
            of = item.document
            found = [of] if of else [one.id for one in shelf.store.documents(shelf.name)]
            steps.expect("remove", len(found))
            for id in found:
                self._stop.check()
                shelf.store.remove(shelf.name, id)
                steps.done("remove", Usage())
            if not of:
                self._parts.conversations.forget(shelf.name)
            self._watched.end(Outcome(item.source, "replaced", of, item.title))
        return ()

    # Telling how far it is

    def _keep_on(self) -> None:
        """Tells how far it is, each second that there is news, and looks whether it is to end."""
        while not self._is_over.wait(EVERY):
            try:
                self._keep()
            except FabulaError as error:
                LOG.warning("Job %s: how far it is can't be kept: %s", self._job.id, error)
                if time.monotonic() - self._kept_at > LEASE:
                    self._lose()
            except Exception:
                LOG.exception("Job %s: how far it is can't be kept.", self._job.id)

    def _keep(self) -> None:
        self._held.check(IDLE)
        store = self._parts.app.store
        changed = self._watched.take_changed()
        is_due = time.monotonic() - self._kept_at >= HEARTBEAT
        if not (changed or is_due):
            rows = store.rows("service/find_job_version", id=self._job.id)
            mine = [row for row in rows if row["worker"] == self._worker]
        else:
            mine = self._save(changed, {} if not changed else job_row(self._now("running")))
            self._hold_to_quota()
        if not mine:
            self._lose()
        elif mine[0]["cancelling"]:
            self._is_cancelled = True
            self._stop.set()

    def _save(
        self, changed: Sequence[tuple[int, Item]], job: Mapping[str, Any], wait: float = 0
    ) -> list[dict[str, Any]]:
        try:
            rows = self._parts.app.store.rows(
                "service/save_progress",
                id=self._job.id,
                worker=self._worker,
                job=dict(job),
                items=[item_row(self._job.id, index, one) for index, one in changed],
                news=int(bool(job)),
                milliseconds=round(LEASE * 1000),
                wait=round(wait * 1000),
            )
        except BaseException:
            self._watched.give_back(changed)
            raise
        self._kept_at = time.monotonic()
        if job:
            self._parts.jobs.tell()
        return rows

    def _now(self, state: State) -> Job:
        usage = self._watched.usage()
        settled, before = (
            sum(one.state not in OPEN for one in each)
            for each in (self._watched.items, self._job.items)
        )
        if sum(usage.values(), Usage()).calls or settled > before:
            # It gets on: what ends it from outside is not its own fault.
            self._attempts = 0
        now = in_all(self._job, self._watched.items, usage, self._parts.app.settings)
        return replace(now, state=state, eta=self._watched.left(), attempts=self._attempts)

    def _hold_to_quota(self) -> None:
        """Begins nothing more once a quota is spent: its budget knows of tokens alone, and of none
        that the key spends elsewhere meanwhile.
        """
        try:
            self._parts.ledger.refuse_spent(self._caller)
        except BudgetSpent as error:
            self._overspent = str(error)
            self._stop.set()

    def _lose(self) -> None:
        """Another has it, or may have: nothing more is begun, and nothing more is said of it."""
        self._is_lost = True
        self._stop.set()

    def _end(self, state: State, problem: str, wait: float) -> None:
        if self._is_lost:
            return
        if state == "cancelled":
            self._watched.settle("cancelled")
        elif state == "failed":
            self._watched.settle("failed", problem)
        else:
            self._watched.settle("queued")
        now = replace(self._now(state), problem=problem, eta=None)
        if state == "queued" and (self._is_away or self._is_closing()):
            # It was not its fault that it was let go.
            now = replace(now, attempts=0)
        # Who cancelled it in the last moment was not seen here: whoever takes it up does.
        self._save(self._watched.take_changed(), job_row(now) | {"worker": None}, wait)


WORKS: Mapping[Kind, Callable[[Work, Collection], Sequence[Outcome]]] = {
    "ingest": Work._ingest,
    "build": Work._build,
    "retry": Work._retry,
    "reembed": Work._reembed,
    "remove": Work._remove,
}
"""How each kind of job is done."""
