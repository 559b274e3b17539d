"""Run the jobs: threads that take jobs from the queue, do them and save their progress."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fabula import tracing
from fabula.build.options import BuildOptions
from fabula.build.outcome import Outcome
from fabula.config.serving import Serving
from fabula.errors import (
    BudgetSpent,
    ClusterError,
    FabulaError,
    NotFound,
    ServerError,
    SpaceError,
    Stopped,
    StoreError,
)
from fabula.export.annotation_formats import find_format, unpack_files
from fabula.jobs.callers import Caller, Quotas
from fabula.jobs.giving_way import GivingWay
from fabula.jobs.job import OPEN, Item, JobState, StoredJob, add_usage, item_row, job_row
from fabula.jobs.ledger import Ledger
from fabula.jobs.progress import JobProgress
from fabula.jobs.queue import Jobs
from fabula.jobs.start import document_source, find_upload
from fabula.jobs.uploads import Uploads
from fabula.jobs.work import WORK_BY_KIND, BuildWork
from fabula.library import App
from fabula.library.annotating import keep_layer
from fabula.library.collection import Collection
from fabula.load.source import DocumentSource
from fabula.models.batch_interface import InterfaceRefused
from fabula.models.batch_options import BatchOptions, BatchProgress
from fabula.models.batch_store import BatchStore
from fabula.models.progress import IMPORT
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store.locks import ProcessLock, find_held_names, process_lock
from fabula.text.metadata import GivenMetadata, read_assignments
from fabula.text.names import quote_name
from fabula.text.nouns import count_noun

if TYPE_CHECKING:  # it imports Dask, which is an extra
    from fabula.build.cluster import WorkerCluster

LOG = logging.getLogger("fabula.jobs")
LEASE_SECONDS = 30.0
"""How long a job belongs to a worker that does not renew its lease."""
POLL_SECONDS = 1.0
"""How often an idle worker checks the queue, and how often a running job saves its progress and
renews its lease."""
MAX_ATTEMPTS = 10
"""How often a job without progress is begun: one that ends its process must not be begun for ever.
"""
PAUSE_POLL_SECONDS = 0.1
"""How often it is checked whether all jobs have been released."""
LOCK_PING_SECONDS = 60.0
"""How often something is sent over the connection that holds a worker's lock: a proxy or firewall
may cut an idle connection."""
UNEXPECTED = "Unexpected error. The log of the service has the details under job {id}."


@dataclass(frozen=True, slots=True)
class JobServices:
    """What running jobs needs of the service."""

    app: App
    serving: Serving
    jobs: Jobs
    uploads: Uploads
    ledger: Ledger
    outage: Callable[[], object]
    """Returns why Neo4j can't be reached now, or None if it can."""
    is_asked: Callable[[], bool]
    """Returns whether this process is answering a question."""
    awaited: dict[str, BatchProgress] = field(default_factory=dict)
    """The batches that jobs wait for, by the jobs' ids, as far as this process has sent them. They
    spare a job from going through its documents at each poll of its batches."""
    cluster: WorkerCluster | None = None
    """The workers of `serve.scheduler`."""


