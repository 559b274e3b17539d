"""Documents into the graph, several at once; each is added, replaced, unchanged or failed.

Each goes through three steps: `plan` reads from the store what has to be made, `make` makes it
without a database, and `commit` writes it.
"""

from __future__ import annotations

import pickle
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from fabula.build.commit import commit, hold_lock
from fabula.build.driver import Ask, Rounds, answer, answer_later
from fabula.build.early_writer import EarlyWriter
from fabula.build.make import make, open_build
from fabula.build.outcome import Listener, Outcome, SilentListener, SilentProgress, describe
from fabula.build.plan import Outdated, Planner
from fabula.build.steps import StepRunner
from fabula.build.values import BuiltParts, CollectionPlan, DocumentPlan
from fabula.config.model_factory import ModelFactory
from fabula.errors import (
    BadReply,
    BudgetSpent,
    Changed,
    FabulaError,
    LoadError,
    NotFound,
    RuleError,
    ServerError,
    Stopped,
    StoreError,
    TooLarge,
    WorkerLost,
)
from fabula.graph.entries import Entry
from fabula.graph.method import Graph
from fabula.graph.parts import edition_properties
from fabula.graph.structure import name_sections
from fabula.load.source import DocumentSource
from fabula.models.counted import DirectCounter, Meter
from fabula.models.parallel import TaskGroup
from fabula.models.progress import BUILD, PLAN, READ_FILE, SEND_BATCHES, STORE, WAIT, Progress
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store import Store
from fabula.store.locks import ProcessLock
from fabula.text.chunk import section_namer
from fabula.text.document import Document
from fabula.text.metadata import CHANGEABLE, GivenMetadata

if TYPE_CHECKING:
    from fabula.build.cluster import WorkerCluster
    from fabula.models.batch_options import BatchOptions
    from fabula.models.batch_rounds import BatchRounds
    from fabula.models.batched import BatchCalls

PREPARED_SECONDS = 60.0
"""How long a run takes its collection for ready before it looks again. Looking costs a dozen round
trips, as many as writing a small document."""
MAX_PLANS = 5
"""How often what was changed while it was planned is planned before the build fails."""
MAX_KEPT_CHARACTERS = 5_000_000
"""Of how many characters of text the builds may be that wait in memory for batches: fifteen novels,
in 190 MB (37 bytes a character, measured), so that a run takes about as much as one that waits for
each call. Of others the packed text is kept, and they begin again in each round, which may take a
day: all documents need no more rounds than one."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What one document of a run is made with.

    Attributes:
        planner: Decides what is to be made; all documents of the run share it.
        steps: Reads the document and makes its parts, here or elsewhere.
        job: The document's calls to models, which end with the run.
        progress: Told of the document's steps, with the usage of all of them.
        begun: What is kept of the document until it has ended.
    """

    planner: Planner
    steps: StepRunner
    job: TaskGroup
    progress: Progress
    begun: _Begun


@dataclass(eq=False, slots=True)
class _Begun:
    """A document that has begun; where its build waits for batches, over several rounds.

    Attributes:
        phases: Told which phase of its build begins.
        meter: Counts its calls to models.
        models: The models that are asked.
        ask: Answers its requests now or later; None for calls that are waited for.
        batch: Answers and collects its calls, where they are made by batches.
        document: What was read.
        packed: The same, compressed, where the build begins again in the next round.
        entries: What the store had of it when it was planned.
        plan: What is to be made, while the build waits.
        build: The build that waits.
    """

    phases: _DocumentProgress
    meter: Meter
    models: ModelFactory
    ask: Ask | None
    batch: BatchCalls | None
    began: float = field(default_factory=time.monotonic)
    document: Document | None = None
    packed: bytes = b""
    entries: Sequence[Entry] = ()
    plan: DocumentPlan | CollectionPlan | None = None
    build: Rounds | None = None

    def forget_build(self) -> None:
        """Let the build begin again from its start; it counts the same replies once more."""
        self.plan = self.build = None
        self.meter = self.phases.meter = Meter(self.meter.within)
        if self.batch is not None:
            self.batch.restart()

    def pack(self) -> None:
        """Keep of a build that waits no more than its text, from which it begins again."""
        self.forget_build()
        if self.document is not None:
            self.packed = self.packed or zlib.compress(pickle.dumps(self.document))
            self.document = None

    def unpack(self) -> Document | None:
        """Return what was read; None if nothing was."""
        if self.document is None and self.packed:
            self.document = pickle.loads(zlib.decompress(self.packed))
        return self.document


