"""Locks between processes, which last as long as the process that holds them and no longer.

A lock is an open transaction that holds locks of Neo4j and is never committed. The server ends it
with the connection, and so with the process, however that ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

from fabula.errors import StoreError
from fabula.graph.queries import read_statement
from fabula.store.database import Database

ATTEMPT_SECONDS = 1.0
"""How long to wait for a lock, which may just be released, before it counts as held."""
ENTRY_SECONDS = 5.0
"""How long a process that found a lock free may keep out others that found it free as well."""
TIMEOUT_CODES = (
    "LockAcquisitionTimeout",
    "LockClientStopped",
    "Terminated",
    "TransactionTimedOutClientConfiguration",
)
"""How the codes of errors end that say that a statement waited for a lock too long."""
NAMES_TAG = "fabula_turn"
"""The key in a transaction's metadata that holds the names of its lock, for others to see."""


class ProcessLock:
    """A lock that is held; threads may share it.

    Attributes:
        run: The name of a run of staging that the lock holds as well; '' for none.
    """

    def __init__(self, transaction: neo4j.Transaction, run: str = "") -> None:
        self.run = run
        self._transaction = transaction
        self._using = threading.Lock()
        self._seen = time.monotonic()

    def rows(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement, run in the lock's transaction.

        Raises:
            StoreError: The lock was lost.
        """
        # A transaction of the driver is not thread-safe, and threads share the lock.
        with self._using:
            try:
                rows = self._transaction.run(read_statement(name), parameters).data()
            except (Neo4jError, DriverError) as error:
                raise StoreError(
                    "The connection to Neo4j was lost, or the server restarted, while this went "
                    "on; nothing is half written. Try again in a moment: Fabula's own server is "
                    "then started again."
                ) from error
            self._seen = time.monotonic()
            return rows

    def check(self, every: float = 0.0) -> None:
        """Check that the lock was not lost, unless that was checked in the last `every` seconds.

        Raises:
            StoreError: The lock was lost.
        """
        if time.monotonic() - self._seen >= every:
            self.rows("core/find_time")

    def end(self) -> None:
        """Release the lock, if it was not lost before."""
        with self._using, suppress(Neo4jError, DriverError):
            self._transaction.close()


@contextmanager
def process_lock(
    store: Database,
    names: Iterable[str],
    wait: Callable[[], None] | None = None,
    run: str = "",
) -> Iterator[ProcessLock]:
    """Hold the locks of these names until the block ends.

    They are taken in alphabetical order, so that no two processes wait for each other.

    Args:
        store: The database.
        names: What is locked.
        wait: Called every few seconds while another process holds one of them; it may end the
            waiting by raising an error.
        run: The name of a run of staging, which nobody else has. The lock holds it, too, so that
            what the run stages needs no lock of its own.
    """
    names = sorted(names)
    held = sorted([*names, run]) if run else names
    with store.session() as session:
        # The door is left only when the lock itself is taken: nobody passes in between.
        with _enter(store, session, names, wait) if wait else nullcontext():
            # 0 is no limit: a lock may be held longer than a server allows a transaction to last.
            transaction = session.begin_transaction(metadata={NAMES_TAG: held}, timeout=0)
            lock = ProcessLock(transaction, run)
            try:
                _take(transaction, held)
            except BaseException:
                # Also Ctrl-C: the server would keep the lock until it misses the connection.
                lock.end()
                raise
        try:
            yield lock
        finally:
            lock.end()


@contextmanager
def _enter(
    store: Database, session: neo4j.Session, names: Sequence[str], wait: Callable[[], None]
) -> Iterator[None]:
    """Wait until nobody holds these locks, and keep others from them until the block ends."""
    # A transaction that waits can't be interrupted: so nobody may wait for the lock itself.
    doors = [f"{name}/next" for name in names]
    is_waiting = False
    with store.session() as door_session:
        while True:
            # Nearly every lock is free when it is asked for. So the first try goes to the door at
            # once, and only who has found it held waits outside.
            while is_waiting and not is_free(session, names):
                wait()
            # Those that find it free at the same moment pass one by one, and check again.
            with _begin(door_session, ENTRY_SECONDS) as door:
                if _is_taken(door, doors) and is_free(session, names):
                    yield
                    return
            is_waiting = True
            wait()


def is_free(session: neo4j.Session, names: Sequence[str]) -> bool:
    """Return whether nobody holds one of these locks; if somebody does, that takes seconds."""
    with _begin(session, ATTEMPT_SECONDS + len(names) / 10) as transaction:
        return _is_taken(transaction, names)


@contextmanager
def _begin(session: neo4j.Session, seconds: float) -> Iterator[neo4j.Transaction]:
    """Begin a transaction, undone at the end of the block, or by the server after `seconds`."""
    transaction = session.begin_transaction(timeout=seconds)
    try:
        yield transaction
    finally:
        with suppress(Neo4jError, DriverError):
            transaction.close()


def _is_taken(transaction: neo4j.Transaction, names: Sequence[str]) -> bool:
    """Take these locks; return whether that succeeded before the transaction's time was over."""
    try:
        _take(transaction, names)
    except Neo4jError as error:
        if not (error.code or "").endswith(TIMEOUT_CODES):
            raise
        return False
    return True


def find_held_names(session: neo4j.Session) -> set[str]:
    """Return the names of held locks that the server shows; it may hide those of other users."""
    try:
        rows = session.run(read_statement("core/find_turns")).data()
    except Neo4jError:  # a hosted server may not show transactions
        return set()
    return {name for row in rows for name in row["names"]}


def _take(transaction: neo4j.Transaction, names: Sequence[str]) -> None:
    transaction.run(read_statement("core/take_locks"), locks=list(names)).consume()
