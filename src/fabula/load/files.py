"""Files and folders: what is there to read, opened only where it is an ordinary file."""

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
"""What a terminal obeys: line ends, escapes, and turns of the writing's direction."""


def printable(path: str | Path) -> str:
    r"""A path as text of one line: bytes that are no UTF-8 become \xff, and a newline \n."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], name)


def is_folder(path: Path) -> bool:
    """Whether it is one. LoadError for a path that isn't there."""
    try:
        if not path.exists():
            raise LoadError(
                f"{printable(path)} doesn't exist: check the spelling and the folder you are in."
            )
        return path.is_dir()
    except OSError as error:
        raise LoadError(f"{printable(path)} can't be reached: {error.strerror}.") from error


def within(folder: Path) -> Iterator[Path]:
    """Files below a folder in sorted order, each folder's before its subfolders'; none hidden."""
    for place, folders, files in os.walk(folder, onerror=partial(_unreadable, folder)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(place, name)


def _unreadable(folder: Path, error: OSError) -> None:
    place = printable(error.filename or folder)
    raise LoadError(f"{place} can't be searched: {error.strerror}.") from error


@contextmanager
def open_file(path: Path, name: str) -> Iterator[BufferedReader]:
    """An ordinary file, opened. LoadError, calling it `name`, if it is none or can't be read."""
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


def read_file(path: Path, name: str, most: int) -> bytes:
    """What a file holds. LoadError, calling it `name`, if it can't be read or is over `most`."""
    with open_file(path, name) as file:
        data = file.read(most + 1)
        if (size := max(len(data), os.fstat(file.fileno()).st_size)) > most:
            raise too_large(name, size, most)
    return data


def too_large(name: str, size: int, most: int) -> LoadError:
    """What is said of a file that is larger than the setting allows."""
    return LoadError(
        f"{name} has {size / 1e6:,.1f} MB and the limit is {most / 1e6:,.1f} MB: "
        "split it, or raise max_file_mb (FABULA_MAX_FILE_MB)."
    )
