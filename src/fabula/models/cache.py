"""The response cache: every paid reply, in one SQLite file that may be deleted at any time.

Beside the replies is what servers refuse (`fabula.models.endpoint.learned`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import logging
import math
import os
import sqlite3
import threading
import time
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from filelock import FileLock

from fabula.models import Prompt, Reply, ToolOffer
from fabula.models.stop import Stop

if TYPE_CHECKING:
    from pydantic import BaseModel

    from fabula.text.document import Vector

LOG = logging.getLogger("fabula")
FILE = "responses.sqlite"
DAMAGED_PREFIX = "damaged-"
"""How the name of a damaged file begins that was set aside."""
BUSY_SECONDS = 5.0
"""How long to wait for another process that writes; a write takes milliseconds."""
# A length that is damaged may be one of over a gigabyte, which no reply has.
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG)
"""SQLite's error codes for a damaged file. The others mean a lack of space or permissions, a disk
that fails, or a table of another layout: the file is left as it is."""
ANOTHER_FOLDER = "Set FABULA_CACHE_FOLDER to use another folder."
ADVICE = {
    sqlite3.SQLITE_BUSY: "Another program has locked it.",
    sqlite3.SQLITE_FULL: f"Free some space, or set FABULA_CACHE_MAX_GB lower. {ANOTHER_FOLDER}",
    sqlite3.SQLITE_ERROR: f"Another version of Fabula may have made it. {ANOTHER_FOLDER}",
}
"""What to do about SQLite's errors, by their codes."""

# A table WITHOUT ROWID takes longer to write vectors to, and more space. Row ids grow, so that they
# are also the order in which replies were saved.
TABLE = """
CREATE TABLE IF NOT EXISTS response (
    key BLOB PRIMARY KEY, kind TEXT NOT NULL, model TEXT NOT NULL, data BLOB NOT NULL
)
"""
INSERT = "INSERT OR REPLACE INTO response (key, kind, model, data) VALUES (?, ?, ?, ?)"
SELECT = "SELECT data FROM response WHERE key = ?"
DELETE = "DELETE FROM response WHERE key = ?"
COUNT = "SELECT kind, model, count(*) FROM response GROUP BY kind, model ORDER BY model"

# What eviction needs: the rows of a kind in their order, and the first row of each day (UTC). A
# date in each row would need another layout of the table.
KIND_INDEX = "CREATE INDEX IF NOT EXISTS kind_index ON response (kind)"
DAYS = "CREATE TABLE IF NOT EXISTS day (day INTEGER PRIMARY KEY, first_row INTEGER NOT NULL)"
# An empty table begins again with row 1.
FORGET_DAYS = "DELETE FROM day WHERE NOT EXISTS (SELECT 1 FROM response)"
# Rows from before the first day that was noted count as of that day.
NOTE_DAY = """
INSERT OR IGNORE INTO day
SELECT ?, iif(EXISTS (SELECT 1 FROM day), coalesce(max(rowid), 0) + 1, 0) FROM response
"""
FIRST_ROW = "SELECT min(first_row) FROM day WHERE day >= ?"
OLDEST = "SELECT rowid FROM response WHERE kind = ? AND rowid < ? ORDER BY rowid LIMIT ?"
EVICT = f"DELETE FROM response WHERE rowid IN ({OLDEST})"
HAS_KIND = "SELECT 1 FROM response WHERE kind = ? LIMIT 1"
DELETE_BEFORE = "DELETE FROM response WHERE rowid < ?"
# Vectors are evicted first. What it costs to pay again, as of November 2026: a gigabyte of vectors
# (170,000 of 1,536 numbers, for $0.02 per million tokens) some 70 cents, a gigabyte of replies of a
# small model (2,000,000, at $0.0006 each) some 1,200 dollars.
EVICTED_KINDS = ("embedding", "chat")
KEPT_DAYS = 1
"""What was saved today or this many days before is not evicted: the present run paid for it. So a
run may go beyond the limit; a day later the file is back within it."""
EVICTED_ROWS = 256
"""Rows that a save evicts at most, beside twice those that it adds; they take milliseconds."""
DAY_SECONDS = 86_400

RECOVER = (
    "SELECT rowid, key, kind, model, data FROM response NOT INDEXED WHERE rowid >= ? ORDER BY rowid"
)
RECOVER_ROW = INSERT.replace("REPLACE", "IGNORE")
RECOVERED_ROWS = 256
"""Rows of a damaged file that are saved in one transaction."""
RECOVER_SECONDS = 60.0
"""How long to read a damaged file, while calls wait; a disk reads some gigabytes in this time."""

