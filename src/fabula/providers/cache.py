"""The response cache: every reply that was paid for, in one file that may be deleted any time."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import sqlite3
import threading
import time
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabula.providers import Prompt, Reply
from fabula.providers.cachefile import CacheFile, Damaged, transaction

if TYPE_CHECKING:
    from pydantic import BaseModel

    from fabula.model import Vector

FILE = "responses.sqlite"
VERSION = 1
"""Of the tables below."""
# Vectors in a table WITHOUT ROWID take longer to keep, and more room.
TABLES = """
CREATE TABLE chat (
    key BLOB PRIMARY KEY, model TEXT NOT NULL, created INTEGER NOT NULL, crc INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, reply BLOB NOT NULL
);
CREATE TABLE embedding (
    key BLOB PRIMARY KEY, model TEXT NOT NULL, created INTEGER NOT NULL, crc INTEGER NOT NULL,
    vector BLOB NOT NULL
)
"""
KEEP_REPLY = "INSERT OR REPLACE INTO chat VALUES (?, ?, ?, ?, ?, ?, ?)"
KEEP_VECTOR = "INSERT OR REPLACE INTO embedding VALUES (?, ?, ?, ?, ?)"
FIND_REPLY = "SELECT crc, reply, prompt_tokens, completion_tokens FROM chat WHERE key = ?"
FIND_VECTOR = "SELECT crc, vector FROM embedding WHERE key = ?"
COUNT_REPLIES = "SELECT model, count(*) FROM chat GROUP BY model"
COUNT_VECTORS = "SELECT model, count(*) FROM embedding GROUP BY model"


def chat_key(endpoint: str, model: str, prompt: Prompt) -> bytes:
    """32 bytes, of all that decides a reply; a prompt's correction asks for the same again.

    `endpoint` is its checked URL: one name may stand for two models at two endpoints.
    """
    shape = _shape(prompt.schema) if prompt.schema else None
    return _digest(
        "chat",
        endpoint,
        model,
        prompt.system,
        prompt.user,
        prompt.max_tokens,
        float(prompt.temperature),
        shape,
        prompt.sample,
    )


def embedding_key(endpoint: str, model: str, text: str) -> bytes:
    """32 bytes, of an endpoint's checked URL, a model's name and the text it is given."""
    return _digest("embedding", endpoint, model, text)


@dataclass(frozen=True, slots=True)
class Info:
    """What a cache holds: how many replies and vectors, of each model how many of both, and where.

    `aside` are files that were set aside as damaged; `bytes` on the disk include them.
    """

    path: Path
    replies: int
    vectors: int
    models: Mapping[str, int]
    bytes: int
    aside: tuple[Path, ...]


class ResponseCache:
    """Replies and vectors by key, for all threads of a process and for several processes.

    What is kept is in the file when the call returns, and outlives the process however it ends.
    Where the machine loses power, the last few may be lost with it and are paid for again: to wait
    for the disk at each reply is not worth those. Nothing is ever raised: see CacheFile.
    """

    def __init__(self, folder: Path) -> None:
        self._file = CacheFile(folder / FILE, TABLES, VERSION)
        self._asked: set[bytes] = set()
        self._answered = threading.Condition()

    @contextmanager
    def turn(self, keys: Collection[bytes]) -> Iterator[None]:
        """One thread at a time for a key: who comes second finds what the first was told.

        Held for all `keys` or none, so that no two can wait for each other.
        """
        with self._answered:
            self._answered.wait_for(lambda: self._asked.isdisjoint(keys))
            self._asked.update(keys)
        try:
            yield
        finally:
            with self._answered:
                self._asked.difference_update(keys)
                self._answered.notify_all()

    def reply(self, key: bytes) -> Reply | None:
        """The reply that is kept under a key, as cached; None where there is none."""

        def find(connection: sqlite3.Connection) -> Reply | None:
            row = connection.execute(FIND_REPLY, (key,)).fetchone()
            if row is None:
                return None
            text = _sound(row[0], row[1]).decode("utf-8", "surrogatepass")
            return Reply(text, row[2], row[3], cached=True)

        return self._file.read(find, None)

    def keep_reply(self, key: bytes, model: str, reply: Reply) -> None:
        """Keeps a reply, in place of another under the same key."""
        data = reply.text.encode("utf-8", "surrogatepass")
        used = (reply.prompt_tokens, reply.completion_tokens)
        row = (key, _storable(model), int(time.time()), zlib.crc32(data), *used, data)
        self._file.write(lambda connection: connection.execute(KEEP_REPLY, row))

    def forget(self, key: bytes) -> None:
        """Deletes the reply under a key, if there is one."""
        self._file.read(
            lambda connection: connection.execute("DELETE FROM chat WHERE key = ?", (key,)), None
        )

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The float32 vectors, shape (dimensions,), of those keys that have one."""

        def find(connection: sqlite3.Connection) -> dict[bytes, Vector]:
            rows = {key: connection.execute(FIND_VECTOR, (key,)).fetchone() for key in keys}
            return {
                key: np.frombuffer(_sound(*row), "<f4").astype(np.float32)
                for key, row in rows.items()
                if row is not None
            }

        return self._file.read(find, {})

    def keep_vectors(self, model: str, vectors: Mapping[bytes, Vector]) -> None:
        """Keeps vectors by key, all or none."""
        name, now, rows = _storable(model), int(time.time()), []
        for key, vector in vectors.items():
            data = vector.astype("<f4").tobytes()
            rows.append((key, name, now, zlib.crc32(data), data))

        def keep(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.executemany(KEEP_VECTOR, rows)

        self._file.write(keep)

    def info(self) -> Info:
        """What is kept now."""

        def count(connection: sqlite3.Connection) -> list[Counter[str]]:
            both = (COUNT_REPLIES, COUNT_VECTORS)
            return [Counter(dict(connection.execute(one).fetchall())) for one in both]

        none: list[Counter[str]] = [Counter(), Counter()]
        replies, vectors = self._file.read(count, none)
        return Info(
            path=self._file.path,
            replies=replies.total(),
            vectors=vectors.total(),
            models=dict(sorted((replies + vectors).items())),
            bytes=self._file.size(),
            aside=self._file.aside(),
        )

    def clear(self) -> Info:
        """Deletes all that is kept, and what was set aside; what was there is returned."""
        found = self.info()
        # The rows and not the file, as other processes may be writing to it.
        self._file.read(_empty, None)
        self._file.delete_aside()
        return found

    def close(self) -> None:
        """Lets the file go; a reply that arrives later opens it again."""
        self._file.close()


def _empty(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        connection.execute("DELETE FROM chat")
        connection.execute("DELETE FROM embedding")
    # Where another process is reading, the room is used again and not given back.
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _sound(crc: int, data: bytes) -> bytes:
    """SQLite has no checksums of its own. Raises Damaged where this one does not agree."""
    if not isinstance(data, bytes) or zlib.crc32(data) != crc:
        raise Damaged("a row is not what was written")
    return data


def _storable(name: str) -> str:
    """Half a surrogate pair can't be written; it is a '?'."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _digest(*parts: object) -> bytes:
    # Escaped to ASCII, a lone surrogate is a character like any other.
    return hashlib.sha256(json.dumps(parts).encode("ascii")).digest()


@functools.cache
def _shape(schema: type[BaseModel]) -> str:
    """Cached: pydantic makes a schema anew in half a millisecond."""
    return json.dumps(schema.model_json_schema(), sort_keys=True)
