"""Files into documents: one reader a format, chosen by the file's suffix, else by its content."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from fabula.errors import LoadError
from fabula.load import box, zipped
from fabula.load.document import document
from fabula.load.files import is_folder, printable, read_file, too_large, within
from fabula.load.formats import format_of, recognise
from fabula.load.readers import PLAIN, READERS
from fabula.load.text import plain

if TYPE_CHECKING:
    from fabula.text.document import Document

__all__ = [
    "SUFFIXES",
    "Found",
    "find",
    "find_files",
    "find_in_zip",
    "in_zip",
    "is_zip",
    "known",
    "load",
    "load_content",
    "load_from_zip",
    "load_kept",
    "printable",
    "read_text",
    "source_of",
    "too_large",
]

SUFFIXES = tuple(READERS)
"""What can be read as a document."""

_UNPACKED = 4
"""A compressed book may unpack to this many times the largest file."""
_READ_HERE = 1_000_000
"""Plain text of so many bytes needs no box: whatever is in it, it is read within seconds."""


class Found(NamedTuple):
    """Files that can be read, zips of books among them, and those that lie beside them."""

    files: list[Path]
    others: list[Path]


def find(paths: Iterable[Path]) -> Found:
    """Files as given, then what is in the folders given, in sorted order; none twice.

    Hidden files and folders are skipped. LoadError for a path that isn't there.
    """
    files: dict[Path, None] = {}
    others: dict[Path, None] = {}
    for path in paths:
        if not is_folder(path):
            files.setdefault(path)
            continue
        for file in within(path):
            (files if _is_readable(file) else others).setdefault(file)
    return Found(list(files), list(others))


def find_files(paths: Iterable[Path]) -> list[Path]:
    """The files of `find` that can be read."""
    return find(paths).files


def find_in_zip(path: Path, called: str = "") -> tuple[list[str], list[str]]:
    """The books in a zip, by their names in it, and what else it holds.

    LoadError, calling it by its path or as it is `called`, if it is broken, holds no books, or
    would unpack to too much.
    """
    called = called or printable(path)
    names = zipped.files(path, called)
    books = [name for name in names if _is_book(name)]
    if not books:
        raise LoadError(f"{called} holds no file that Fabula reads: {known()}.")
    return books, [name for name in names if not _is_book(name)]


def known() -> str:
    """What can be read, for a message."""
    return ", ".join((*SUFFIXES, zipped.SUFFIX))


def load(path: Path, collection: str, max_bytes: int) -> Document:
    """The document in a file; LoadError, naming the file, if it can't become one."""
    name = printable(path)
    suffix = format_of(name)
    data = read_file(path, name, max_bytes)
    return _read(data, suffix, name, source_of(path), collection, max_bytes)


def load_from_zip(path: Path, book: str, collection: str, max_bytes: int) -> Document:
    """The document in a file of a zip; LoadError, naming both, if it can't become one."""
    name = in_zip(printable(path), book)
    suffix = format_of(name)
    data = zipped.unpack(path, book, name, max_bytes)
    return _read(data, suffix, name, in_zip(source_of(path), book), collection, max_bytes)


def load_kept(path: Path, book: str, source: str, collection: str, max_bytes: int) -> Document:
    """The document in a file that is kept under a name of our own, or in a `book` of such a zip.

    It is known by its `source` alone, which LoadError calls it.
    """
    if book:
        data = zipped.unpack(path, book, source, max_bytes)
    else:
        data = read_file(path, source, max_bytes)
    return load_content(data, source, collection, max_bytes)


def load_content(data: bytes, source: str, collection: str, max_bytes: int) -> Document:
    """The document in a file's content, whose format is recognised; LoadError if it is none."""
    return _read(data, recognise(data, source), source, source, collection, max_bytes)


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


def source_of(path: Path) -> str:
    """What a file's document is known by: where the file really is."""
    return printable(os.path.realpath(path))


def in_zip(place: str, book: str) -> str:
    """A file in a zip, as `books.zip/novel.epub`."""
    return f"{place}/{printable(book)}"


def _read(
    data: bytes, suffix: str, name: str, source: str, collection: str, max_bytes: int
) -> Document:
    unpacked = _UNPACKED * max_bytes
    if suffix in PLAIN and len(data) <= _READ_HERE:
        draft = READERS[suffix](data, name, unpacked)
    else:
        draft = box.read(data, suffix, name, max_bytes, unpacked)
    return document(draft, source, collection)


def is_zip(file: Path) -> bool:
    """Whether a file is named as a zip."""
    return file.suffix.lower() == zipped.SUFFIX


def _is_readable(file: Path) -> bool:
    return file.suffix.lower() in READERS or is_zip(file)


def _is_book(name: str) -> bool:
    """Whether a file in a zip can be read; a path that leads out of it would be no name for one."""
    path = PurePath(name)
    return path.suffix.lower() in READERS and ".." not in path.parts and not path.is_absolute()
