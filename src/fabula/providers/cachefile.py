"""The response cache's SQLite file: opened, shared, and set aside where it is damaged."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

LOG = logging.getLogger("fabula")
ASIDE = "responses.corrupt-*.sqlite"
COMPANIONS = ("-wal", "-shm")
"""What SQLite keeps beside a file, by the end of its name."""
BUSY_SECONDS = 5.0
"""The longest wait for another process that writes, which takes milliseconds."""
DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""SQLite's codes for a file that is not what it should be; others are a lack of room or rights."""

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]


class Damaged(Exception):
    """The file is not what was written."""


class CacheFile:
    """One SQLite file for all threads of a process and for several processes; it never raises.

    One connection serves all threads in turn. It is opened when first needed, and again where the
    file was deleted or set aside by another process. A file that is damaged, or whose tables are
    of another `version`, is set aside with a warning and a new one begins. Where there is no room
    or no right to write, one warning says so, and nothing is kept.
    """

    def __init__(self, path: Path, tables: str, version: int) -> None:
        self.path = path
        self._tables, self._version = tables, version
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._opened: os.stat_result | None = None
        self._has_warned = False

    def read(self, work: Work[Result], otherwise: Result) -> Result:
        """What `work` finds; `otherwise` where there is no file, or none that can be read."""
        with self._lock:
            if not self.path.exists():
                return otherwise
            return self._tried(work, otherwise)

    def write(self, work: Work[Any]) -> None:
        """Does `work`, in a new file where there is none."""
        with self._lock:
            self._tried(work, None)

    def aside(self) -> tuple[Path, ...]:
        """The files that were set aside."""
        return tuple(sorted(self.path.parent.glob(ASIDE)))

    def size(self) -> int:
        """Bytes on the disk, with those set aside."""
        files = [file for path in (self.path, *self.aside()) for file in _with_companions(path)]
        return sum(_size(file) for file in files)

    def delete_aside(self) -> None:
        """Deletes what was set aside."""
        try:
            for path in self.aside():
                for file in _with_companions(path):
                    file.unlink(missing_ok=True)
        except OSError as error:
            self._warn(error)

    def close(self) -> None:
        """Lets the file go; what is written later opens it again."""
        with self._lock:
            self._let_go()

    def _tried(self, work: Work[Result], otherwise: Result) -> Result:
        """Once more with a new file where the first turns out to be damaged."""
        try:
            try:
                return work(self._reached())
            except (Damaged, UnicodeDecodeError, sqlite3.DatabaseError) as error:
                if not _is_damage(error):
                    raise
                self._set_aside(error)
            return work(self._reached())
        except (OSError, Damaged, UnicodeDecodeError, sqlite3.Error) as error:
            self._warn(error)
            return otherwise

    def _reached(self) -> sqlite3.Connection:
        """The connection to the file that is there now."""
        if self._connection is not None and not self._is_same():
            self._let_go()
        if self._connection is None:
            # What models said of a text is as private as the text.
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._opened = self.path.stat()
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Makes the tables of a new file."""
        _use_log(connection)
        # A commit hands the rows to the system, and does not wait for the disk.
        connection.execute("PRAGMA synchronous = NORMAL")
        if _version(connection) == self._version:
            return
        with transaction(connection):
            [tables] = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            if not tables:
                for statement in self._tables.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {self._version}")
            elif _version(connection) != self._version:
                raise Damaged("another version of Fabula made it")

    def _is_same(self) -> bool:
        """Whether the file was neither deleted nor set aside by another process."""
        try:
            return self._opened is not None and os.path.samestat(self._opened, self.path.stat())
        except OSError:
            return False

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._opened = None

    def _set_aside(self, error: Exception) -> None:
        """Renames the damaged file, unless another process has done so."""
        is_there = self._is_same()
        self._let_go()
        if not is_there:
            return
        aside = self.path.with_name(ASIDE.replace("*", f"{datetime.now():%Y%m%d-%H%M%S-%f}"))
        # The file itself last: SQLite would read an old log into a new file.
        renames = zip(_with_companions(self.path), _with_companions(aside), strict=True)
        for file, renamed in reversed([*renames]):
            if file.exists():
                file.rename(renamed)
        LOG.warning(
            "The response cache can't be read (%s). It is set aside as %s, and a new one begins.",
            error,
            aside,
        )

    def _warn(self, error: Exception) -> None:
        """Once; what comes next is tried all the same, as there may be room by then."""
        if not self._has_warned:
            self._has_warned = True
            LOG.warning(
                "The response cache %s can't be used (%s): replies may have to be paid for again. "
                "FABULA_CACHE_FOLDER names another folder for it.",
                self.path,
                error,
            )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing of what is written within; no other process writes meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _use_log(connection: sqlite3.Connection) -> None:
    """Write-ahead logging; SQLite does not wait where another process is just turning it on."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _version(connection: sqlite3.Connection) -> int:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _is_damage(error: Exception) -> bool:
    # A broken file's table names, which SQLite's complaint repeats, may be no UTF-8.
    if isinstance(error, Damaged | UnicodeDecodeError):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in DAMAGE


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # it is not there, or another process has just dropped it
        return 0


def _with_companions(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + end) for end in COMPANIONS)]