@dataclass(eq=False, slots=True)
class _Task:
    """A document, or a collection's own graph, that a run takes through its steps."""

    name: str
    do: Callable[[_Work], Outcome]
    begun: _Begun | None = None


Plan = DocumentPlan | CollectionPlan | Entry | None
"""What is to be made; a document where nothing is, and None for a collection's own graph."""


@dataclass(slots=True)
class _DocumentProgress:
    """Reports with each step what all parts of the document have asked of models together.

    Once a document has begun, one of its phases is always under way.
    """

    progress: Progress
    meter: Meter
    phase: str = ""

    def expect(self, step: str, count: int) -> None:
        self.progress.expect(step, count)

    def done(self, step: str, usage: Usage) -> None:
        self.progress.done(step, self.meter.total())

    def enter(self, phase: str) -> None:
        """Report that a phase begins and the one before it is over."""
        if phase == self.phase:
            return
        self.expect(phase, 1)
        self.leave()
        self.phase = phase

    def leave(self) -> None:
        """Report that the last phase is over."""
        if self.phase:
            self.done(self.phase, Usage())
        self.phase = ""


class Gate:
    """Lets writers through until it is closed."""

    def __init__(self) -> None:
        self._inside = 0
        self._closed = False
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            if self._closed:
                raise StoreError("Another document of this run has failed: try again.")
            self._inside += 1

    def __exit__(self, *failure: object) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody in from now on, and wait until everybody who is inside has left."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._inside)


