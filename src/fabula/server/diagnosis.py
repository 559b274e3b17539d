"""Find out why a server ended while it started, from what it printed, and what to do."""

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
    """Another program took one of the server's ports first."""


def diagnose(home: Home) -> ServerError:
    """Return an error that says why a server ended while it started, and what to do."""
    output = _read_output(home)
    if LOCKED in output:
        return ServerError(
            f"Another server has the data in {home.neo4j / 'data'} open, perhaps on another "
            "machine. Stop that one, or choose another folder with FABULA_HOME."
        )
    if any(words in output for words in PORT_TAKEN):
        return PortTaken(
            "Other programs took the ports of the private Neo4j while it started. Try again."
        )
    if DISK_FULL in output:
        return ServerError(f"The disk of {home.path} is full. Make room and start again.")
    if any(words in output for words in MEMORY):
        return ServerError(
            "The private Neo4j got too little memory, or more than there is: "
            f"{_find_error(output)} Set FABULA_NEO4J_HEAP and FABULA_NEO4J_PAGE_CACHE."
        )
    return ServerError(
        f"The private Neo4j stopped while it started: {_find_error(output)} Its whole "
        f"output is in {home.console}."
    )


def _read_output(home: Home) -> str:
    """Return the end of what the server has printed since its start."""
    try:
        return home.console.read_text(encoding="utf-8", errors="replace")[-MAX_LOG_CHARACTERS:]
    except OSError:
        return ""


def _find_error(output: str) -> str:
    """Return the last line that names an error, or else the last line, with a full stop."""
    lines = [re.sub(STAMP, "", line).strip() for line in output.splitlines()]
    lines = [line for line in lines if line and not line.startswith(NOISE)]
    if not lines:
        return "it printed nothing."
    errors = [line for line in lines if re.search(ERROR, line)]
    return (errors or lines)[-1].removeprefix("Caused by: ")[:300].rstrip(". ") + "."
