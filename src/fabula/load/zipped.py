"""A zip of books: which files are in it, and what one of them holds.

The zip itself is read here, in no box: its list is bounded, nothing of it is written anywhere,
and what is unpacked goes to a reader as any file does.
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

SUFFIX = ".zip"
_MOST_LISTED = 2_000_000
"""Bytes of the list of files: some twenty thousand names."""
_PACKED = {
    "META-INF/container.xml": ".epub",
    "word/document.xml": ".docx",
    "content.xml": ".odt",
}
"""By what is in them: the zips that are one book."""


class _Bounded(io.BufferedReader):
    """A file of which no more is read at once than a list may have."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _MOST_LISTED:
            raise OSError("it lists more files than Fabula reads")
        return super().read(size)


def files(path: Path, name: str) -> list[str]:
    """The files in a zip, sorted; hidden ones are left out.

    LoadError, calling it `name`, if it is broken, is one book, or unpacks to too much.
    """
    with _open(path, name) as archive:
        if kind := packed(archive.sizes):
            raise LoadError(f"{name} is one book, and no zip of several: name it {kind}.")
        archive.check()
        return sorted(one for one in archive.sizes if not _is_hidden(one))


def unpack(path: Path, entry: str, name: str, most: int) -> bytes:
    """What a file in a zip holds. LoadError, calling it `name`, if it can't be unpacked."""
    with _open(path, name) as archive:
        if (size := archive.sizes.get(entry, 0)) > most:
            raise too_large(name, size, most)
        return archive.read(entry)


def packed(names: Container[str]) -> str:
    """The suffix of the one book that a zip of these files is; '' if it is none."""
    return next((suffix for name, suffix in _PACKED.items() if name in names), "")


@contextmanager
def _open(path: Path, name: str) -> Iterator[Archive]:
    with open_file(path, name) as file, _Bounded(file.raw) as bounded:
        yield Archive(bounded, name, sys.maxsize, "zip")


def _is_hidden(name: str) -> bool:
    """Whether it is, as in a folder; `__MACOSX` is what one system adds to its zips."""
    parts = (part for part in PurePosixPath(name).parts if part != "..")
    return any(part.startswith((".", "__MACOSX")) for part in parts)
