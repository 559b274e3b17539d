"""Dumps that are kept without being asked for, so that no accident costs a library.

Neo4j Community dumps a database only while it stands still: so it is done where it does anyway,
before a start and after a stop, at most once a day, and before a migration.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

from fabula.server import archive
from fabula.server.admin import AdminTool
from fabula.server.room import check_room
from fabula.server.state import Home

KEPT = 3
"""The newest so many; older ones are deleted."""
DAY = 86_400.0
"""Seconds between two dumps."""


def kept(home: Home) -> list[Path]:
    """The dumps that there are, the newest first: their names tell when each was made."""
    return sorted(home.dumps.glob("*.dump"), reverse=True)


def is_due(home: Home) -> bool:
    """Whether there is something that no dump holds, and no dump of today."""
    if not archive.has_data(home):
        return False
    newest = max((dump.stat().st_mtime for dump in kept(home)), default=0.0)
    return time.time() - newest >= DAY and _changed_at(home) > newest


def keep(tool: AdminTool, home: Home) -> Path:
    """Dumps the graph into the home's folder of dumps; the server stands still.

    Raises ServerError, or Unrecovered after a kill: only a start brings in what is in its logs.
    """
    home.dumps.mkdir(mode=0o700, exist_ok=True)
    check_room(home.dumps, sum(file.stat().st_size for file in _files(home)))
    dump = home.dumps / f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}.dump"
    archive.dump(tool, home, dump)
    dump.chmod(0o600)
    for old in kept(home)[KEPT:]:
        old.unlink()
    return dump


def _files(home: Home) -> list[Path]:
    stores = (home.neo4j / store for store in archive.STORES)
    return [file for store in stores for file in store.rglob("*") if file.is_file()]


def _changed_at(home: Home) -> float:
    return max((file.stat().st_mtime for file in _files(home)), default=0.0)
