"""The response cache: every reply that was paid for, in one file that may be deleted any time."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import sqlite3
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fabula.models import Prompt, Reply
from fabula.models.shared_streams import SharedStreams
from fabula.models.stop import Stop

if TYPE_CHECKING:
    from pydantic import BaseModel

    from fabula.text.document import Vector

LOG = logging.getLogger("fabula")
FILE = "responses.sqlite"
BUSY_SECONDS = 5.0
"""The longest wait for another process that writes, which takes milliseconds."""
NO_DATABASE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""SQLite's codes for a file that is not what it should be; others are a lack of room or rights."""

# Vectors in a table WITHOUT ROWID take longer to keep, and more room.
TABLE = """
CREATE TABLE IF NOT EXISTS response (
    key BLOB PRIMARY KEY, kind TEXT NOT NULL, model TEXT NOT NULL, data BLOB NOT NULL
)
"""
KEEP = "INSERT OR REPLACE INTO response VALUES (?, ?, ?, ?)"
FIND = "SELECT data FROM response WHERE key = ?"
FORGET = "DELETE FROM response WHERE key = ?"
COUNT = "SELECT kind, model, count(*) FROM response GROUP BY kind, model ORDER BY model"

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]


def chat_key(endpoint: str, model: str, prompt: Prompt) -> bytes:
    """32 bytes, of all that decides a reply; a prompt's correction asks for the same again.

    `endpoint` is its checked URL: one name may stand for two models at two endpoints.
    """
    shape = _shape(prompt.schema) if prompt.schema else None
    limits = (prompt.max_tokens, float(prompt.temperature), shape, prompt.sample)
    return _digest("chat", endpoint, model, prompt.system, prompt.user, *limits)


def embedding_key(endpoint: str, model: str, text: str) -> bytes:
    """32 bytes, of an endpoint's checked URL, a model's name and the text it is given."""
    return _digest("embedding", endpoint, model, text)


def _digest(*parts: object) -> bytes:
    # Escaped to ASCII, a lone surrogate is a character like any other.
    return hashlib.sha256(json.dumps(parts).encode("ascii")).digest()


