"""List folders and open files; only ordinary files are opened."""

from __future__ import annotations

import io
import itertools
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path

from fabula.errors import LoadError

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys: line ends, escapes, and changes of the writing direction."""

_MEDIA = (
    ".avif .bmp .css .gif .jpeg .jpg .js .m4a .mp3 .mp4 .ogg .otf .png .svg .tif .tiff .ttf .wav"
    " .webp .woff .woff2"
)
MEDIA_SUFFIXES = frozenset(_MEDIA.split())
"""The suffixes of files of an EPUB that have no text."""


def printable(path: str | Path) -> str:
    r"""Return a path as one line of text: bytes that are not UTF-8 become \xff, a newline \n."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], name)


HIDDEN = (".", "~$")
"""The beginnings of the names of hidden files, and of what Word keeps beside an open document."""


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


def is_epub_folder(path: Path) -> bool:
    """Return whether a folder is an unpacked EPUB, as a reading program of macOS keeps it."""
    if path.joinpath("META-INF", "container.xml").is_file():
        return True
    is_called_epub = path.suffix.lower() == ".epub" and path.is_dir()
    return is_called_epub and any(itertools.chain(path.glob("*.opf"), path.glob("*/*.opf")))


def read_epub_folder(folder: Path, name: str, max_bytes: int) -> bytes:
    """Return an unpacked EPUB as a zip; pictures, sounds, fonts and hidden files are left out.

    Raises:
        LoadError: The folder or a file in it can't be read, or all are larger than `max_bytes`.
    """
    packed = io.BytesIO()
    size = 0
    with zipfile.ZipFile(packed, "w") as archive:
        for file in walk_files(folder):
            # A link may lead out of the book.
            if file.suffix.lower() in MEDIA_SUFFIXES or file.is_symlink() or not file.is_file():
                continue
            data = read_file(file, printable(file), max_bytes)
            size += len(data)
            if size > max_bytes:
                raise too_large(name, size, max_bytes)
            archive.writestr(file.relative_to(folder).as_posix(), data)
    return packed.getvalue()


def walk_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, sorted, before those of its subfolders; none is hidden.

    A folder that is an unpacked EPUB is yielded itself, and not its files.
    """
    for root, folders, files in os.walk(folder, onerror=partial(_raise_unreadable, folder)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        books = [name for name in folders if is_epub_folder(Path(root, name))]
        folders[:] = [name for name in folders if name not in books]
        for name in books:
            yield Path(root, name)
        for name in sorted(files):
            if not name.startswith(HIDDEN):
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
