"""Dumps that are kept without being asked for, so that no accident costs a library.

Neo4j Community dumps a database only while it stands still: so it is done where it does anyway,
before a start and after a stop, at most once a day; before a migration; and at an hour of the day
by `fabula serve`, which stops the server for it (fabula/service/core/daily_dump.py).
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from fabula.server import archive
from fabula.server.admin import AdminTool
from fabula.server.room import check_room
from fabula.server.state import Home

KEPT = 3
"""The newest so many; older ones are deleted."""
DAY_SECONDS = 86_400.0
"""How long a dump that a start or a stop has made keeps the next one from being made."""
NAME = "%Y-%m-%d-%H%M%S"
"""How a dump is named, by the local time at which it was made."""
EMPTY_BYTES = 40_000
"""A dump that is smaller holds no document: an empty graph with its indexes took 17,600 bytes, one
page of text 53,800. It stands for no day, and displaces no other dump."""


def kept(home: Home) -> list[Path]:
    """The dumps that there are, the newest first: their names tell when each was made."""
    return sorted(home.dumps.glob("*.dump"), reverse=True)


def made_at(dump: Path) -> float:
    """Return when a dump was made, in seconds since the epoch: what its name says."""
    with suppress(ValueError):
        return datetime.strptime(dump.stem, NAME).astimezone().timestamp()
    return dump.stat().st_mtime


def is_empty(dump: Path) -> bool:
    """Return whether a dump is that of a graph without documents."""
    return dump.stat().st_size < EMPTY_BYTES


def is_due(home: Home, now: float) -> bool:
    """Whether there is something that no dump holds, and no dump of the day before `now`.

    A dump of an empty graph is none.
    """
    if not archive.has_data(home):
        return False
    dumps = kept(home)
    last = max((made_at(dump) for dump in dumps if not is_empty(dump)), default=0.0)
    # By the file system's own clock, as the files of the graph are.
    written = max((dump.stat().st_mtime for dump in dumps), default=0.0)
    return now - last >= DAY_SECONDS and _changed_at(home) > written


def check_room_for_dump(home: Home) -> None:
    """Raises ServerError where the disk has no room for a dump of all that is there."""
    home.dumps.mkdir(mode=0o700, exist_ok=True)
    check_room(home.dumps, sum(size for size, _ in _files(home)))


def keep(tool: AdminTool, home: Home, now: float | None = None) -> Path:
    """Dumps the graph into the home's folder of dumps; the server stands still.

    Raises ServerError, or Unrecovered after a kill: only a start brings in what is in its logs.
    """
    check_room_for_dump(home)
    made = datetime.fromtimestamp(time.time() if now is None else now).astimezone()
    dump = home.dumps / f"{made:{NAME}}.dump"
    archive.dump(tool, home, dump)
    dump.chmod(0o600)
    delete_old(home)
    return dump


def delete_old(home: Home) -> None:
    """Delete all dumps but the newest ones, and all of empty graphs but the newest one."""
    empty = [dump for dump in kept(home) if is_empty(dump)]
    full = [dump for dump in kept(home) if not is_empty(dump)]
    for dump in (*full[KEPT:], *empty[1:]):
        dump.unlink()


def _files(home: Home) -> list[tuple[int, float]]:
    """Return the size and the time of each file of the graph; a running server deletes some."""
    found = []
    for store in archive.STORES:
        for file in (home.neo4j / store).rglob("*"):
            with suppress(FileNotFoundError):
                if file.is_file():
                    status = file.stat()
                    found.append((status.st_size, status.st_mtime))
    return found


def _changed_at(home: Home) -> float:
    return max((changed for _, changed in _files(home)), default=0.0)