@functools.cache
def _shape(schema: type[BaseModel]) -> str:
    """Cached: pydantic makes a schema anew in half a millisecond."""
    return json.dumps(schema.model_json_schema(), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Info:
    """What a cache holds: how many replies and vectors, of each model how many of both, and where.

    `bytes` on the disk include a damaged file that was set aside.
    """

    path: Path
    replies: int
    vectors: int
    models: Mapping[str, int]
    bytes: int


class ResponseCache:
    """Replies and vectors by key, for all threads of a process and for several processes.

    What is kept is in the file when the call returns, and outlives the process however it ends.
    Where the machine loses power, the last few may be lost with it and are paid for again: to wait
    for the disk at each reply is not worth those.

    No run is lost to it: a damaged file is set aside with a warning, and a new one begins; where
    there is no room or no right to write, one warning says so, and nothing is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._connection: sqlite3.Connection | None = None
        self._opened: os.stat_result | None = None
        self._using = threading.RLock()
        self._has_warned = False
        self._asked: set[bytes] = set()
        self._answered = threading.Condition()
        self.streams = SharedStreams()
        """The streamed calls that are under way in this process."""

    @contextmanager
    def turn(self, keys: Collection[bytes], stop: Stop | None = None) -> Iterator[None]:
        """One thread at a time for a key: who comes second finds what the first was told.

        Held for all `keys` or none, so that no two can wait for each other. Raises Stopped where
        `stop` is set while it waits.
        """
        stop = stop or Stop()
        with stop.telling(self._wake), self._answered:
            self._answered.wait_for(lambda: stop.is_set() or self._asked.isdisjoint(keys))
            stop.check()
            self._asked.update(keys)
        try:
            yield
        finally:
            with self._answered:
                self._asked.difference_update(keys)
                self._answered.notify_all()

    def _wake(self) -> None:
        """Has everybody who waits for a turn look again."""
        with self._answered:
            self._answered.notify_all()

    def reply(self, key: bytes) -> Reply | None:
        """The reply that is kept under a key, as cached; None where there is none."""
        for data in self._find([key]).values():
            text, prompt_tokens, completion_tokens = json.loads(data)
            return Reply(text, prompt_tokens, completion_tokens, cached=True)
        return None

    def keep_reply(self, key: bytes, model: str, reply: Reply) -> None:
        """Keeps a reply, in place of another under the same key."""
        kept = (reply.text, reply.prompt_tokens, reply.completion_tokens)
        self._write(KEEP, [(key, "chat", model, _pack(json.dumps(kept).encode()))])

    def forget(self, key: bytes) -> None:
        """Deletes the reply under a key, if there is one."""
        self._write(FORGET, [(key,)])

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The float32 vectors, shape (dimensions,), of those keys that have one."""
        found = self._find(keys)
        return {key: np.frombuffer(data, "<f4").astype(np.float32) for key, data in found.items()}

    def keep_vectors(self, model: str, vectors: Mapping[bytes, Vector]) -> None:
        """Keeps vectors by key, all or none."""
        data = {key: _pack(vector.astype("<f4").tobytes()) for key, vector in vectors.items()}
        self._write(KEEP, [(key, "embedding", model, packed) for key, packed in data.items()])

    def info(self) -> Info:
        """What is kept now."""
        kinds, models, size = Counter[str](), Counter[str](), 0
        none: list[tuple[str, str, int]] = []
        rows = self._read(lambda connection: connection.execute(COUNT).fetchall(), none)
        for kind, model, count in rows:
            kinds[kind] += count
            models[model] += count
        for file in self._files():
            with contextlib.suppress(FileNotFoundError):  # another process has just dropped its log
                size += file.stat().st_size
        return Info(self._path, kinds["chat"], kinds["embedding"], models, size)

    def clear(self) -> None:
        """Deletes all that is kept, and what was set aside. Raises OSError."""
        self.close()
        for file in self._files():
            file.unlink(missing_ok=True)

    def close(self) -> None:
        """Lets the file go; a reply that arrives later opens it again."""
        with self._using:
            if self._connection is not None:
                self._connection.close()
            self._connection = self._opened = None

    def _find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        def find(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            rows = {key: connection.execute(FIND, (key,)).fetchone() for key in keys}
            return {key: zlib.decompress(row[0]) for key, row in rows.items() if row}

        return self._read(find, {})

    def _read(self, work: Work[Result], otherwise: Result) -> Result:
        """What `work` finds; no file is made for it where there is none."""
        return self._do(work, otherwise) if self._path.exists() else otherwise

    def _write(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(statement, rows)

        self._do(write, None)

    def _do(self, work: Work[Result], otherwise: Result) -> Result:
        """What `work` finds, in a new file where this one is damaged; `otherwise` in trouble."""
        with self._using:
            try:
                try:
                    return work(self._connect())
                except (sqlite3.Error, zlib.error, TypeError, UnicodeDecodeError) as error:
                    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
                    if code & 0xFF not in NO_DATABASE:
                        raise
                    self._set_aside(error)
                return work(self._connect())
            except (OSError, sqlite3.Error) as error:
                self.close()
                self._warn(error)
                return otherwise

    def _connect(self) -> sqlite3.Connection:
        """The connection to the file that is there now; others may have deleted the one before."""
        if not self._is_there():
            self.close()
        if self._connection is None:
            # What models said of a text is as private as the text.
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._path, BUSY_SECONDS, check_same_thread=False)
            self._opened = self._path.stat()
            # Refused while another process turns it on, which it then is for both.
            with contextlib.suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA journal_mode = WAL")
            # A commit hands the rows to the system, and does not wait for the disk.
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
        """Renames the damaged file, unless another process has done so."""
        is_there = self._is_there()
        self.close()
        if is_there:
            for file in self._files(f"{FILE}*"):
                file.replace(file.with_name(f"damaged-{file.name}"))
            LOG.warning(
                "The response cache can't be read (%s). It is set aside as %s, and a new one "
                "begins.",
                error,
                self._path.with_name(f"damaged-{FILE}"),
            )

    def _files(self, pattern: str = f"*{FILE}*") -> list[Path]:
        """What SQLite keeps beside the file comes first: it would read it into a new file."""
        return sorted(self._path.parent.glob(pattern), reverse=True)

    def _warn(self, error: Exception) -> None:
        """Once; what comes next is tried all the same, as there may be room by then."""
        if not self._has_warned:
            LOG.warning(
                "The response cache %s can't be used (%s): replies may have to be paid for again. "
                "FABULA_CACHE_FOLDER names another folder for it.",
                self._path,
                error,
            )
        self._has_warned = True


def _pack(data: bytes) -> bytes:
    """With a checksum, as SQLite has none; `zlib.decompress` raises where it does not agree."""
    return zlib.compress(data, 1)
