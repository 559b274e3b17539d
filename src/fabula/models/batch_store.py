"""What is known of batches: the calls collected for them, where each batch is, and the replies.

One SQLite file beside the response cache. Unlike the cache it must not be deleted while batches are
under way: it alone knows which batch has which call, so that what was paid for would be lost.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from fabula.errors import FabulaError
from fabula.models.usage import Usage

FILE = "batches.sqlite"
BUSY_SECONDS = 30.0
"""How long to wait for another process that writes."""
MAX_LINES = 50_000
"""The most calls of one file, as OpenAI allows them; of embeddings, the most texts as well."""
MAX_FILE_BYTES = 200_000_000
"""The largest file."""
KEEP_SECONDS = 90 * 86400.0
"""How long replies are kept that no build has used up, and batches that have ended."""

BatchState = Literal["new", "uploaded", "creating", "sent", "done"]
"""Where a batch is. It is written before each step that can't be undone: in the state "creating"
the endpoint may have the batch, or not, and is asked."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS call (
    id TEXT PRIMARY KEY, endpoint TEXT NOT NULL, path TEXT NOT NULL, model TEXT NOT NULL,
    body BLOB NOT NULL, bytes INTEGER NOT NULL, tokens INTEGER NOT NULL, thinks INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, batch INTEGER, answer BLOB, status INTEGER,
    counted INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL,
    owner TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS call_batch ON call (batch);
CREATE TABLE IF NOT EXISTS batch (
    number INTEGER PRIMARY KEY AUTOINCREMENT, mark TEXT NOT NULL UNIQUE, endpoint TEXT NOT NULL,
    path TEXT NOT NULL, model TEXT NOT NULL, lines INTEGER NOT NULL, bytes INTEGER NOT NULL,
    tokens INTEGER NOT NULL, state TEXT NOT NULL, file TEXT NOT NULL DEFAULT '',
    remote TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT '',
    done INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT '', created REAL NOT NULL, updated REAL NOT NULL
);
"""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CollectedCall:
    """A call to a model that a batch is to make.

    Attributes:
        id: Its `custom_id`: the key of the response cache, or a hash of it for a later try.
        path: The path below the endpoint's URL, as /chat/completions.
        model: The model.
        body: The request.
        tokens: About how many tokens it sends.
        thinks: Whether the request leaves room for the thoughts of the model.
        owner: Whose budget it is of; '' for nobody's.
    """

    id: str
    path: str
    model: str
    body: Mapping[str, Any]
    tokens: int
    thinks: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """What a line of a batch brought.

    Attributes:
        status: The HTTP status of the line.
        body: The answer, or the error.
        thinks: Whether the request had left room for thoughts.
    """

    status: int
    body: Any
    thinks: bool


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One batch.

    Attributes:
        number: Its number in this file.
        mark: What identifies it at the endpoint, in the batch's metadata.
        endpoint: The endpoint's URL without secrets.
        path: The path of all its calls.
        model: The model of all its calls.
        lines: The number of calls.
        bytes: The size of its file.
        tokens: About how many tokens its calls send.
        state: Where it is.
        file: The id of the uploaded file.
        remote: The endpoint's id of the batch.
        status: The endpoint's status of it.
        done: How many calls have been answered, as the endpoint says.
        failed: How many have failed, likewise.
        note: What was unusual about it, in full sentences.
        created: When it was planned: seconds of `time.time`.
        updated: When it was last asked about.
    """

    number: int
    mark: str
    endpoint: str
    path: str
    model: str
    lines: int
    bytes: int
    tokens: int
    state: BatchState
    file: str
    remote: str
    status: str
    done: int
    failed: int
    note: str
    created: float
    updated: float


def make_line(id: str, path: str, body: str) -> bytes:
    """Return a line of a batch's file, with its end."""
    head = json.dumps({"custom_id": id, "method": "POST", "url": f"/v1{path}"})
    # The body is JSON already; a lone surrogate is escaped in it.
    return f'{head[:-1]}, "body": {body}}}\n'.encode()


