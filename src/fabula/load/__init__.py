"""Files into documents: one reader a format, chosen by the file's suffix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.errors import LoadError
from fabula.load import box
from fabula.load.draft import document
from fabula.load.readers import PLAIN, READERS
from fabula.load.text import plain

if TYPE_CHECKING:
    from fabula.model import Document

__all__ = ["SUFFIXES", "find_files", "load", "printable", "read_text"]

SUFFIXES = tuple(READERS)
"""What can be read."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys: line ends, escapes, and turns of the writing's direction."""
_UNPACKED = 4
"""A compressed book may unpack to this many times the largest file."""
_READ_HERE = 1_000_000
"""Plain text of so many bytes needs no box: whatever is in it, it is read within seconds."""


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Files as given, then what can be read in the folders given, in sorted order; none twice.

    Hidden files and folders are skipped. LoadError for a path that isn't there.
    """
    found: dict[Path, None] = {}
    for path in paths:
        for file in _within(path) if _is_folder(path) else [path]:
            found.setdefault(file)
    return list(found)


def load(path: Path, collection: str, max_bytes: int) -> Document:
    """The document in a file; LoadError, naming the file, if it can't become one."""
    name = printable(path)
    suffix = path.suffix.lower()
    if suffix not in READERS:
        known = ", ".join(SUFFIXES)
        raise LoadError(f"{name} has no suffix that can be read; {known} can.")
    data = _content(path, name, max_bytes)
    unpacked = _UNPACKED * max_bytes
    if suffix in PLAIN and len(data) <= _READ_HERE:
        draft = READERS[suffix](data, name, unpacked)
    else:
        draft = box.read(data, suffix, name, max_bytes, unpacked)
    return document(draft, printable(os.path.realpath(path)), collection)


def printable(path: str | Path) -> str:
    r"""A path as text of one line: bytes that are no UTF-8 become \xff, and a newline \n."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], name)


def read_text(
    text: str,
    *,
    source: str,
    collection: str,
    title: str = "",
    author: str = "",
    language: str = "",
) -> Document:
    """A text that a program has, as a document; what is '' is taken from the text where it can.

    LoadError if it holds no words.
    """
    draft = plain(text)
    given = replace(
        draft,
        title=title or draft.title,
        author=author or draft.author,
        language=language or draft.language,
    )
    return document(given, source, collection)


def _is_folder(path: Path) -> bool:
    try:
        if not path.exists():
            raise LoadError(
                f"{printable(path)} doesn't exist: check the spelling and the folder you are in."
            )
        return path.is_dir()
    except OSError as error:
        raise LoadError(f"{printable(path)} can't be reached: {error.strerror}.") from error


def _within(folder: Path) -> Iterator[Path]:
    """Files below a folder whose suffix is known, each folder's before its subfolders'."""
    for place, folders, files in os.walk(folder, onerror=partial(_unreadable, folder)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and Path(name).suffix.lower() in READERS:
                yield Path(place, name)


def _unreadable(folder: Path, error: OSError) -> None:
    place = printable(error.filename or folder)
    raise LoadError(f"{place} can't be searched: {error.strerror}.") from error


def _content(path: Path, name: str, max_bytes: int) -> bytes:
    try:
        if path.is_dir():
            raise LoadError(f"{name} is a folder: give its files, or ingest the whole folder.")
        if not path.is_file():
            reason = "is not an ordinary file" if path.exists() else "doesn't exist"
            raise LoadError(f"{name} {reason}: give a file with text in it.")
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
            size = max(len(data), os.fstat(file.fileno()).st_size)
    except OSError as error:
        hint = "" if error.strerror is None else f": {error.strerror.lower()}"
        raise LoadError(f"{name} can't be read{hint}; check the file's permissions.") from error
    if size > max_bytes:
        raise LoadError(
            f"{name} has {size / 1e6:,.1f} MB and the limit is {max_bytes / 1e6:,.1f} MB: "
            "split it, or raise max_file_mb (FABULA_MAX_FILE_MB)."
        )
    return data
