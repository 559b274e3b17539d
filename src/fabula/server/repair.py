"""Repair a transaction log that Neo4j can't read to its end, so that the graph opens again.

If a disk fills up while Neo4j writes, an entry of its transaction log is written only in part, and
the database stops. If such a server is then asked to stop while there is room again, it writes what
is left in its buffers behind that entry. From then on Neo4j refuses to open the database, although
every committed transaction is complete: they are in the log before that entry. In trials on a small
disk (2026.08.1) the log was unreadable after four of five orderly stops and after none of nine
kills, so a server whose database has stopped is killed (`PrivateServer._stop`). This module is for
logs that became unreadable all the same, for example by a shutdown of the machine.

Preallocated logs (`db.tx_log.preallocate`) do not prevent it: one of two trials was unreadable.
"""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

from fabula.server.disk_space import check_disk_space
from fabula.server.state import SCRATCH, Home

TOLERANT = {"internal.dbms.tx_log.fail_on_corrupted_log_files": "false"}
"""The setting by which Neo4j recovers what it can read of a log, and cuts off the rest."""
HEAP = "4g"
"""The heap for a repair. A damaged entry may claim a length of up to 2 GB, and Neo4j allocates as
much to read it: with a heap of 512 MB it ran out of memory. Only what is used takes memory."""
FAILED = b"Failed to start DatabaseId"
LOG_READER = b"org.neo4j.kernel.impl.transaction.log."
"""The message and the code in Neo4j's log when a transaction log can't be read."""
MAX_COPIES = 3
"""How many copies of logs are kept; older ones are deleted."""
LOGS = Path("data", "transactions")
"""Where transaction logs are, from Neo4j's home."""


def is_log_unreadable(home: Home, since: int) -> bool:
    """Return whether the last start failed at reading a transaction log.

    Args:
        home: The private server's folder.
        since: How many bytes Neo4j's log had before that start.
    """
    try:
        with home.debug_log.open("rb") as stream:
            if home.debug_log.stat().st_size >= since:  # else it was rotated meanwhile
                stream.seek(since)
            # One line for each record, with the stack trace in it.
            return any(FAILED in line and LOG_READER in line for line in stream)
    except OSError:
        return False


def measure_log(home: Home) -> int:
    """Return how many bytes Neo4j's log has now."""
    try:
        return home.debug_log.stat().st_size
    except OSError:
        return 0


def set_logs_aside(home: Home) -> Path:
    """Copy the transaction logs into a folder of their own, and return it; old copies go.

    Raises:
        ServerError: There is no room for the copy.
    """
    logs = home.neo4j / LOGS
    check_disk_space(
        home.path, sum(file.stat().st_size for file in logs.rglob("*") if file.is_file())
    )
    copy = home.torn_logs / f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}"
    home.torn_logs.mkdir(mode=0o700, exist_ok=True)
    shutil.copytree(logs, copy)
    for old in sorted(home.torn_logs.iterdir())[:-MAX_COPIES]:
        shutil.rmtree(old, ignore_errors=True)
    return copy


def put_logs_back(home: Home, copy: Path) -> None:
    """Undo what a repair did to the transaction logs, and delete the copy."""
    spoiled = home.path / f"{SCRATCH}{copy.name}"
    (home.neo4j / LOGS).rename(spoiled)
    copy.rename(home.neo4j / LOGS)
    shutil.rmtree(spoiled, ignore_errors=True)