def _json(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if not _has_surrogates(text) else json.dumps(value)


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class BatchStore:
    """The file of batches, for all threads of a process and for several processes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        """Whether anything was ever collected in this folder."""
        return self.path.exists()

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    # Calls and their answers

    def answer(self, id: str) -> BatchAnswer | None:
        """Return what came for a call; None if nothing has."""
        row = self._one("SELECT status, answer, thinks FROM call WHERE id = ?", id)
        if row is None or row[1] is None:
            return None
        return BatchAnswer(row[0], _unpack(row[1]), bool(row[2]))

    def tries(self, id: str) -> int:
        """Return how often a call came back without an answer."""
        row = self._one("SELECT tries FROM call WHERE id = ?", id)
        return row[0] if row else 0

    def give_up(self, ids: Iterable[str]) -> None:
        """Forget how often calls were tried, as they were reported as failed."""
        self._write("UPDATE call SET tries = 0 WHERE id = ?", [(id,) for id in ids])

    def is_waiting(self, id: str) -> bool:
        """Return whether a call is in a batch that has not ended."""
        return self._one("SELECT 1 FROM call WHERE id = ? AND batch IS NOT NULL", id) is not None

    def collect(self, endpoint: str, call: CollectedCall) -> None:
        """Save a call for the next batch; one that was saved before gets this request."""
        body = _json(call.body)
        self._write(
            "INSERT INTO call (id, endpoint, path, model, body, bytes, tokens, thinks, at, owner)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
            " body = excluded.body, bytes = excluded.bytes, thinks = excluded.thinks,"
            " owner = excluded.owner"
            " WHERE batch IS NULL AND answer IS NULL",
            [
                (
                    *(call.id, endpoint, call.path, call.model, _pack(body)),
                    len(make_line(call.id, call.path, body)),
                    *(call.tokens, call.thinks, time.time(), call.owner),
                )
            ],
        )

    def count_once(self, id: str) -> bool:
        """Return whether an answer is used for the first time, so that it is to be charged."""
        return self._do(
            lambda connection: (
                connection.execute(
                    "UPDATE call SET counted = 1 WHERE id = ? AND counted = 0", (id,)
                ).rowcount
                > 0
            )
        )

    def settle(self, ids: Iterable[str]) -> None:
        """Delete calls whose replies a graph has been made from; they are in the cache."""
        self._write("DELETE FROM call WHERE id = ? AND answer IS NOT NULL", [(id,) for id in ids])

    def drop(self, ids: Iterable[str]) -> None:
        """Delete calls that no batch is to make."""
        self._write(
            "DELETE FROM call WHERE id = ? AND batch IS NULL AND answer IS NULL",
            [(id,) for id in ids],
        )

    def find_unsent(self, ids: Collection[str]) -> list[tuple[str, str, int]]:
        """Return id, path and tokens of those calls that are in no batch yet."""

        def find(connection: sqlite3.Connection) -> list[tuple[str, str, int]]:
            _choose(connection, ids)
            return connection.execute(
                "SELECT id, path, tokens FROM call WHERE batch IS NULL AND answer IS NULL"
                " AND id IN (SELECT id FROM temp.chosen)"
            ).fetchall()

        return self._do(find)

    def in_flight(self, ids: Collection[str]) -> dict[str, int]:
        """Return the batches of those calls that are in one, by the calls' ids."""

        def find(connection: sqlite3.Connection) -> dict[str, int]:
            _choose(connection, ids)
            return dict(
                connection.execute(
                    "SELECT id, batch FROM call WHERE batch IS NOT NULL AND answer IS NULL"
                    " AND id IN (SELECT id FROM temp.chosen)"
                ).fetchall()
            )

        return self._do(find)

    def tokens_in_flight(self, owner: str) -> dict[str, int]:
        """Return about how many tokens the calls of an owner send that are in a batch, by model."""

        def find(connection: sqlite3.Connection) -> dict[str, int]:
            rows = connection.execute(
                "SELECT model, total(tokens) FROM call WHERE owner = ? AND batch IS NOT NULL"
                " GROUP BY model",
                [owner],
            )
            return {model: int(tokens) for model, tokens in rows}

        return self._do(find)

    def find_unbooked(self) -> dict[str, Usage]:
        """Return the usage of answers that came by batches and that no build has used, by model.

        They are paid for. The build that uses an answer counts it; those of a run that was given
        up, or of a job that was cancelled, are counted by nobody until then.
        """

        def add(connection: sqlite3.Connection) -> dict[str, Usage]:
            usages: dict[str, Usage] = {}
            for model, tokens, answer in connection.execute(
                "SELECT model, tokens, answer FROM call"
                " WHERE answer IS NOT NULL AND status = 200 AND counted = 0"
            ):
                body = _unpack(answer)
                counts = body.get("usage") if isinstance(body, dict) else None
                counts = counts if isinstance(counts, dict) else {}
                sent, received = counts.get("prompt_tokens"), counts.get("completion_tokens")
                usage = Usage(
                    1,
                    sent if isinstance(sent, int) else tokens,
                    received if isinstance(received, int) else 0,
                ).batched
                usages[model] = usages.get(model, Usage()) + usage
            return usages

        return self._do(add)

    # Batches

    def plan(
        self, ids: Collection[str], max_lines: Callable[[str], int | None] = lambda model: None
    ) -> list[int]:
        """Put calls into new batches: one model and one path each, none of them too large.

        All of it is written at once, before anything is uploaded: from then on no other process
        puts these calls into a batch of its own. `max_lines` returns the most calls of a batch of a
        model, where its endpoint is known to take fewer than MAX_LINES.

        Returns:
            The numbers of the batches.
        """

        def plan(connection: sqlite3.Connection) -> list[int]:
            _choose(connection, ids)
            rows = connection.execute(
                "SELECT endpoint, path, model, id, bytes, tokens FROM call WHERE batch IS NULL"
                " AND answer IS NULL AND id IN (SELECT id FROM temp.chosen)"
                " ORDER BY endpoint, path, model, id"
            ).fetchall()
            numbers: list[int] = []
            for part in _split(rows, max_lines):
                endpoint, path, model = part[0][:3]
                now = time.time()
                cursor = connection.execute(
                    "INSERT INTO batch (mark, endpoint, path, model, lines, bytes, tokens, state,"
                    " created, updated) VALUES (?, ?, ?, ?, ?, ?, ?, 'new', ?, ?)",
                    (
                        *(uuid.uuid4().hex, endpoint, path, model, len(part)),
                        *(sum(row[4] for row in part), sum(row[5] for row in part), now, now),
                    ),
                )
                assert cursor.lastrowid is not None
                numbers.append(cursor.lastrowid)
                connection.executemany(
                    "UPDATE call SET batch = ? WHERE id = ?",
                    [(cursor.lastrowid, row[3]) for row in part],
                )
            return numbers

        return self._do(plan, durable=True)

    def batches(self, endpoint: str | None = None, *, open_only: bool = True) -> list[BatchRow]:
        """Return the batches in the order of their numbers.

        Args:
            endpoint: Those at this endpoint; None for all.
            open_only: Leave out those that have ended.
        """
        columns = ", ".join(BatchRow.__dataclass_fields__)
        rows = self._do(
            lambda connection: connection.execute(
                f"SELECT {columns} FROM batch ORDER BY number"
            ).fetchall()
        )
        found = [BatchRow(*row) for row in rows]
        return [
            row
            for row in found
            if endpoint in (None, row.endpoint) and not (open_only and row.state == "done")
        ]

    def lines(self, number: int) -> Iterator[bytes]:
        """Yield the lines of a batch's file."""
        for id in self.ids(number):
            # One by one: all of them together may be larger than the memory.
            row = self._one("SELECT path, body FROM call WHERE id = ?", id)
            if row is not None:
                yield make_line(id, row[0], zlib.decompress(row[1]).decode())

    def ids(self, number: int) -> list[str]:
        """Return the ids of the calls of a batch, in the order of its file."""
        return [
            row[0]
            for row in self._do(
                lambda connection: connection.execute(
                    "SELECT id FROM call WHERE batch = ? ORDER BY id", (number,)
                ).fetchall()
            )
        ]

    def request(self, id: str) -> Any:
        """Return the body of a call; None if it is not there."""
        row = self._one("SELECT body FROM call WHERE id = ?", id)
        return _unpack(row[0]) if row else None

    def update(self, number: int, **values: object) -> None:
        """Change properties of a batch."""
        names = ", ".join(f"{name} = ?" for name in values)
        self._write(
            f"UPDATE batch SET {names}, updated = ? WHERE number = ?",
            [(*values.values(), time.time(), number)],
            durable=True,
        )

    def receive(
        self,
        number: int,
        answers: Mapping[str, tuple[int, Any]],
        tried: Collection[str],
        **values: object,
    ) -> None:
        """Save what a batch brought, all at once: the batch is done, and its other calls are free.

        Args:
            number: The batch.
            answers: The status and the body of each call that was answered, by its id.
            tried: The other calls that count as tried.
            values: Further properties of the batch.
        """

        def receive(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE call SET answer = ?, status = ?, batch = NULL WHERE id = ? AND batch = ?",
                [
                    (_pack(json.dumps(body)), status, id, number)
                    for id, (status, body) in answers.items()
                ],
            )
            connection.executemany(
                "UPDATE call SET tries = tries + 1 WHERE id = ? AND batch = ?",
                [(id, number) for id in tried],
            )
            connection.execute("UPDATE call SET batch = NULL WHERE batch = ?", (number,))
            names = ", ".join(f"{name} = ?" for name in values)
            connection.execute(
                f"UPDATE batch SET state = 'done', updated = ?{', ' if names else ''}{names}"
                " WHERE number = ?",
                (time.time(), *values.values(), number),
            )

        self._do(receive, durable=True)

    def sweep(self) -> None:
        """Delete what is older than `KEEP_SECONDS` and waits for nothing."""
        if not self.exists:
            return
        before = time.time() - KEEP_SECONDS
        self._write("DELETE FROM call WHERE batch IS NULL AND at < ?", [(before,)])
        self._write("DELETE FROM batch WHERE state = 'done' AND updated < ?", [(before,)])

    def shrink(self) -> None:
        """Give the space of what was deleted back to the disk; what is under way stays."""
        if self.exists:
            with self._lock:
                self._connect().execute("VACUUM")

    # The file

    def _one(self, statement: str, *values: object) -> Any:
        with self._lock:
            try:
                return self._connect().execute(statement, values).fetchone()
            except (OSError, sqlite3.Error) as error:
                raise self._error(error) from error

    def _write(
        self, statement: str, rows: Sequence[Sequence[object]], *, durable: bool = False
    ) -> None:
        self._do(lambda connection: connection.executemany(statement, rows), durable=durable)

    def _do(self, work: Callable[[sqlite3.Connection], Result], *, durable: bool = False) -> Result:
        """Return the result of one transaction; if `durable`, it outlives a loss of power."""
        with self._lock:
            try:
                connection = self._connect()
                # Waiting for the disk takes milliseconds: too long for each call collected.
                connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                # Begun for writing: a transaction that reads first may not be able to write later.
                connection.execute("BEGIN IMMEDIATE")
                try:
                    result = work(connection)
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            except (OSError, sqlite3.Error, zlib.error) as error:
                raise self._error(error) from error
            return result

    def _error(self, error: Exception) -> FabulaError:
        self.close()
        return FabulaError(
            f"The file of batches, {self.path}, can't be used: {error}. It knows which batches "
            "were sent: restore it, or make space on its disk."
        )

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(SCHEMA)
            connection.execute("CREATE TEMP TABLE IF NOT EXISTS chosen (id TEXT PRIMARY KEY)")
            self._connection = connection
        return self._connection


def _choose(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Put ids into the temporary table: SQLite limits the number of a statement's parameters."""
    with closing(connection.cursor()) as cursor:
        cursor.execute("DELETE FROM temp.chosen")
        cursor.executemany("INSERT OR IGNORE INTO temp.chosen VALUES (?)", [(id,) for id in ids])


def _split(
    rows: Sequence[tuple[Any, ...]], max_lines: Callable[[str], int | None]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the calls of each batch: of one endpoint, path and model, within the limits."""
    part: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        most = min(MAX_LINES, max_lines(row[2]) or MAX_LINES)
        is_full = len(part) >= most or size + row[4] > MAX_FILE_BYTES
        if part and (row[:3] != part[0][:3] or is_full):
            yield part
            part, size = [], 0
        part.append(row)
        size += row[4]
    if part:
        yield part


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _unpack(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))