MAX_ROW = 2**62
Row = tuple[object, ...]
CachedRow = tuple[bytes, str, str, bytes]
"""What is cached: a key, its kind, the model, and the data. The kind is one of `EVICTED_KINDS`, or
"learned": what a model refuses (`fabula.models.endpoint.learned`)."""
Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]


def chat_key(endpoint: str, model: str, prompt: Prompt) -> bytes:
    """Return the key of a reply: a hash, 32 bytes, of everything that the reply depends on.

    The prompt's correction is not part of it, as it asks for the same thing again.

    Args:
        endpoint: The endpoint's checked URL: a name may stand for two models at two endpoints.
        model: The model's name.
        prompt: What the model is asked.
    """
    schema = _schema_json(prompt.schema) if prompt.schema else None
    # What changes a reply is in the key, and nothing else: prices, time limits and the number of
    # parallel calls may change without a reply being paid for again. `float`, as 0 and 0.0 are the
    # same temperature and have different JSON.
    limits = (prompt.max_tokens, float(prompt.temperature), schema, prompt.sample)
    offer = [_offer_json(prompt.offer)] if prompt.offer else []
    return _digest("chat", endpoint, model, prompt.system, prompt.user, *limits, *offer)


def embedding_key(endpoint: str, model: str, text: str, kind: str = "") -> bytes:
    """Return the key of a vector: a hash, 32 bytes, of checked URL, model and text.

    `kind` is that of the text, for an embedder that is told it beside the text; '' otherwise, and
    for passages at an endpoint.
    """
    return _digest("embedding", endpoint, model, text, *([kind] if kind else []))


def learned_key(endpoint: str, model: str) -> bytes:
    """Return the key of what was learned of a model: a hash, 32 bytes, of URL and model."""
    return _digest("learned", endpoint, model)


def _digest(*parts: object) -> bytes:
    # json.dumps escapes to ASCII, so that a lone surrogate can be encoded.
    return hashlib.sha256(json.dumps(parts).encode("ascii")).digest()


@functools.cache
def _schema_json(schema: type[BaseModel]) -> str:
    """A schema as JSON; remembered, as pydantic takes half a millisecond to make it."""
    # Without `minItems`, so that replies paid for before schemas had it are still used.
    return json.dumps(_without_bounds(schema.model_json_schema()), sort_keys=True)


@functools.cache
def _offer_json(offer: ToolOffer) -> str:
    """The tools of a prompt as JSON."""
    tools = [[tool.name, tool.about, _schema_json(tool.arguments)] for tool in offer.tools]
    return json.dumps([tools, offer.instructions])


