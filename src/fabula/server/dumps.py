"""Dumps that are made without a command, so that no accident costs a library.

Neo4j Community can dump a database only while the server is stopped. So a dump is made before a
start and after a stop, at most once a day; before a migration; and at an hour of the day by `fabula
serve`, which stops the server for it (fabula/service/core/daily_dump.py).
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from fabula.server import archive
from fabula.server.admin import AdminTool
from fabula.server.disk_space import check_disk_space
from fabula.server.state import Home

MAX_DUMPS = 3
"""How many dumps are kept; older ones are deleted."""
DAY_SECONDS = 86_400.0
"""How long after a dump a start or a stop makes no other."""
NAME_FORMAT = "%Y-%m-%d-%H%M%S"
"""The name of a dump, from the local time at which it was made."""
MIN_FULL_BYTES = 40_000
"""A smaller dump is of a graph without documents: one with its indexes took 17,600 bytes, and one
with a page of text 53,800. It does not count as the dump of a day and replaces no other dump."""


def list_dumps(home: Home) -> list[Path]:
    """Return the existing dumps, newest first; their names say when each was made."""
    return sorted(home.dumps.glob("*.dump"), reverse=True)


def made_at(dump: Path) -> float:
    """Return when a dump was made, from its name, in seconds since the epoch."""
    with suppress(ValueError):
        return datetime.strptime(dump.stem, NAME_FORMAT).astimezone().timestamp()
    return dump.stat().st_mtime


def is_empty(dump: Path) -> bool:
    """Return whether a dump is of a graph without documents."""
    return dump.stat().st_size < MIN_FULL_BYTES


def is_due(home: Home, now: float) -> bool:
    """Return whether a dump has to be made.

    That is so if the graph has changed since the newest dump, and that is older than a day. Dumps
    of an empty graph do not count.
    """
    if not archive.has_data(home):
        return False
    dumps = list_dumps(home)
    last = max((made_at(dump) for dump in dumps if not is_empty(dump)), default=0.0)
    # By the file system's clock, as the times of the graph's files are.
    written = max((dump.stat().st_mtime for dump in dumps), default=0.0)
    return now - last >= DAY_SECONDS and _last_change(home) > written


def check_space_for_dump(home: Home) -> None:
    """Raise ServerError if the disk has too little room for a dump of the graph."""
    home.dumps.mkdir(mode=0o700, exist_ok=True)
    check_disk_space(home.dumps, sum(size for size, _ in _files(home)))


def make_dump(tool: AdminTool, home: Home, now: float | None = None) -> Path:
    """Dump the graph into the home's folder of dumps; the server has to be stopped.

    Raises:
        ServerError: The dump can't be written.
        Unrecovered: The server was killed. Only a start recovers what is in its logs.
    """
    check_space_for_dump(home)
    moment = datetime.fromtimestamp(time.time() if now is None else now).astimezone()
    dump = home.dumps / f"{moment:{NAME_FORMAT}}.dump"
    archive.dump(tool, home, dump)
    dump.chmod(0o600)
    delete_old(home)
    return dump


def delete_old(home: Home) -> None:
    """Delete all dumps but the newest ones, and those of empty graphs but the newest."""
    empty = [dump for dump in list_dumps(home) if is_empty(dump)]
    full = [dump for dump in list_dumps(home) if not is_empty(dump)]
    for dump in (*full[MAX_DUMPS:], *empty[1:]):
        dump.unlink()


def _files(home: Home) -> list[tuple[int, float]]:
    """Return the size and the time of each file of the graph; a running server deletes some."""
    files = []
    for store in archive.STORES:
        for file in (home.neo4j / store).rglob("*"):
            with suppress(FileNotFoundError):
                if file.is_file():
                    status = file.stat()
                    files.append((status.st_size, status.st_mtime))
    return files


def _last_change(home: Home) -> float:
    return max((changed for _, changed in _files(home)), default=0.0)