class Runner:
    """Threads that run jobs while the service runs, `serve.jobs_at_once` of them.

    Args:
        services: What running jobs needs of the service.
        takes_others: Whether jobs are taken that other processes have added.
    """

    def __init__(self, services: JobServices, *, takes_others: bool = True) -> None:
        self._services, self._takes_others = services, takes_others
        self._is_closing = threading.Event()
        self._is_paused = False
        self._stops: set[Stop] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._busy_threads = 0
        """How many threads look for a job or run one."""
        self._sees_locks = True
        """Whether this Neo4j shows which locks are held. A hosted one may not; then only the leases
        tell whether a worker is alive."""

    def start(self) -> None:
        """Start to take jobs, also those of processes that have ended."""
        for number in range(self._services.serving.jobs_at_once):
            thread = threading.Thread(target=self._run, name=f"jobs-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self, seconds: float) -> None:
        """Release all jobs, so that other processes can take them.

        That takes as long as the model calls under way, and this waits at most so many seconds.
        """
        self._is_closing.set()
        with self._lock:
            stops = [*self._stops]
        for stop in stops:
            stop.set()
        self._services.jobs.notify()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    @contextmanager
    def pause(self, reason: str = "") -> Iterator[None]:
        """Release all jobs, and take none while the block runs, for a reason in a sentence.

        A job that is not released within `serve.grace` is not waited for any longer: it fails at
        Neo4j and is taken again later.
        """
        with self._lock:
            self._is_paused = True
            self._services.jobs.pause_reason = reason
            for stop in self._stops:
                stop.set()
        try:
            deadline = time.monotonic() + self._services.serving.grace
            while time.monotonic() < deadline:
                with self._lock:
                    if not self._busy_threads:
                        break
                time.sleep(PAUSE_POLL_SECONDS)
            yield
        finally:
            with self._lock:
                self._is_paused = False
                self._services.jobs.pause_reason = ""
            self._services.jobs.notify()

    def _is_releasing(self) -> bool:
        """Return whether jobs are released for a reason that is not their own."""
        return self._is_closing.is_set() or self._is_paused

    def _run(self) -> None:
        while not self._is_closing.is_set():
            has_run = False
            try:
                # While Neo4j is down the queue can't be read; the supervisor logs the outage.
                has_run = self._services.outage() is None and self._take_one_unless_paused()
            except FabulaError as error:
                LOG.warning("No job can be taken now: %s", error)
            except Exception:
                LOG.exception("Unexpected error while a job was taken or ended.")
            if not (has_run or self._is_closing.is_set()):
                with self._services.jobs.changed:
                    self._services.jobs.changed.wait(POLL_SECONDS)

    def _take_one_unless_paused(self) -> bool:
        with self._lock:
            if self._is_paused:
                return False
            self._busy_threads += 1
        try:
            return self._take_one()
        finally:
            with self._lock:
                self._busy_threads -= 1

    def _take_one(self) -> bool:
        """Run the job that has waited longest. Return False if there is none."""
        store, jobs = self._services.app.connect(), self._services.jobs
        if not (self._takes_others or jobs.own_ids):
            return False
        is_due, workers = jobs.is_any_waiting(takes_others=self._takes_others)
        if not (is_due or self._dead(workers)):
            return False
        # Before the lock is taken: creating the schema of locks waits until no lock is held.
        store.make_schema()
        worker = f"{self._services.app.settings.neo4j_username} {uuid.uuid4().hex}"
        # Other processes see the lock as long as this worker lives, and no longer.
        with process_lock(store, [worker]) as lock:
            dead = self._dead(workers, worker)
            id = jobs.take(
                worker, dead, round(LEASE_SECONDS * 1000), takes_others=self._takes_others
            )
            if id is None:
                return False
            jobs.notify()
            job = jobs.read(id)
            if job is None:
                return False
            with self._stopping() as stop:
                JobRun(self._services, job, worker, lock, stop, self._is_releasing).run()
        return True

    def _dead(self, workers: Sequence[str | None], own: str = "") -> list[str]:
        """Return those of these workers that are known to have ended."""
        # Neo4j shows a user only the locks of that user.
        prefix = f"{self._services.app.settings.neo4j_username} "
        visible = {worker for worker in workers if worker and worker.startswith(prefix)}
        if not (visible and self._sees_locks):
            return []
        with self._services.app.connect().session() as session:
            held = find_held_names(session)
        # If it does not show the lock of this worker, it shows none at all.
        if own and own not in held:
            self._sees_locks = False
            return []
        return sorted(visible - held)

    @contextmanager
    def _stopping(self) -> Iterator[Stop]:
        stop = GivingWay(self._services.is_asked)
        with self._lock:
            self._stops.add(stop)
        if self._is_releasing():
            stop.set()
        try:
            yield stop
        finally:
            with self._lock:
                self._stops.discard(stop)


class JobRun:
    """One run of a job by one worker.

    Args:
        services: What running jobs needs of the service.
        job: The job as it was taken.
        worker: The worker's name, which is also the name of its lock.
        lock: Held while the job runs.
        stop: Ends the job soon once it is set.
        is_releasing: Returns whether the process stops or pauses, so that the job is to be left for
            later.
    """

    def __init__(
        self,
        services: JobServices,
        job: StoredJob,
        worker: str,
        lock: ProcessLock,
        stop: Stop,
        is_releasing: Callable[[], bool],
    ) -> None:
        self._services, self._job, self._worker, self._lock = services, job, worker, lock
        self._stop, self._is_releasing = stop, is_releasing
        self._progress = JobProgress(job.items)
        self._is_lost = False
        """Whether another worker has the job, or may have it."""
        self._is_outage = False
        self._is_cancelled = job.cancelling
        self._quota_problem = ""
        """Why the caller may spend no more; '' while it may."""
        self._saved_at = time.monotonic()
        self._attempts = job.attempts
        self._is_over = threading.Event()
        caller = job.caller
        self._caller = Caller(caller["id"], caller["name"], "write", quotas=Quotas.of(caller))

    def run(self) -> None:
        """Run the job, and save how it ended."""
        saver = threading.Thread(target=self._keep_saving, name="jobs-saver", daemon=True)
        saver.start()
        try:
            state, problem, wait = self._attempt()
        finally:
            self._is_over.set()
            saver.join()
        self._end(state, problem, wait)

    def _attempt(self) -> tuple[JobState, str, float]:
        """Run the job; return its state then, the reason, and seconds until it may run again."""
        if self._is_cancelled:
            return "cancelled", "", 0
        if self._job.attempts > MAX_ATTEMPTS:
            return (
                "failed",
                (
                    f"It was started {MAX_ATTEMPTS} times and made no progress, as the process "
                    "ended each time: the log of the service may say why. Retry the job then."
                ),
                0,
            )
        attributes = {tracing.JOB: self._job.id, tracing.DATA_SOURCE: self._job.collection}
        try:
            with tracing.span(f"job {self._job.kind}", attributes):
                outcomes = self._do()
        except FabulaError as error:
            return self._after_error(error)
        except Exception:
            LOG.exception("Job %s ended with an unexpected error.", self._job.id)
            return "failed", UNEXPECTED.format(id=self._job.id), 0
        if any(outcome.status == "stopped" for outcome in outcomes):
            return self._end_stopped()
        if any(outcome.status == "waiting" for outcome in outcomes):
            return self._end_waiting()
        if self._job.kind in ("build", "renew"):
            # The build did not even look at what is left: it is built by now, or was removed.
            self._progress.settle("unchanged")
        if self._progress.waiting():
            return self._end_stopped()
        failed = sum(item.state == "failed" for item in self._progress.items)
        if failed:
            total = len(self._progress.items)
            return "failed", f"{failed} of {total} failed; each one's error says why.", 0
        return "succeeded", "", 0

    def _after_error(self, error: FabulaError) -> tuple[JobState, str, float]:
        """Return the job's state after an error, the reason, and seconds to wait."""
        if isinstance(error, Stopped):
            return self._end_stopped()
        if isinstance(error, BudgetSpent):
            return "paused", error.message, 0
        is_outage = isinstance(error, StoreError | ServerError | ClusterError)
        if is_outage and not isinstance(error, SpaceError):
            LOG.warning("Job %s waits: %s", self._job.id, error)
            # The job waits for Neo4j, for space on its disk, or for the cluster, as long as that
            # takes: MAX_ATTEMPTS is for jobs that end their process.
            self._is_outage = True
            return "queued", error.message, min(60.0, 2.0 ** min(self._job.attempts, 6))
        if isinstance(error, InterfaceRefused) and error.is_temporary:
            # The batches go on, whether they can be asked about or not.
            LOG.warning("Job %s waits: %s", self._job.id, error)
            return "waiting", error.message, self._services.serving.batch_poll
        return "failed", error.message, 0

    def _end_stopped(self) -> tuple[JobState, str, float]:
        if self._quota_problem and not self._is_cancelled:
            return "paused", self._quota_problem, 0
        return ("cancelled" if self._is_cancelled else "queued"), "", 0

    def _do(self) -> Sequence[Outcome]:
        self._services.ledger.refuse_spent(self._caller)
        ledger, job = self._services.ledger, self._job
        collection = self._services.app.collection(
            job.collection,
            budget=ledger.budget(self._caller, self._tokens_in_flight()),
            # Counts each call when it is answered: exactly what the endpoint charges.
            counter=ledger.account(self._caller, job.collection, job.kind),
            takes_paths=False,
        )
        if job.options.get("batch") and self._is_waiting(collection):
            return [Outcome(job.collection, "waiting")]
        if job.kind == "ingest":
            return self._ingest(collection)
        if job.kind == "annotate":
            return self._annotate(collection)
        return WORK_BY_KIND[job.kind](collection, **job.options).run(**self._build_options)

    # Batches

    @property
    def _batch(self) -> BatchOptions | None:
        """How models are asked by batches; None if they are called directly."""
        if not self._job.options.get("batch"):
            return None
        return BatchOptions(report=self._await, owner=self._caller.id)

    def _tokens_in_flight(self) -> dict[str, int]:
        """Return about how many tokens the caller has in batches that have not ended, by model."""
        if not self._caller.quotas.limits():
            return {}
        with closing(BatchStore(self._services.app.settings.cache_folder)) as store:
            return store.tokens_in_flight(self._caller.id) if store.exists else {}

    def _await(self, progress: BatchProgress) -> None:
        self._services.awaited[self._job.id] = progress

    def _is_waiting(self, collection: Collection) -> bool:
        """Look at the job's batches; return whether one of them has not ended."""
        awaited = self._services.awaited.get(self._job.id)
        if awaited is None:
            return False
        rounds = collection.models.view(stop=self._stop).batch_rounds(self._batch or BatchOptions())
        rounds.advance(awaited.numbers)
        now = rounds.progress(awaited.numbers)
        if now.cancelled and not awaited.cancelled:
            self._await(now)
            return True
        # All numbers stay: one that has ended may have been cancelled.
        self._await(replace(now, numbers=awaited.numbers))
        return now.batches > 0

    def _end_waiting(self) -> tuple[JobState, str, float]:
        progress = self._services.awaited.get(self._job.id)
        if progress is not None and progress.cancelled:
            problem = "A batch of its model calls was cancelled: resume it to send the rest again."
            return "paused", problem, 0
        return "waiting", self._describe_wait(), self._services.serving.batch_poll

    def _describe_wait(self) -> str:
        progress = self._services.awaited.get(self._job.id)
        if progress is None or not progress.batches:
            return "It waits for batches of model calls."
        return (
            f"It waits for {count_noun(progress.batches, 'batch')} with {progress.lines:,} model "
            f"calls, of which {progress.done:,} are answered."
        )

    # The kinds of jobs

    @property
    def _build_options(self) -> BuildOptions:
        """How graphs are built by this job."""
        return {
            "listener": self._progress,
            "stop": self._stop,
            "batch": self._batch,
            "cluster": None if self._batch else self._services.cluster,
        }

    def _ingest(self, collection: Collection) -> Sequence[Outcome]:
        waiting = self._progress.waiting()
        graphs, options = self._job.options.get("graphs"), self._build_options
        options["rebuild"] = self._job.options.get("rebuild", False)
        fields = read_assignments(self._job.options.get("meta", ()))
        options["metadata"] = GivenMetadata(fields)

        def ingest(sources: Sequence[DocumentSource]) -> Sequence[Outcome]:
            return collection.ingest_sources(sources, graphs=graphs, **options)

        sources = {
            item.source: document_source(self._services.uploads, collection.name, item)
            for item in waiting
        }
        if onto := self._job.options.get("onto"):
            return collection.append_sources(onto, [*sources.values()], **options)
        try:
            return ingest([*sources.values()])
        except FabulaError:
            raise
        except Exception:
            if len(sources) == 1:
                raise
            LOG.exception("Job %s goes on with one document after the other.", self._job.id)
            return self._ingest_one_by_one(ingest, sources)

    def _ingest_one_by_one(
        self,
        ingest: Callable[[Sequence[DocumentSource]], Sequence[Outcome]],
        sources: Mapping[str, DocumentSource],
    ) -> Sequence[Outcome]:
        """Ingest each document by itself, so that an unexpected error fails only its own."""
        # Only the outcomes of those that wait for batches are returned.
        waiting: list[Outcome] = []
        for item in self._progress.waiting():
            try:
                outcomes = ingest([sources[item.source]])
                waiting += [outcome for outcome in outcomes if outcome.status == "waiting"]
            except FabulaError:
                raise
            except Exception:
                LOG.exception("Job %s, %s", self._job.id, item.source)
                error = FabulaError(UNEXPECTED.format(id=self._job.id))
                self._progress.end(Outcome(item.source, "failed", error=error))
            if self._stop.is_set():
                break
        return waiting

    def _annotate(self, collection: Collection) -> Sequence[Outcome]:
        """Import annotations of a document, and build the graph that is made of them."""
        [item], options = self._progress.items, self._job.options
        steps = self._progress.begin(item.source)
        steps.expect(IMPORT, 1)
        counted = 0

        def report(done: int, known: int) -> None:
            nonlocal counted
            if not done:
                steps.expect("annotations", known)
            for _ in range(done - counted):
                steps.done("annotations", Usage())
            counted = done

        found = collection.open_store().find_same(collection.name, [item.document])
        if not found:
            raise NotFound(f"There is no document {quote_name(item.document)} any more.")
        [entry] = found
        format, max_bytes = find_format(options["format"]), self._services.uploads.max_bytes
        source = f"{options['layer']}{format.suffixes[0]}"
        data = find_upload(self._services.uploads, item).read_bytes()
        imported = keep_layer(
            collection.open_store(),
            entry,
            options["layer"],
            unpack_files(data, source, format, max_bytes),
            source=source,
            format=format,
            by=self._caller.name,
            report=report,
            stop=self._stop,
        )
        self._progress.save_result(item.source, imported.counts)
        self._progress.end(
            Outcome(item.source, "replaced", entry.id, entry.title, warnings=imported.remarks)
        )
        # The build begins the item once more; where nothing is to be built, it stays as it is.
        if not options["graph"]:
            return ()
        build = BuildWork(collection, options["graph"], options["documents"])
        return build.run(**self._build_options)

    # Saving the progress

    def _keep_saving(self) -> None:
        """Save the progress each second, renew the lease, and see whether the job is cancelled."""
        while not self._is_over.wait(POLL_SECONDS):
            try:
                self._save_progress()
            except FabulaError as error:
                LOG.warning("Job %s: the progress can't be saved: %s", self._job.id, error)
                if time.monotonic() - self._saved_at > LEASE_SECONDS:
                    self._lose()
            except Exception:
                LOG.exception("Job %s: the progress can't be saved.", self._job.id)

    def _save_progress(self) -> None:
        self._lock.check(LOCK_PING_SECONDS)
        changed = self._progress.take_changed()
        rows = self._save(changed, job_row(self._now("running")) if changed else {})
        self._hold_to_quota()
        if not rows:
            self._lose()
        elif rows[0]["cancelling"]:
            self._is_cancelled = True
            self._stop.set()

    def _save(
        self, changed: Sequence[tuple[int, Item]], job: Mapping[str, Any], wait: float = 0
    ) -> list[dict[str, Any]]:
        try:
            rows = self._services.app.connect().rows(
                "jobs/save_progress",
                id=self._job.id,
                worker=self._worker,
                job=dict(job),
                items=[item_row(self._job.id, index, item) for index, item in changed],
                news=int(bool(job)),
                milliseconds=round(LEASE_SECONDS * 1000),
                wait=round(wait * 1000),
            )
        except BaseException:
            self._progress.give_back(changed)
            raise
        self._saved_at = time.monotonic()
        if job:
            self._services.jobs.notify()
        return rows

    def _now(self, state: JobState) -> StoredJob:
        usage = self._progress.usage()
        done, before = (
            sum(item.state not in OPEN for item in items)
            for items in (self._progress.items, self._job.items)
        )
        if sum(usage.values(), Usage()).calls or done > before:
            # The job makes progress, so what interrupts it is not its own fault.
            self._attempts = 0
        now = add_usage(self._job, self._progress.items, usage, self._services.app.settings)
        return replace(now, state=state, eta=self._progress.seconds_left(), attempts=self._attempts)

    def _hold_to_quota(self) -> None:
        """Stop the job once a quota is spent."""
        # The job's budget counts only tokens, and none that the key spends elsewhere meanwhile.
        try:
            self._services.ledger.refuse_spent(self._caller)
        except BudgetSpent as error:
            self._quota_problem = error.message
            self._stop.set()

    def _lose(self) -> None:
        """Stop without saving anything more: another worker has the job, or may have it."""
        self._is_lost = True
        self._stop.set()

    def _end(self, state: JobState, problem: str, wait: float) -> None:
        if self._is_lost:
            return
        if state == "cancelled":
            self._progress.settle("cancelled")
        elif state == "failed":
            self._progress.settle("failed", problem)
        else:
            self._progress.settle("queued")
        now = replace(self._now(state), problem=problem, eta=None)
        if state != "waiting":
            self._services.awaited.pop(self._job.id, None)
        is_released = self._is_outage or self._is_releasing()
        if state == "waiting" or (state == "queued" and is_released):
            # It was released for a reason that is not its own.
            now = replace(now, attempts=0)
        # A cancellation in the last moment is not seen here, but by whoever takes the job next.
        self._save(self._progress.take_changed(), job_row(now) | {"worker": None}, wait)
