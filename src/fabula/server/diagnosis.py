"""Why a server died at its start: its log's last words, as one line of what to do."""

from __future__ import annotations

import re

from fabula.errors import ServerError
from fabula.server.state import Home

LOCKED = "FileLockException"
PORT_TAKEN = ("PortBindException", "Address already in use")
DISK_FULL = "No space left on device"
MEMORY = (
    "Invalid memory configuration",
    "Could not reserve enough space",
    "insufficient memory",
    "Invalid maximum heap size",
    "OutOfMemoryError",
    "Too small maximum heap",
)
STAMP = r"^\d{4}-\d\d-\d\d \S+ (INFO|WARN|ERROR)\s+"
ERROR = r"Exception|Error|[Ii]nvalid|Too small|Could not|[Ff]ailed|[Uu]nrecognized"
NOISE = ("at ", "... ", "Neo4j Server shutdown", "Stopped.", "Error occurred during init")
MAX_LOG_CHARACTERS = 60_000
"""How much of the end of a log is read."""


class PortTaken(ServerError):
    """Another program was faster on one of the server's ports."""


def diagnose(home: Home) -> ServerError:
    """What to tell of a server that ended while it started."""
    said = _last_words(home)
    if LOCKED in said:
        return ServerError(
            f"Another server has the data in {home.neo4j / 'data'} open, perhaps on another "
            "machine. Stop that one, or choose another folder with FABULA_HOME."
        )
    if any(words in said for words in PORT_TAKEN):
        return PortTaken(
            "Other programs took the ports of the private Neo4j while it started. Try again."
        )
    if DISK_FULL in said:
        return ServerError(f"The disk of {home.path} is full. Make room and start again.")
    if any(words in said for words in MEMORY):
        return ServerError(
            "The private Neo4j got too little memory, or more than there is: "
            f"{_meaningful(said)} Set FABULA_NEO4J_HEAP and FABULA_NEO4J_PAGE_CACHE."
        )
    return ServerError(
        f"The private Neo4j stopped while it started: {_meaningful(said)} All it said "
        f"is in {home.console}."
    )


def _last_words(home: Home) -> str:
    """What the server printed since its start."""
    try:
        return home.console.read_text(encoding="utf-8", errors="replace")[-MAX_LOG_CHARACTERS:]
    except OSError:
        return ""


def _meaningful(said: str) -> str:
    """The last line that names an error, or else the last line; ends with a full stop."""
    lines = [re.sub(STAMP, "", line).strip() for line in said.splitlines()]
    lines = [line for line in lines if line and not line.startswith(NOISE)]
    if not lines:
        return "it printed nothing."
    errors = [line for line in lines if re.search(ERROR, line)]
    return (errors or lines)[-1].removeprefix("Caused by: ")[:300].rstrip(". ") + "."
