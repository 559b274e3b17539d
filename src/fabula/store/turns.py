"""Turns: whoever has one keeps others out while its process lives, and not a moment longer.

A turn is an open transaction that holds locks and is never committed. The server ends it with the
connection, and so with the process, however that ends.
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
from fabula.graph.queries import query
from fabula.store.database import Database

PATIENCE = 1.0
"""Seconds to wait for a turn before it counts as another's, who may just be giving it back."""
DOOR_SECONDS = 5.0
"""How long one who found a turn free may keep others from it who found it free as well."""
TAKEN = (
    "LockAcquisitionTimeout",
    "LockClientStopped",
    "Terminated",
    "TransactionTimedOutClientConfiguration",
)
"""How the codes of a statement end that waited for a turn too long."""
TAG = "fabula_turn"
"""What a transaction's metadata calls the names of its turn, by which others see it."""


class Turn:
    """A turn that is held; threads may share it."""

    def __init__(self, transaction: neo4j.Transaction) -> None:
        self._transaction = transaction
        self._using = threading.Lock()
        self._seen = time.monotonic()

    def rows(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """What the statement of that name returns. Raises StoreError where the turn was lost."""
        with self._using:
            try:
                rows = self._transaction.run(query(name), parameters).data()
            except (Neo4jError, DriverError) as error:
                raise StoreError(
                    "The connection to Neo4j was lost, or the server restarted, while this went "
                    "on; nothing is half written. Try again in a moment: Fabula's own server is "
                    "then started again."
                ) from error
            self._seen = time.monotonic()
            return rows

    def check(self, every: float = 0.0) -> None:
        """Raises StoreError where the turn was lost; looks at most once in `every` seconds."""
        if time.monotonic() - self._seen >= every:
            self.rows("core/find_time")

    def end(self) -> None:
        """Lets others in, if the turn was not lost before."""
        with self._using, suppress(Neo4jError, DriverError):
            self._transaction.close()


@contextmanager
def turn(
    store: Database, names: Iterable[str], wait: Callable[[], None] | None = None
) -> Iterator[Turn]:
    """Keeps out all others who want one of these names.

    They are taken in order, so that of those who want several none waits for one who waits for
    him. While another has one, `wait` is called every few seconds, and may end that by raising.
    """
    names = sorted(names)
    with store.session() as session:
        with _enter(store, session, names, wait) if wait else nullcontext():
            # 0: what is done in a turn may take longer than a server gives a transaction.
            held = Turn(session.begin_transaction(metadata={TAG: names}, timeout=0))
            try:
                _take(held._transaction, names)
            except BaseException:
                held.end()
                raise
        try:
            yield held
        finally:
            held.end()


@contextmanager
def _enter(
    store: Database, session: neo4j.Session, names: Sequence[str], wait: Callable[[], None]
) -> Iterator[None]:
    """Wait until nobody has these turns, and keep others from taking them until the block ends.

    A transaction that waits for a lock hears nothing until it has it, so nobody may wait for a turn
    itself. Several who find it free at the same moment therefore pass one by one, each holding a
    second lock, and look again whether it is still free.
    """
    doors = [f"{name}/next" for name in names]
    with store.session() as other:
        while True:
            while not is_free(session, names):
                wait()
            with _begin(other, DOOR_SECONDS) as door:
                if _is_taken(door, doors) and is_free(session, names):
                    yield
                    return
            wait()


def is_free(session: neo4j.Session, names: Sequence[str]) -> bool:
    """Whether nobody has one of these turns; where somebody has, that takes seconds."""
    with _begin(session, PATIENCE + len(names) / 10) as transaction:
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
    """Take these locks; whether that came about before the transaction's time was over."""
    try:
        _take(transaction, names)
    except Neo4jError as error:
        if not (error.code or "").endswith(TAKEN):
            raise
        return False
    return True


def find_held(session: neo4j.Session) -> set[str]:
    """The names of turns that the server shows, at once; it may hide those of other users."""
    try:
        rows = session.run(query("core/find_turns")).data()
    except Neo4jError:  # a hosted server may not show transactions
        return set()
    return {name for row in rows for name in row["names"]}


def _take(transaction: neo4j.Transaction, names: Sequence[str]) -> None:
    transaction.run(query("core/take_locks"), locks=list(names)).consume()
