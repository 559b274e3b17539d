"""Parts are written while the next ones are still made: models are waited for, the server is not.

A graph may give its part in pieces, as the aspect graph gives its summaries level by level. What
is written so is staged: no reader sees it before the switch, which stays one transaction at
the end. If the document fails or is stopped, it is deleted; if the process is killed or another
document ends the whole run, the next run deletes it.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context

from fabula.errors import FabulaError, Stopped
from fabula.graph import Owner, Part
from fabula.models.stop import Stop
from fabula.store import Store
from fabula.store.locks import ProcessLock
from fabula.store.parts import RunStaging

LOG = logging.getLogger("fabula")
MIN_EARLY_PASSAGES = 100
"""How many nodes with embeddings are worth being staged early. Fewer are staged by one transaction
at the end, together with the rest, which is less work for the server."""
STOPPED_SECONDS = 3.0
"""How long a run that was stopped deletes what it has staged; the next run deletes the rest."""


class EarlyWriter:
    """Stages the parts of one document in a thread of its own.

    It only saves time: where it fails, `finish` returns nothing, and the commit stages all parts.
    """

    def __init__(
        self,
        store: Store,
        model: str,
        lock: ProcessLock,
        prepare: Callable[[int], None],
        gate: AbstractContextManager[None],
        stop: Stop,
    ) -> None:
        """Begin with nothing staged.

        Args:
            store: The graph.
            model: The model of the embeddings.
            lock: The lock of the document, which holds its run of staging.
            prepare: Makes the collection ready for embeddings of a number of dimensions.
            gate: Entered for each piece of work; it is closed once the whole run has failed.
            stop: Ends the staging between two batches.
        """
        self._store, self._model, self._lock = store, model, lock
        self._prepare, self._gate, self._stop = prepare, gate, stop
        self._waiting: list[Part] = []
        self._pieces = Counter[Owner]()
        """How many nodes with embeddings were staged in pieces of each part."""
        self._dimensions = 0
        self._staged: RunStaging | None = None
        self._has_begun = False
        self._failure: BaseException | None = None
        self._is_closed = False
        self._is_given_up = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def take(self, part: Part, dimensions: int) -> None:
        """Take over a part that was just made, or a piece of one, and return at once.

        Args:
            part: The part or piece, complete with its embeddings.
            dimensions: How many numbers an embedding has.
        """
        with self._changed:
            if part.is_whole:
                # It has all that its pieces have.
                self._waiting = [each for each in self._waiting if each.owner != part.owner]
            self._waiting.append(part)
            self._dimensions = dimensions
            # A small document needs no thread: its commit stages everything by one transaction.
            if self._thread is None and self._is_worth_it():
                # Its spans belong to the trace of the document.
                self._thread = threading.Thread(
                    target=copy_context().run, args=(self._run,), name="early-writer", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def finish(self) -> RunStaging | None:
        """Wait for the part that is being staged; return what is staged, None where nothing is.

        Raises:
            StoreError: Staging failed, and the lock is lost, or what was staged can't be deleted.
        """
        self._end()
        if self._failure is None:
            return self._staged
        LOG.debug("Nothing was staged early.", exc_info=self._failure)
        self._staged = None
        if self._has_begun:
            # First, as it fails at once: a server that is gone is tried for half a minute.
            self._lock.check()
            self._store.discard_staged(self._lock)
        return None

    def close(self) -> None:
        """End the thread, and delete what it has staged for a document that failed."""
        # Set before the thread is joined, so that it stops between two batches and not at the end.
        self._is_given_up = True
        self._end()
        if not self._has_begun:
            return
        # Who has pressed Ctrl-C waits for a moment, as for the calls that are under way.
        seconds = STOPPED_SECONDS if self._stop.is_set() else None
        with suppress(FabulaError), self._gate:
            self._lock.check()
            self._store.discard_staged(self._lock, seconds)

    def _end(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _is_worth_it(self) -> bool:
        # Of a whole part, what was not staged in pieces before.
        return (
            sum(
                _count_embedded(part) - (self._pieces[part.owner] if part.is_whole else 0)
                for part in self._waiting
            )
            >= MIN_EARLY_PASSAGES
        )

    def _run(self) -> None:
        try:
            while parts := self._next():
                with self._gate:
                    self._prepare(self._dimensions)
                    # From here on something may be staged, even if the next call fails halfway.
                    self._has_begun = True
                    self._staged = self._store.stage_early(
                        parts, self._model, self._lock, self._staged, self._check
                    )
        except Exception as error:  # noqa: BLE001  the commit meets it again, and raises it
            self._failure = error

    def _next(self) -> list[Part]:
        """Wait until enough is made, and return it; nothing once no more is wanted."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._is_worth_it())
            if self._is_closed:
                # What is left is staged by the commit, together with the last part.
                return []
            parts, self._waiting = self._waiting, []
            for part in parts:
                if not part.is_whole:
                    self._pieces[part.owner] += _count_embedded(part)
            return parts

    def _check(self, count: int) -> None:
        self._stop.check()
        if self._is_given_up:
            raise Stopped("The document has failed.")
        # Refused at once where the run has failed meanwhile; but a commit that waits for this part
        # is inside the gate, and comes to its end.
        if not self._is_closed:
            with self._gate:
                pass


def _count_embedded(part: Part) -> int:
    return sum(node.embedding is not None for node in part.nodes)