def _without_bounds(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_bounds(part) for name, part in value.items() if name != "minItems"}
    return [_without_bounds(part) for part in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds.

    Attributes:
        path: The cache's file.
        replies: The number of replies.
        vectors: The number of vectors.
        models: The number of replies and vectors of each model.
        bytes: The size on the disk, including damaged files that were set aside.
        damaged: The damaged files.
    """

    path: Path
    replies: int
    vectors: int
    models: Mapping[str, int]
    bytes: int
    damaged: tuple[Path, ...] = ()


class ReplyCache(ABC):
    """Replies and vectors by key, for all threads of a process; a subclass says where they are."""

    def __init__(self) -> None:
        self._locked: set[bytes] = set()
        self._unlocked = threading.Condition()

    @abstractmethod
    def find(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Return the data of those keys that have any."""

    @abstractmethod
    def save(self, rows: Sequence[CachedRow]) -> None:
        """Save rows, all or none; they replace others of the same keys."""

    @abstractmethod
    def forget(self, key: bytes) -> None:
        """Delete the row of a key, if there is one."""

    @contextmanager
    def lock(self, keys: Collection[bytes], stop: Stop | None = None) -> Iterator[None]:
        """Let one thread of this process at a time ask for a key.

        The thread that comes second then finds the reply in the cache. All keys are locked at once,
        so that no two threads can wait for each other.

        Raises:
            Stopped: `stop` was set while the thread waited.
        """
        stop = stop or Stop()
        # Locks of this process only: two processes that ask the same thing at once both pay for it.
        with stop.calling(self._wake), self._unlocked:
            self._unlocked.wait_for(lambda: stop.is_set() or self._locked.isdisjoint(keys))
            stop.check()
            self._locked.update(keys)
        try:
            yield
        finally:
            with self._unlocked:
                self._locked.difference_update(keys)
                self._unlocked.notify_all()

    def _wake(self) -> None:
        """Let all threads that wait for a lock check whether they were stopped."""
        with self._unlocked:
            self._unlocked.notify_all()

    def reply(self, key: bytes) -> Reply | None:
        """Return the reply of a key, marked as cached; None if there is none."""
        for data in self.find([key]).values():
            text, prompt_tokens, completion_tokens = json.loads(data)
            return Reply(text, prompt_tokens, completion_tokens, cached=True)
        return None

    def save_reply(self, key: bytes, model: str, reply: Reply) -> None:
        """Save a reply; it replaces another one of the same key."""
        data = (reply.text, reply.prompt_tokens, reply.completion_tokens)
        self.save([(key, "chat", model, json.dumps(data).encode())])

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the vectors, float32, shape (dimensions,), of those keys that have one."""
        rows = self.find(keys)
        return {key: np.frombuffer(data, "<f4").astype(np.float32) for key, data in rows.items()}

    def save_vectors(self, model: str, vectors: Mapping[bytes, Vector]) -> None:
        """Save vectors by key, all or none."""
        data = {key: vector.astype("<f4").tobytes() for key, vector in vectors.items()}
        self.save([(key, "embedding", model, row) for key, row in data.items()])


class ReadOnlyCache(ReplyCache):
    """Finds what another cache has, if there is one, and saves nothing."""

    def __init__(self, other: ReplyCache | None = None) -> None:
        super().__init__()
        self._other = other

    def find(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Return what the other cache has."""
        return self._other.find(keys) if self._other else {}

    def save(self, rows: Sequence[CachedRow]) -> None:
        """Save nothing."""

    def forget(self, key: bytes) -> None:
        """Delete nothing."""


class ResponseCache(ReplyCache):
    """The cache in a file, for several processes, too.

    A saved reply is in the file when the call returns, and survives the process however it ends. If
    the machine loses power, the last few replies may be lost and have to be paid for again: waiting
    for the disk at each reply would cost more than that.

    The cache never stops a run. A damaged file is set aside with a warning, and a new one is begun
    with what can still be read from it. Where the file can't be read or written, a warning says so,
    and nothing is saved.
    """

    def __init__(self, folder: Path, max_bytes: float = math.inf) -> None:
        """Use the cache in a folder; its file is made when the first reply is saved.

        Args:
            folder: The folder.
            max_bytes: Beyond this size the oldest vectors are evicted, then the oldest replies.
        """
        super().__init__()
        self._path = folder / FILE
        self._max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        self._opened: os.stat_result | None = None
        self._noted_day = 0
        self._lock = threading.RLock()
        self._warnings: set[str] = set()

    def info(self) -> CacheInfo:
        """Return what the cache holds now."""
        kinds, models, size = Counter[str](), Counter[str](), 0
        none: list[tuple[str, str, int]] = []
        rows = self._read(lambda connection: connection.execute(COUNT).fetchall(), none)
        for kind, model, count in rows:
            if kind in EVICTED_KINDS:  # not what was learned of a model
                kinds[kind] += count
                models[model] += count
        for file in self._files():
            with contextlib.suppress(FileNotFoundError):  # another process has just deleted its log
                size += file.stat().st_size
        damaged = tuple(sorted(self._path.parent.glob(f"{DAMAGED_PREFIX}*{FILE}")))
        return CacheInfo(self._path, kinds["chat"], kinds["embedding"], models, size, damaged)

    def delete_older(self, days: int) -> int:
        """Delete what was saved more than this number of days ago (UTC); return how many rows."""

        def delete(connection: sqlite3.Connection) -> int:
            first = self._first_row(connection, days)
            deleted = connection.execute(DELETE_BEFORE, (first,)).rowcount
            _shrink(connection)
            return deleted

        return self._write(delete, 0) if self._path.exists() else 0

    def trim(self, max_bytes: float) -> int:
        """Delete the oldest vectors, then the oldest replies, until the others take no more space.

        Those of today go as well, and damaged files that were set aside. Returns how many rows.
        """

        def delete(connection: sqlite3.Connection) -> int:
            deleted = 0
            while _used_bytes(connection) > max_bytes:
                slices = (
                    connection.execute(EVICT, (kind, MAX_ROW, EVICTED_ROWS)).rowcount
                    for kind in EVICTED_KINDS
                )
                if not (rows := next(filter(None, slices), 0)):
                    break
                deleted += rows
            _shrink(connection)
            return deleted

        for file in self._files():
            if file.name.startswith(DAMAGED_PREFIX):
                file.unlink(missing_ok=True)
        return self._write(delete, 0) if self._path.exists() else 0

    def clear(self) -> None:
        """Delete the cache's file, and damaged files that were set aside.

        Raises:
            OSError: A file can't be deleted.
        """
        self.close()
        for file in self._files():
            file.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; a reply that arrives later opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = self._opened = None

    def find(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Return the data of those keys that have any."""

        def find(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            # A statement for each key: with a list of keys there is one to prepare for each length.
            rows = {key: connection.execute(SELECT, (key,)).fetchone() for key in keys}
            return {key: zlib.decompress(row[0]) for key, row in rows.items() if row}

        return self._read(find, {})

    def _read(self, work: Work[Result], default: Result) -> Result:
        """The result of `work`; the default if there is no file, as reading does not make one."""
        return self._do(work, default) if self._path.exists() else default

    def save(self, rows: Sequence[CachedRow]) -> None:
        """Save rows, all or none; they replace others of the same keys."""
        # With the checksum that `zlib.decompress` checks; SQLite has none.
        packed = [(*row, zlib.compress(data, 1)) for *row, data in rows]

        def save(connection: sqlite3.Connection) -> None:
            connection.executemany(INSERT, packed)
            self._evict(connection, EVICTED_ROWS + 2 * len(packed))

        self._write(save, None)

    def forget(self, key: bytes) -> None:
        """Delete the row of a key, if there is one."""
        self._write(lambda connection: connection.execute(DELETE, (key,)), None)

    def _write(self, work: Work[Result], default: Result) -> Result:
        """The result of `work`, which is done wholly or not at all."""

        def write(connection: sqlite3.Connection) -> Result:
            with connection:
                self._note_day(connection)
                return work(connection)

        return self._do(write, default)

    def _note_day(self, connection: sqlite3.Connection) -> None:
        """Note the first row of today."""
        if self._noted_day != (today := _today()):
            for statement in (KIND_INDEX, DAYS, FORGET_DAYS):
                connection.execute(statement)
            connection.execute(NOTE_DAY, (today,))
            self._noted_day = today

    def _first_row(self, connection: sqlite3.Connection, days: int) -> int:
        """The first row that was saved today or at most this number of days before."""
        (first,) = connection.execute(FIRST_ROW, (_today() - days,)).fetchone()
        return int(first or 0)

    def _evict(self, connection: sqlite3.Connection, limit: int) -> None:
        """Evict a slice of the oldest rows if the file is too large, those of one kind first."""
        pages, free, page_bytes = _count_pages(connection)
        if _used_bytes(connection) > self._max_bytes:
            # The next rows take the space that becomes free.
            first = self._first_row(connection, KEPT_DAYS)
            for kind in EVICTED_KINDS:
                connection.execute(EVICT, (kind, first, limit))
                if connection.execute(HAS_KIND, (kind,)).fetchone():
                    break
        elif free and pages * page_bytes > self._max_bytes:
            _shrink(connection, limit)

    def _do(self, work: Work[Result], default: Result) -> Result:
        """The result of `work`, in a new file if this one is damaged; the default on an error."""
        with self._lock:
            try:
                try:
                    return work(self._connect())
                except (sqlite3.Error, zlib.error, TypeError, UnicodeDecodeError) as error:
                    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
                    # The lower byte is the error's kind; the higher ones say more about it.
                    if code & 0xFF not in DAMAGED:
                        raise
                    self._set_aside(error)
                return work(self._connect())
            except (OSError, sqlite3.Error) as error:
                self.close()
                self._warn(error)
                return default

    def _connect(self) -> sqlite3.Connection:
        """A connection to the present file; another process may have deleted the previous one."""
        if not self._is_there():
            self.close()
        if self._connection is None:
            # Replies about a text are as private as the text.
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self._path, timeout=BUSY_SECONDS, check_same_thread=False
            )
            self._opened, self._noted_day = self._path.stat(), 0
            # So that the file can shrink; only a new file takes it.
            self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            # Refused while another process turns it on; it is then on for both.
            with contextlib.suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA journal_mode = WAL")
            # A commit hands the rows to the operating system and does not wait for the disk.
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(TABLE)
        return self._connection

    def _is_there(self) -> bool:
        """Whether the file that was opened is still there."""
        try:
            return self._opened is not None and os.path.samestat(self._opened, self._path.stat())
        except OSError:
            return False

    def _set_aside(self, error: Exception) -> None:
        """Rename the damaged file, unless another process has, and save what is readable."""
        with FileLock(self._path.with_name(f"{FILE}.lock")):
            # If it is gone, another process has renamed it, and the name may be that of a new one.
            is_there = self._is_there()
            self.close()
            if not is_there:
                return
            numbers = itertools.count(1)
            names = (self._path.with_name(f"{DAMAGED_PREFIX}{number}-{FILE}") for number in numbers)
            aside = next(name for name in names if not name.exists())
            # The log first: left behind alone, SQLite would replay it into the new file.
            for end in ("-wal", "-shm", ""):
                with contextlib.suppress(FileNotFoundError):
                    self._path.with_name(FILE + end).replace(aside.with_name(aside.name + end))
        count, is_whole = self._recover(aside)
        LOG.warning(
            "The response cache is damaged (%s). It was renamed to %s, and a new one is begun with "
            "the %d replies and embeddings that could be read%s; others are paid for again when "
            "they are needed. Try `sqlite3 FILE .recover` on the renamed file, or delete it.",
            *(error, aside, count, "" if is_whole else f" in {RECOVER_SECONDS:.0f} seconds"),
        )

    def _recover(self, aside: Path) -> tuple[int, bool]:
        """Save a damaged file's readable rows; return how many, and whether all was looked at."""
        end, count, rows = time.monotonic() + RECOVER_SECONDS, 0, _readable_rows(aside)
        while batch := list(itertools.islice(rows, RECOVERED_ROWS)):

            def save(connection: sqlite3.Connection, batch: list[Row] = batch) -> bool:
                connection.executemany(RECOVER_ROW, batch)
                return True

            if time.monotonic() > end or not self._write(save, False):
                return count, False
            count += len(batch)
        return count, True

    def _files(self) -> list[Path]:
        """The cache's files, those of SQLite's log first."""
        # Left behind alone, SQLite would replay a log into the new file.
        return sorted(self._path.parent.glob(f"*{FILE}*"), reverse=True)

    def _warn(self, error: Exception) -> None:
        """Warn of each error once; later calls still try, as there may be space by then."""
        if str(error) in self._warnings:
            return
        self._warnings.add(str(error))
        # The lower byte is the error's kind; the higher ones say more about it.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
        LOG.warning(
            "The response cache %s can't be used (%s), so that replies may have to be paid for "
            "again. %s",
            *(self._path, error, ADVICE.get(code, ANOTHER_FOLDER)),
        )


def _readable_rows(path: Path) -> Iterator[Row]:
    """Yield the rows that can be read from a damaged file, in their order."""
    first, step = 1, 1
    with contextlib.suppress(sqlite3.Error), closing(_open_to_read(path)) as connection:
        while first < MAX_ROW:
            try:
                for row, *values in connection.execute(RECOVER, (first,)):
                    first, step = row + 1, 1
                    if _is_whole(*values):
                        yield tuple(values)
            except (sqlite3.Error, UnicodeDecodeError):
                # Behind a row that can't be read, later ones are tried in steps that double.
                first, step = first + step, step * 2
            else:
                return


def _open_to_read(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _is_whole(key: object, kind: object, model: object, data: object) -> bool:
    """Whether a row of a damaged file is as it was saved, by its types and the checksum."""
    is_row = isinstance(key, bytes) and kind in EVICTED_KINDS and isinstance(model, str)
    try:
        return is_row and isinstance(data, bytes) and bool(zlib.decompress(data))
    except zlib.error:
        return False


def _count_pages(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Return the number of pages, of those that are free, and the bytes of each."""
    pages, free, page_bytes = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return pages, free, page_bytes


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, page_bytes = _count_pages(connection)
    return (pages - free) * page_bytes


def _shrink(connection: sqlite3.Connection, pages: int = 0) -> None:
    """Give free pages at the end of the file back, at most as many; 0 for all."""
    # `execute` frees one page only, as its rows have no columns. This one commits first.
    connection.executescript(f"PRAGMA incremental_vacuum({pages})")


def _today() -> int:
    """The number of the present day (UTC)."""
    return int(time.time() // DAY_SECONDS)
