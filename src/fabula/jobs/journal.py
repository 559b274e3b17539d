"""The journal of spending: a file with each paid call, from its reply until the ledger has it.

The ledger is in Neo4j, which may be down, and the process may be killed at any moment. So the cost
of a call is written to the journal as soon as it is answered, before its reply is used or cached.
Lines are written to the graph in numbered batches, and deleted when the graph has them. The graph
remembers the last batch of each process, so that a batch that is written twice counts once.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

LOG = logging.getLogger("fabula.jobs")
FILE = "spending.sqlite"
BUSY_SECONDS = 5.0
"""The longest wait for another process that writes, which takes milliseconds."""
DAY_SECONDS = 86_400

TABLE = """
CREATE TABLE IF NOT EXISTS spend (
    graph TEXT NOT NULL, owner TEXT NOT NULL, batch INTEGER, at REAL NOT NULL, key TEXT NOT NULL,
    name TEXT NOT NULL, collection TEXT NOT NULL, what TEXT NOT NULL, model TEXT NOT NULL,
    calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL, saved INTEGER NOT NULL, money REAL,
    batch_prompt_tokens INTEGER NOT NULL, batch_completion_tokens INTEGER NOT NULL
)
"""
ADD = "INSERT INTO spend VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
IS_PENDING = "SELECT 1 FROM spend WHERE graph = ? LIMIT 1"
NUMBER = "UPDATE spend SET owner = ?, batch = ? WHERE graph = ? AND batch IS NULL"
BATCHES = "SELECT DISTINCT owner, batch FROM spend WHERE graph = ? AND batch IS NOT NULL ORDER BY 2"
ENTRIES = f"""
SELECT key, name, collection, what, model, money IS NULL AS is_unpriced, sum(calls) AS calls,
    sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
    sum(cached_tokens) AS cached_tokens, sum(batch_prompt_tokens) AS batch_prompt_tokens,
    sum(batch_completion_tokens) AS batch_completion_tokens, sum(saved) AS saved,
    total(money) AS money, max(at) AS at
FROM spend WHERE graph = ? AND owner = ? AND batch = ?
GROUP BY key, name, collection, what, model, is_unpriced, CAST(at / {DAY_SECONDS} AS INTEGER)
"""
DELETE = "DELETE FROM spend WHERE graph = ? AND owner = ? AND batch = ?"


@dataclass(frozen=True, slots=True)
class Line:
    """The cost of one call, or of one step that made no call, of one key and model.

    `money` is in US dollars; None if the price of the model is not known.
    """

    key: str
    name: str
    collection: str
    what: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    saved: int
    money: float | None
    batch_prompt_tokens: int = 0
    batch_completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines that are written together, added up; `number` counts the batches of an `owner`."""

    owner: str
    number: int
    entries: Sequence[dict[str, Any]]


class Journal:
    """One file, for all threads and for all processes that share its folder.

    Where the file can't be written, lines are kept in memory, and a warning says so once.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._owner = uuid.uuid4().hex
        self._number = 0
        self._lock = threading.RLock()
        self._file: sqlite3.Connection | None = None
        self._memory: sqlite3.Connection | None = None
        self._has_warned = False

    def add(self, graph: str, line: Line) -> None:
        """Write a line, for the ledger of that graph. It outlives the process when this returns."""
        row = (graph, self._owner, time.time(), *astuple(line))
        with self._lock:
            try:
                with self._open() as file:
                    file.execute(ADD, row)
            except (sqlite3.Error, OSError) as error:
                self._warn(error)
                with self._open_memory() as memory:
                    memory.execute(ADD, row)

    def is_pending(self, graph: str) -> bool:
        """Return whether there are lines that the ledger of a graph does not have."""
        with self._lock:
            for connection in self._all():
                try:
                    if connection.execute(IS_PENDING, (graph,)).fetchone():
                        return True
                except sqlite3.Error as error:
                    self._warn(error)
        return False

    def batches(self, graph: str) -> list[Batch]:
        """Return the batches to write, in order, also those that other processes have left."""
        batches: list[Batch] = []
        with self._lock:
            for connection in self._all():
                # Memory has an owner of its own, as the numbers of one owner must be in order.
                own = self._owner if connection is self._file else f"{self._owner} memory"
                try:
                    batches += self._number_and_read(connection, graph, own)
                except sqlite3.Error as error:
                    self._warn(error)
        return sorted(batches, key=lambda batch: batch.number)

    def delete(self, graph: str, batch: Batch) -> None:
        """Delete a batch that the graph has. If that fails it is written again, and not counted."""
        with self._lock:
            for connection in self._all():
                try:
                    with connection:
                        connection.execute(DELETE, (graph, batch.owner, batch.number))
                except sqlite3.Error as error:
                    self._warn(error)

    def _number_and_read(
        self, connection: sqlite3.Connection, graph: str, own: str
    ) -> Iterator[Batch]:
        self._number += 1
        with connection:
            connection.execute(NUMBER, (own, self._number, graph))
        for owner, number in connection.execute(BATCHES, (graph,)).fetchall():
            cursor = connection.execute(ENTRIES, (graph, owner, number))
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
            yield Batch(owner, number, [_entry(row) for row in rows])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            for connection in (self._file, self._memory):
                if connection is not None:
                    connection.close()
            self._file = self._memory = None

    def _all(self) -> list[sqlite3.Connection]:
        """Return the connections to the file, if it exists and is readable, and to the memory."""
        connections = []
        if self._file is not None or self._path.exists():
            try:
                connections.append(self._open())
            except (sqlite3.Error, OSError) as error:
                self._warn(error)
        return connections if self._memory is None else [*connections, self._memory]

    def _open(self) -> sqlite3.Connection:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = sqlite3.connect(self._path, timeout=BUSY_SECONDS, check_same_thread=False)
            # Fails while another process turns it on, which then counts for both.
            with contextlib.suppress(sqlite3.OperationalError):
                file.execute("PRAGMA journal_mode = WAL")
            # A commit hands the lines to the system and does not wait for the disk: a killed
            # process loses none; a power cut may lose the last ones.
            file.execute("PRAGMA synchronous = NORMAL")
            file.execute(TABLE)
            self._file = file
        return self._file

    def _open_memory(self) -> sqlite3.Connection:
        if self._memory is None:
            self._memory = sqlite3.connect(":memory:", check_same_thread=False)
            self._memory.execute(TABLE)
        return self._memory

    def _warn(self, error: Exception) -> None:
        if not self._has_warned:
            LOG.warning(
                "The journal of spending %s can't be used (%s). What is spent is kept in memory "
                "until Neo4j has it, and is lost if this process is killed before.",
                self._path,
                error,
            )
        self._has_warned = True


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for the statement, with an age instead of a time, as Neo4j's clock is used."""
    at = row.pop("at")
    return row | {"age": max(0, int(time.time() - at)), "is_unpriced": bool(row["is_unpriced"])}
