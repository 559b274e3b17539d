"""Check for disk space, and explain why a file can't be written."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from fabula.errors import ServerError

FULL_DISK_CODES = (errno.ENOSPC, errno.EDQUOT)


def check_disk_space(folder: Path, needed: int) -> None:
    """Raise ServerError if the disk of a folder has fewer than `needed` bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ServerError(
            f"The disk of {folder} is full: the private Neo4j needs {needed / 1e6:,.0f} MB there "
            f"and {free / 1e6:,.0f} MB are free. Make room, or choose another folder with "
            "FABULA_HOME."
        )


def write_error(error: OSError, path: Path) -> ServerError:
    """Return an error for a path that couldn't be written."""
    if error.errno in FULL_DISK_CODES:
        return ServerError(f"The disk of {path} is full. Make room and try again: it continues.")
    if isinstance(error, IsADirectoryError):
        return ServerError(
            f"{error.filename or path} is a folder where Fabula needs a file: move it away, or "
            " choose another folder with FABULA_HOME."
        )
    return ServerError(
        f"{error.filename or path} can't be written: {error.strerror or error}. Make it writable, "
        "or choose another folder with FABULA_HOME."
    )
