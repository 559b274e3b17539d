"""The third step of a build: put the parts that were made in the place of the previous ones.

The lock is taken before anything is planned, so that no two processes pay for the same document.
It stays with the process that commits, because it is an open transaction of one connection.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.build.values import BuiltParts
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.progress import Progress
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store import Store
from fabula.store.locks import ProcessLock, process_lock
from fabula.store.parts import RunStaging, make_run_name

LOG = logging.getLogger("fabula")
LOCK_CHECK_SECONDS = 60.0
"""How often a held lock is checked while a document is made. It also keeps the connection in use:
one that is idle for minutes may be cut off."""


@dataclass(frozen=True, slots=True)
class _CheckedProgress:
    """Checks the document's lock as its steps go on: a run that lost it asks no more of models."""

    progress: Progress
    lock: ProcessLock

    def expect(self, step: str, count: int) -> None:
        self.progress.expect(step, count)

    def done(self, step: str, usage: Usage) -> None:
        self.progress.done(step, usage)
        self.lock.check(LOCK_CHECK_SECONDS)


@contextmanager
def hold_lock(
    store: Store,
    collection: str,
    names: Sequence[str],
    source: str,
    job: TaskGroup,
    progress: Progress,
    waiting: Callable[[], None] = lambda: None,
) -> Iterator[tuple[ProcessLock, Progress]]:
    """Keep other processes from making what has these names; wait for one that does already.

    A thread holds one lock at a time. The locks of the switch, which it waits for while it has
    this one, are held for the switch alone, so nobody can wait in a circle.

    Args:
        store: The graph.
        collection: The collection that is written to.
        names: What is locked.
        source: What a warning calls it, if another process is at work on it.
        job: The waiting ends once this job has failed.
        progress: Told of each step.
        waiting: Called if another process is at work on it.

    Yields:
        The lock, and the progress to use while it is held, which checks the lock now and then.
    """
    is_reported = False

    def wait() -> None:
        nonlocal is_reported
        if not is_reported:
            LOG.warning("Another Fabula is at work on %s: waiting until it has ended.", source)
            is_reported = True
            waiting()
        if job.failure is not None:
            raise job.failure

    with process_lock(store, names, wait, run=make_run_name(collection)) as lock:
        yield lock, _CheckedProgress(progress, lock)


def commit(
    built: BuiltParts,
    store: Store,
    model: str,
    lock: ProcessLock,
    progress: Progress,
    meter: Meter,
    stop: Stop,
    prepare: Callable[[int], None] | None = None,
    staged: RunStaging | None = None,
    enter: Callable[[str], None] = lambda phase: None,
) -> None:
    """Stage the parts and switch them in, all or nothing.

    Args:
        built: The parts, all of one collection.
        store: The graph.
        model: The model of their embeddings.
        lock: The lock of their owner.
        progress: Told of each passage that is staged.
        meter: What the document has asked of models until now.
        stop: Ends the staging. Nobody reads what is staged by then; the next run sweeps it.
        prepare: Makes the collection ready for embeddings of a number of dimensions, unless the
            run has done that a moment ago; None: it is made ready here.
        staged: What of the parts was staged while the others were made.
        enter: Told of the phases that follow the staging.

    Raises:
        Changed: What the parts rest on was changed meanwhile.
        SpaceError: The collection has embeddings of another model.
        StoreError: The lock was lost, or the server can't take the parts.
        Stopped: The run was stopped.
        TooLarge: The server has too little memory to switch the parts in.
    """
    nodes = [node for part in built.parts for node in part.nodes]
    progress.expect("write", sum(node.embedding is not None for node in nodes))

    def count_written(count: int) -> None:
        stop.check()
        for _ in range(count):
            progress.done("write", meter.total())

    # First, as it fails at once: what follows tries for half a minute where no server answers.
    lock.check()
    if staged is not None:
        count_written(staged.parts.count_embedded())
    if prepare is not None:
        prepare(built.dimensions)
    else:
        store.prepare(built.parts[0].owner.collection, model, built.dimensions)
    store.apply(built.parts, model, count_written, lock, staged, enter)