@dataclass(frozen=True)
class BuildRun:
    """One run over many sources into one collection.

    Attributes:
        store: The graph.
        models: The models.
        collection: The collection that all sources go into.
        names: The graphs to build of each document.

    The others are those of `BuildOptions`.
    """

    store: Store
    models: ModelFactory
    collection: str
    names: Collection[str]
    listener: Listener = field(default_factory=SilentListener)
    rebuild: bool = False
    strict: bool = False
    dry: bool = False
    stop: Stop = field(default_factory=Stop)
    batch: BatchOptions | None = None
    metadata: GivenMetadata = field(default_factory=GivenMetadata)
    cluster: WorkerCluster | None = None
    _text_locks: dict[str, threading.Lock] = field(default_factory=dict)
    """A lock for each text: of equal texts in one run the first comes in, the others are it."""
    _kept: Counter[_Task] = field(default_factory=Counter)
    """How many characters the documents have whose builds are kept between rounds."""
    _made: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The id and the title of each document that this run has made, by the hash of its text."""
    _text_locks_lock: threading.Lock = field(default_factory=threading.Lock)
    _gate: Gate = field(default_factory=Gate)
    _prepared: dict[int, float] = field(default_factory=dict)
    """When the collection was last made ready for embeddings, by their dimensions."""
    _preparing: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def rounds(self) -> BatchRounds | None:
        """What sends the calls to models by batches; None to make them at once."""
        return self.models.batch_rounds(self.batch) if self.batch and not self.dry else None

    def ingest(self, sources: Sequence[DocumentSource]) -> list[Outcome]:
        """Take in each source as a document.

        Besides `names`, the graphs that a document has already are brought up to date with its
        text, and models are asked for their gaps again. What was ingested stays, however the run
        ends.

        Returns:
            What became of each source, in order. A source fails alone if it can't be read, if
            more than one piece and over a tenth of a graph is missing because replies stay
            malformed, if another process changes it meanwhile, or if it is too large for the
            server. If the run was stopped, all that is not done is stopped.

        Raises:
            FabulaError: Anything else that goes wrong ends the run, once what is under way has
                ended.
        """
        return self._run_all(
            [_Task(source.name, partial(self._ingest, source)) for source in sources]
        )

    def build(self, parts: Sequence[tuple[Entry, Collection[str]]]) -> list[Outcome]:
        """Build of each document the graphs that are named beside it; its text stays as it is."""
        return self._run_all(
            [_Task(entry.source, partial(self._build, entry, names)) for entry, names in parts]
        )

    def build_collection(self, graph: Graph[Any]) -> list[Outcome]:
        """Build what belongs to the collection itself, from what its documents have."""
        here = replace(self, cluster=None)
        return here._run_all([_Task(self.collection, partial(here._build_collection, graph))])

    # The run

    def _run_all(self, tasks: Sequence[_Task]) -> list[Outcome]:
        self.listener.expect(len(tasks))
        rounds = self.rounds
        if rounds is None:
            return self._run_once(tasks)
        outcomes: dict[_Task, Outcome] = {}
        left = tasks
        while left:
            rounds.begin_round()
            outcomes.update(zip(left, self._run_once(left), strict=True))
            left = [task for task in left if outcomes[task].status == "waiting"]
            if left and not _end_round(rounds):
                break
        for task in left:
            if self.stop.is_set():
                outcomes[task] = Outcome(task.name, "stopped")
            self.listener.end(outcomes[task])
        return [outcomes[task] for task in tasks]

    def _run_once(self, tasks: Sequence[_Task]) -> list[Outcome]:
        # Here, not beside the calls: a run that fails must leave no thread at the store.
        if not self.dry:
            self.store.make_schema()
        planner = Planner(
            self.store,
            self.models,
            self.collection,
            self.names,
            rebuild=self.rebuild,
            strict=self.strict,
            dry=self.dry,
        )
        steps = self._open_steps() if tasks else StepRunner(self.models)
        try:
            return self._run_with(planner, steps, tasks)
        finally:
            steps.close()

    def _open_steps(self) -> StepRunner:
        if self.cluster is None or self.dry:
            return StepRunner(self.models)
        return self.cluster.open_run(self.models)

    def _run_with(
        self, planner: Planner, steps: StepRunner, tasks: Sequence[_Task]
    ) -> list[Outcome]:
        job = TaskGroup(steps.document_workers, stop=self.stop)
        run = partial(self._run, planner, steps, job)
        try:
            with job:
                futures = [job.submit(0, run, task) for task in tasks]
                outcomes = [
                    self._result(task.name, future)
                    for task, future in zip(tasks, futures, strict=True)
                ]
        except BaseException as error:
            # Nothing is written any more once the run is reported as failed.
            self._gate.close()
            if isinstance(error, BudgetSpent | ServerError | StoreError):
                # Calls under way are paid for: their replies are cached, too.
                job.wait_for_parts()
            raise
        if self.stop.is_set():
            job.wait_for_parts()
        return outcomes

    def _result(self, name: str, future: Future[Outcome]) -> Outcome:
        try:
            return future.result()
        except FabulaError:
            # A run that was stopped reports that, whatever else happened to its documents.
            if not self.stop.is_set():
                raise
            return Outcome(name, "stopped")

    def _run(self, planner: Planner, steps: StepRunner, run: TaskGroup, task: _Task) -> Outcome:
        with steps.admit(run):
            return self._run_task(planner, steps, run, task)

    def _run_task(
        self, planner: Planner, steps: StepRunner, run: TaskGroup, task: _Task
    ) -> Outcome:
        if task.begun is None:
            task.begun = self._begin(task.name)
        begun = task.begun
        job = TaskGroup(self.models.workers, within=run)
        try:
            planner = replace(planner, progress=begun.phases)
            outcome = task.do(_Work(planner, steps, job, begun.phases, begun))
        except Stopped:
            outcome = Outcome("", "stopped")
        except (LoadError, BadReply, RuleError, Changed, NotFound, TooLarge, WorkerLost) as error:
            outcome = Outcome("", "failed", error=_name_source(task.name, error))
        if outcome.status == "waiting":
            begun.phases.enter(SEND_BATCHES)
            self._keep(task, begun)
            return Outcome(task.name, "waiting")
        self._kept.pop(task, None)
        task.begun = None
        # Calls that were under way when it ended like that are paid for: they are counted, too.
        job.wait_for_parts()
        if self.rounds is not None and begun.batch is not None:
            self.rounds.end_build(begun.batch)
            if outcome.status != "stopped":
                begun.batch.settle()
        seconds = time.monotonic() - begun.began
        outcome = replace(outcome, source=task.name, steps=begun.meter.usage(), seconds=seconds)
        begun.phases.leave()
        self.listener.end(outcome)
        return outcome

    def _keep(self, task: _Task, begun: _Begun) -> None:
        """Keep a build until the next round, unless too many are kept."""
        if task not in self._kept and self._kept.total() >= MAX_KEPT_CHARACTERS:
            begun.pack()
        elif isinstance(begun.plan, DocumentPlan):
            self._kept[task] = len(begun.plan.document.text)

    def _begin(self, name: str) -> _Begun:
        models, counter, batch = self.models, self.models.counter, None
        ask: Ask | None = None
        if self.rounds is not None:
            batch = self.rounds.begin_build()
            ask = partial(answer_later, batch)
            # What batches brought is counted when it is first used, and not by each process.
            counter = counter and DirectCounter(counter)
        elif self.dry:
            from fabula.models.placeholders import DryRun

            settings = models.settings
            has_all = settings.offline and settings.cache
            dry_run = DryRun(embedded=set() if has_all else None)
            models, ask = models.view(dry_run=dry_run), answer
        meter = Meter(counter)
        progress = _DocumentProgress(self.listener.begin(name), meter)
        return _Begun(progress, meter, models, ask, batch)

    # One document: plan, make, commit

    def _ingest(self, source: DocumentSource, work: _Work) -> Outcome:
        document = work.begun.unpack()
        if document is None:
            work.begun.phases.enter(READ_FILE)
            document = work.begun.document = work.steps.read(source, work.job)
        try:
            outcome = self._ingest_once(document, work)
        except Outdated:
            # Another process has continued it since it was read: this text comes after that one's.
            work.begun.document, work.begun.packed = None, b""
            return self._ingest(source, work)
        if not self.dry and outcome.status != "waiting":
            notes = self._describe(outcome.document, document)
            if outcome.status != "added":
                outcome = replace(outcome, notes=(*outcome.notes, *notes))
        return replace(outcome, left_out=document.left_out, warnings=document.warnings)

    def _ingest_once(self, document: Document, work: _Work) -> Outcome:
        """Take in a document, unless this run has made one of the same text."""
        with self._text_locks_lock:
            text_lock = self._text_locks.setdefault(document.sha256, threading.Lock())
        if text_lock.locked():
            work.begun.phases.enter(WAIT)
        with text_lock:
            work.begun.phases.enter(PLAN)
            twin = self._made.get(document.sha256)
            # The first of these texts is the document, unless the store has this one already.
            other = twin if twin and twin[0] != document.id else None
            if other and not self.store.find_same(self.collection, [document.id]):
                return Outcome("", "unchanged", *other)
            outcome = self._ingest_document(document, work)
            if outcome.status != "waiting":
                self._made.setdefault(document.sha256, (outcome.document, outcome.title))
            return outcome

    def _ingest_document(self, document: Document, work: _Work) -> Outcome:
        entry, current = work.planner.find(document)
        if entry and entry.appended and not document.appended:
            document = work.planner.keep_appended(document, entry)
            entry, current = work.planner.find(document)
        self._update_structure(document, entry)
        if current is not None:
            return _report_unchanged(current)
        names = (f"document {document.id}", f"text {document.sha256} {self.collection}")
        # A plan is made under the lock: whoever held it before may just have made the document.
        plan = partial(work.planner.plan_document, document)
        return self._under_lock(names, document.id, document.source, plan, work)

    def _describe(self, id: str, document: Document) -> list[str]:
        """Give a document the fields that its file states anew, and those that were given.

        What people have changed stays until the file says something else than it said before.

        Returns:
            A note that names the fields that have changed, if any have.
        """
        given = self.metadata.of(document.source, document.title)
        notes: list[str] = []
        if not (given or document.metadata):
            return notes
        for entry in self.store.find_same(self.collection, [id]):
            stated, before = document.metadata, entry.stated
            new = {name: stated[name] for name in stated if stated[name] != before.get(name)}
            own = {name: getattr(entry, name) for name in CHANGEABLE}
            changes = {
                name: value
                for name, value in {**new, **given}.items()
                if value != {**entry.metadata, **own}.get(name, "")
            }
            if changes or stated != before:
                self.store.set_metadata(entry, changes, stated=stated)
            if changes:
                notes.append(f"metadata changed: {', '.join(sorted(changes))}")
        return notes

    def _update_structure(self, document: Document, entry: Entry | None) -> None:
        """Give a document new sections, pages and edition, from which nothing is built."""
        if self.dry or entry is None:
            return
        if entry.sha256 == document.sha256 and entry.reading < document.reading:
            named = partial(name_sections, section_namer(document))
            self.store.set_structure(entry, edition_properties(document), named)

    def _build(self, entry: Entry, names: Collection[str], work: _Work) -> Outcome:
        work.begun.phases.enter(PLAN)
        if not work.planner.is_missing(entry, names):
            return _report_unchanged(entry)
        plan = partial(work.planner.plan_graphs, entry, names)
        return self._under_lock([f"document {entry.id}"], entry.id, entry.source, plan, work)

    def _build_collection(self, graph: Graph[Any], work: _Work) -> Outcome:
        work.begun.phases.enter(PLAN)
        title = f"{graph.name} of collection {self.collection!r}"
        plan = partial(work.planner.plan_collection, graph)
        outcome = self._under_lock([f"{graph.name} {self.collection}"], "", title, plan, work)
        return replace(outcome, title=title)

    def _under_lock(
        self,
        names: Sequence[str],
        document: str,
        source: str,
        plan: Callable[[], Plan],
        work: _Work,
    ) -> Outcome:
        """Do the three steps while no other process does them for what has these names."""
        begun = work.begun
        if self.dry:
            return self._do_steps(begun.plan or plan(), None, work)
        wait = partial(begun.phases.enter, WAIT)
        held = hold_lock(self.store, self.collection, names, source, work.job, work.progress, wait)
        with held as (lock, progress):
            if begun.batch is not None:
                # A build that has waited goes on, unless its document was changed meanwhile.
                entries = self.store.find_same(self.collection, [document])
                if begun.plan is not None and entries != begun.entries:
                    begun.forget_build()
                begun.entries = entries
            if begun.plan is not None:
                return self._do_steps(begun.plan, lock, work)
            begun.phases.enter(PLAN)
            return self._do_steps(_plan(plan), lock, replace(work, progress=progress))

    def _do_steps(
        self,
        plan: Plan,
        lock: ProcessLock | None,
        work: _Work,
    ) -> Outcome:
        begun = work.begun
        begun.phases.enter(BUILD)
        if not isinstance(plan, DocumentPlan | CollectionPlan):
            return _report_unchanged(plan) if plan else Outcome("", "unchanged")
        outcome = Outcome("", plan.status)
        if isinstance(plan, DocumentPlan):
            outcome = replace(outcome, document=plan.document.id, title=plan.document.title)
            if lock and begun.ask is None:
                return describe(outcome, self._make_and_commit(plan, lock, work).parts)
        if begun.ask is None:
            built = make(plan, self.models, work.progress, begun.meter, work.job)
        else:
            begun.plan = plan
            if begun.build is None:
                # One that begins again goes through all steps again: only writing is progress.
                progress = SilentProgress() if begun.batch else work.progress
                build = open_build(plan, begun.models.models, begun.meter)
                begun.build = Rounds(build, work.job, progress, begun.ask)
            ended = begun.build.resume(work.job)
            if not ended.is_done:
                return replace(outcome, status="waiting")
            [built] = ended.outcome
        self.stop.check()
        if lock:
            self._commit(built, lock, work)
        return describe(outcome, built.parts)

    def _make_and_commit(self, plan: DocumentPlan, lock: ProcessLock, work: _Work) -> BuiltParts:
        """Make the parts, and write those that are made while models are asked for the others."""
        model = self.models.embedder.model
        early = EarlyWriter(self.store, model, lock, self._prepare, self._gate, self.stop)
        try:
            built = work.steps.make(plan, work.progress, work.begun.meter, work.job, early.take)
            self.stop.check()
            self._commit(built, lock, work, early)
        except BaseException:
            early.close()
            raise
        return built

    def _commit(
        self, built: BuiltParts, lock: ProcessLock, work: _Work, early: EarlyWriter | None = None
    ) -> None:
        model = self.models.embedder.model
        work.begun.phases.enter(STORE)
        with self._gate:
            staged = early.finish() if early else None
            commit(
                built,
                self.store,
                model,
                lock,
                work.progress,
                work.begun.meter,
                self.stop,
                self._prepare,
                staged,
                work.begun.phases.enter,
            )

    def _prepare(self, dimensions: int) -> None:
        """Make the collection ready for embeddings, unless this run has done that a moment ago."""
        with self._preparing:
            now = time.monotonic()
            if now - self._prepared.get(dimensions, -PREPARED_SECONDS) < PREPARED_SECONDS:
                return
            self.store.prepare(self.collection, self.models.embedder.model, dimensions)
            self._prepared[dimensions] = time.monotonic()


def _end_round(rounds: BatchRounds) -> bool:
    """Send what a round has collected. Returns whether the next round can begin."""
    is_answered = rounds.submit()
    if refusal := rounds.refusal():
        raise refusal
    if is_answered or not rounds.is_waiting:
        return True
    if not rounds.options.wait:
        return False
    try:
        return rounds.wait_for_batches()
    except Stopped:
        return False


def _report_unchanged(entry: Entry) -> Outcome:
    return Outcome("", "unchanged", entry.id, entry.title)


def _name_source(source: str, error: FabulaError) -> FabulaError:
    """Put the source's name before an error of a model, which does not know whose text it read."""
    if isinstance(error, LoadError | WorkerLost):
        return error
    named = type(error)(f"{source}: {error}")
    named.__cause__ = error
    return named


def _plan(plan: Callable[[], Plan]) -> Plan:
    """Return a plan, and plan again where what was read for it was replaced meanwhile."""
    for _ in range(MAX_PLANS - 1):
        with suppress(Changed):
            return plan()
    return plan()
