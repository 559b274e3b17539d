"""Zips of several books: list their files, and unpack one of them.

A zip is opened here and not in the sandbox: the size of its list is limited, nothing of it is
written to the disk, and the unpacked files go to the sandbox as others do.
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from fabula.errors import LoadError
from fabula.load.archive import Archive
from fabula.load.files import HIDDEN, MEDIA_SUFFIXES, open_file, too_large

_MAX_LIST_BYTES = 2_000_000
"""The size of the largest list of files: about twenty thousand names."""
_CONTAINER = "META-INF/container.xml"
_BOOK_FILES = {
    _CONTAINER: ".epub",
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
        files = [file for file in archive.sizes if not _is_hidden(file)]
        folders = _epub_folders(files)
        outside = (file for file in files if not file.startswith(tuple(folders.values())))
        return sorted([*outside, *folders])


def unpack(path: Path, entry: str, name: str, max_bytes: int) -> bytes:
    """Return the content of a file in a zip. Raises LoadError, with its `name`, if that fails."""
    with _open_zip(path, name) as archive:
        if entry not in archive.sizes and (folder := _epub_folders(archive.sizes).get(entry)):
            return _pack_folder(archive, folder, name, max_bytes)
        if (size := archive.sizes.get(entry, 0)) > max_bytes:
            raise too_large(name, size, max_bytes)
        return archive.read(entry)


def _epub_folders(files: Iterable[str]) -> dict[str, str]:
    """The folders of a zip that are unpacked EPUBs, by the names that they get as books."""
    folders = sorted(
        file.removesuffix(_CONTAINER)
        for file in files
        if file.endswith(f"/{_CONTAINER}") and not _is_hidden(file)
    )
    return {
        folder.rstrip("/") if folder.lower().endswith(".epub/") else f"{folder[:-1]}.epub": folder
        for folder in folders
    }


def _pack_folder(archive: Archive, folder: str, name: str, max_bytes: int) -> bytes:
    """An unpacked EPUB in a zip as a zip of its own, without pictures, sounds and fonts."""
    names = [
        file
        for file in archive.sizes
        if file.startswith(folder) and PurePosixPath(file).suffix.lower() not in MEDIA_SUFFIXES
    ]
    if (size := sum(archive.sizes[file] for file in names)) > max_bytes:
        raise too_large(name, size, max_bytes)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as book:
        for file in names:
            book.writestr(file.removeprefix(folder), archive.read(file))
    return packed.getvalue()


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
    return any(part.startswith((*HIDDEN, "__MACOSX")) for part in parts)
