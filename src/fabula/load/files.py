"""List folders and open files; only ordinary files are opened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path

from fabula.errors import LoadError

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys: line ends, escapes, and changes of the writing direction."""


def printable(path: str | Path) -> str:
    r"""Return a path as one line of text: bytes that are not UTF-8 become \xff, a newline \n."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], name)


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder. Raises LoadError if it does not exist."""
    try:
        if not path.exists():
            raise LoadError(
                f"{printable(path)} doesn't exist: check the spelling and the folder you are in."
            )
        return path.is_dir()
    except OSError as error:
        raise LoadError(f"{printable(path)} can't be reached: {error.strerror}.") from error


def walk_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, sorted, before those of its subfolders; none is hidden."""
    for root, folders, files in os.walk(folder, onerror=partial(_raise_unreadable, folder)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(root, name)


def _raise_unreadable(folder: Path, error: OSError) -> None:
    name = printable(error.filename or folder)
    raise LoadError(f"{name} can't be searched: {error.strerror}.") from error


@contextmanager
def open_file(path: Path, name: str) -> Iterator[BufferedReader]:
    """Open an ordinary file. Raises LoadError, with its `name`, if it is none or can't be read."""
    try:
        if path.is_dir():
            raise LoadError(f"{name} is a folder: give its files, or ingest the whole folder.")
        if not path.is_file():
            reason = "is not an ordinary file" if path.exists() else "doesn't exist"
            raise LoadError(f"{name} {reason}: give a file with text in it.")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        hint = "" if error.strerror is None else f": {error.strerror.lower()}"
        raise LoadError(f"{name} can't be read{hint}; check the file's permissions.") from error


def read_file(path: Path, name: str, max_bytes: int) -> bytes:
    """Return a file's content. Raises LoadError, with its `name`, if that fails."""
    with open_file(path, name) as file:
        data = file.read(max_bytes + 1)
        if (size := max(len(data), os.fstat(file.fileno()).st_size)) > max_bytes:
            raise too_large(name, size, max_bytes)
    return data


def too_large(name: str, size: int, max_bytes: int) -> LoadError:
    """Return the error for a file that is larger than the setting allows."""
    return LoadError(
        f"{name} has {size / 1e6:,.1f} MB and the limit is {max_bytes / 1e6:,.1f} MB: "
        "split it, or raise max_file_mb (FABULA_MAX_FILE_MB)."
    )
