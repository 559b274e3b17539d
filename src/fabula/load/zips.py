"""Zips of several books: list their files, and unpack one of them.

A zip is opened here and not in the sandbox: the size of its list is limited, nothing of it is
written to the disk, and the unpacked files go to the sandbox as others do.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from fabula.errors import LoadError
from fabula.load.archive import Archive
from fabula.load.files import open_file, too_large

_MAX_LIST_BYTES = 2_000_000
"""The size of the largest list of files: about twenty thousand names."""
_BOOK_FILES = {
    "META-INF/container.xml": ".epub",
    "word/document.xml": ".docx",
    "content.xml": ".odt",
}
"""Files by which one recognises zips that are a single book."""


class _Bounded(io.BufferedReader):
    """A file that refuses to read more at once than the largest list."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _MAX_LIST_BYTES:
            raise OSError("it lists more files than Fabula reads")
        return super().read(size)


def list_files(path: Path, name: str) -> list[str]:
    """Return the names of the files in a zip, sorted and without hidden ones.

    Raises:
        LoadError: The zip, called `name`, is broken, is a single book, or unpacks to too much.

    """
    with _open_zip(path, name) as archive:
        if kind := book_suffix(archive.sizes):
            raise LoadError(f"{name} is one book, and not a zip of several: rename it to {kind}.")
        archive.check()
        return sorted(file for file in archive.sizes if not _is_hidden(file))


def unpack(path: Path, entry: str, name: str, max_bytes: int) -> bytes:
    """Return the content of a file in a zip. Raises LoadError, with its `name`, if that fails."""
    with _open_zip(path, name) as archive:
        if (size := archive.sizes.get(entry, 0)) > max_bytes:
            raise too_large(name, size, max_bytes)
        return archive.read(entry)


def book_suffix(names: Container[str]) -> str:
    """Return the suffix of the single book that a zip with these files is; '' if it is not one."""
    return next((suffix for name, suffix in _BOOK_FILES.items() if name in names), "")


@contextmanager
def _open_zip(path: Path, name: str) -> Iterator[Archive]:
    with open_file(path, name) as file, _Bounded(file.raw) as bounded:
        yield Archive(bounded, name, sys.maxsize, "zip")


def _is_hidden(name: str) -> bool:
    """Whether a file is hidden, or added by macOS under `__MACOSX`."""
    parts = (part for part in PurePosixPath(name).parts if part != "..")
    return any(part.startswith((".", "__MACOSX")) for part in parts)
