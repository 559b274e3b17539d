"""Read files into documents, by one reader for each format.

The format is that of the file's suffix, or else it is recognised by the content. The readers and
the sandbox are imported when the first file is read: a question needs none of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from fabula.errors import LoadError
from fabula.load.content import FileContent
from fabula.load.files import (
    is_epub_folder,
    is_folder,
    printable,
    read_epub_folder,
    read_file,
    too_large,
    walk_files,
)
from fabula.load.readers import READERS

if TYPE_CHECKING:
    from fabula.text.document import Document

__all__ = [
    "SUFFIXES",
    "FileContent",
    "FoundFiles",
    "find",
    "find_in_zip",
    "in_zip",
    "is_zip",
    "load",
    "open_document",
    "open_in_zip",
    "open_stored",
    "printable",
    "read_text",
    "readable_suffixes",
    "real_path",
    "recognise_content",
    "too_large",
]

SUFFIXES = tuple(READERS)
"""The suffixes of files that can be read as documents."""
ZIP_SUFFIX = ".zip"


class FoundFiles(NamedTuple):
    """Files that can be read, including zips of books, and the other files beside them."""

    files: list[Path]
    others: list[Path]


def find(paths: Iterable[Path]) -> FoundFiles:
    """Return the given files, and the files in the given folders in sorted order, none twice.

    Hidden files and folders are skipped. A folder that is an unpacked EPUB counts as a file.

    Raises:
        LoadError: A path does not exist.
    """
    files: dict[Path, None] = {}
    others: dict[Path, None] = {}
    for path in paths:
        if not is_folder(path) or is_epub_folder(path):
            files.setdefault(path)
            continue
        for file in walk_files(path):
            (files if _is_readable(file) else others).setdefault(file)
    return FoundFiles(list(files), list(others))


def find_in_zip(path: Path, name: str = "") -> tuple[list[str], list[str]]:
    """Return the names of the books in a zip, and those of its other files.

    Args:
        path: The zip.
        name: What messages call it; its path by default.

    Raises:
        LoadError: The zip is damaged, has no books, or would unpack to too much.
    """
    from fabula.load import zips

    name = name or printable(path)
    names = zips.list_files(path, name)
    books = [name for name in names if _is_book(name)]
    if not books:
        raise LoadError(f"{name} holds no file that Fabula reads: {readable_suffixes()}.")
    return books, [name for name in names if not _is_book(name)]


def readable_suffixes() -> str:
    """Return all suffixes that can be read, for a message."""
    return ", ".join((*SUFFIXES, ZIP_SUFFIX))


def load(path: Path, collection: str, max_bytes: int) -> Document:
    """Return the document in a file, or in the folder of an unpacked EPUB.

    Raises:
        LoadError: The file can't be read as a document; the message names it.
    """
    return open_document(path, collection, max_bytes).parse()


def open_document(path: Path, collection: str, max_bytes: int) -> FileContent:
    """Return the content of a file, or of the folder of an unpacked EPUB; see `load`."""
    from fabula.load.formats import format_of

    name = printable(path)
    if is_epub_folder(path):
        data = read_epub_folder(path, name, max_bytes)
        return FileContent(data, ".epub", name, real_path(path), collection, max_bytes)
    suffix = format_of(name)
    data = read_file(path, name, max_bytes)
    return FileContent(data, suffix, name, real_path(path), collection, max_bytes)


def open_in_zip(path: Path, book: str, collection: str, max_bytes: int) -> FileContent:
    """Return the content of a file of a zip.

    Raises:
        LoadError: The file can't be read as a document; the message names both.
    """
    from fabula.load import zips
    from fabula.load.formats import format_of

    name = in_zip(printable(path), book)
    suffix = format_of(name)
    data = zips.unpack(path, book, name, max_bytes)
    return FileContent(data, suffix, name, in_zip(real_path(path), book), collection, max_bytes)


def open_stored(path: Path, book: str, source: str, collection: str, max_bytes: int) -> FileContent:
    """Return the content of a file that is stored under a name of our own, as uploads are.

    Args:
        path: The stored file.
        book: If it is a zip, the file in it; otherwise ''.
        source: The document's source, which is also what messages call it.
        collection: The document's collection.
        max_bytes: The largest file.

    Raises:
        LoadError: The file can't be read, or its format is not recognised.
    """
    if book:
        from fabula.load import zips

        data = zips.unpack(path, book, source, max_bytes)
    else:
        data = read_file(path, source, max_bytes)
    return recognise_content(data, source, collection, max_bytes)


def recognise_content(data: bytes, source: str, collection: str, max_bytes: int) -> FileContent:
    """Return a file's content together with its format, which is recognised.

    Raises:
        LoadError: Its format is not recognised.
    """
    from fabula.load.formats import recognise

    return FileContent(data, recognise(data, source), source, source, collection, max_bytes)


def read_text(
    text: str,
    *,
    source: str,
    collection: str,
    title: str = "",
    author: str = "",
    language: str = "",
) -> Document:
    """Return a text as a document.

    Title, author and language are taken from the text where they are ''.

    Raises:
        LoadError: The text has no words.
    """
    from fabula.load.document import document
    from fabula.load.text import plain

    draft = plain(text)
    draft = replace(
        draft,
        title=title or draft.title,
        author=author or draft.author,
        language=language or draft.language,
    )
    return document(draft, source, collection)


def real_path(path: Path) -> str:
    """Return the source of a file's document: its absolute path without symbolic links."""
    return printable(os.path.realpath(path))


def in_zip(zip_path: str, book: str) -> str:
    """Return the source of a file in a zip, as `books.zip/novel.epub`."""
    return f"{zip_path}/{printable(book)}"


def is_zip(file: Path) -> bool:
    """Return whether a file has the suffix of a zip."""
    return file.suffix.lower() == ZIP_SUFFIX


def _is_readable(file: Path) -> bool:
    return file.suffix.lower() in READERS or is_zip(file) or is_epub_folder(file)


def _is_book(name: str) -> bool:
    """Whether a file in a zip can be read; a path that leads out of the zip can not."""
    path = PurePath(name)
    return path.suffix.lower() in READERS and ".." not in path.parts and not path.is_absolute()
