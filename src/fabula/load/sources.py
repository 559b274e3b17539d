"""Find the documents at sources: files, folders, zips, URLs and standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from fabula.errors import LoadError
from fabula.load import (
    FileContent,
    find,
    find_in_zip,
    in_zip,
    is_zip,
    open_document,
    open_in_zip,
    printable,
    readable_suffixes,
    real_path,
    recognise_content,
    too_large,
)
from fabula.load.files import walk_files
from fabula.load.folders import sort_folder
from fabula.load.source import DocumentSource

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "standard input"
"""The source of a text from standard input, unless it is given another name."""


class Sources(NamedTuple):
    """The documents that can be read, and the other files in the same folders and zips.

    Attributes:
        read: The documents.
        skipped: The names of the other files, each with the reason; '' where no reader knows it.
    """

    read: list[DocumentSource]
    skipped: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Options:
    """How sources are read: the collection, the largest file, and whether URLs are fetched."""

    collection: str
    max_bytes: int
    name: str
    fetch: bool
    as_one: bool


def find_sources(
    paths: Sequence[str | Path],
    collection: str,
    max_file_mb: int,
    *,
    name: str = "",
    fetch: bool = True,
    as_one: bool = False,
) -> Sources:
    """Return the documents at paths, each once, even if it is named several times.

    A path that can't be used becomes a source whose reading raises the error, so that the other
    paths are still read.

    Args:
        paths: Files, folders, zips, `https://` URLs, and `-` for standard input.
        collection: The documents' collection.
        max_file_mb: The largest file, in megabytes.
        name: The source of a text from standard input.
        fetch: Whether URLs are fetched.
        as_one: Whether the files of a folder are the parts of one document.

    Raises:
        TypeError: A path is not a path, as a list of paths.
    """
    max_bytes = max_file_mb * 1_000_000
    options = _Options(collection, max_bytes, name or STANDARD_INPUT_NAME, fetch, as_one)
    by_place: dict[str, DocumentSource] = {}
    skipped: dict[str, str] = {}
    if wrong := [path for path in paths if not isinstance(path, (str, os.PathLike))]:
        raise TypeError(
            f"A source is a path or a URL, not a {type(wrong[0]).__name__}. Give several sources "
            "as several arguments, as `ingest(*paths)`."
        )
    for path in paths:
        read, others = _find(path, options)
        for place, source in read.items():
            by_place.setdefault(place, source)
        skipped |= others
    return Sources(list(by_place.values()), skipped)


def find_gone(paths: Sequence[str | Path], documents: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the documents of folders whose files have gone, by their sources, with what to do.

    Args:
        paths: What is read.
        documents: The id and the source of each document that there is.
    """
    folders = [Path(path) for path in paths if path and Path(path).is_dir()]
    inside = tuple(f"{real_path(folder)}{os.sep}" for folder in folders)
    # Compared as they are written: a source need not be a path, as it has no control characters.
    there = {real_path(file) for folder in folders for file in walk_files(folder)}
    return {
        source: f"has gone, and its document is still here: `fabula remove {identifier}`"
        for identifier, source in documents
        if source.startswith(inside)
        and there.isdisjoint((source, *map(str, Path(source).parents)))
        and not Path(source).exists()
    }


def _find(path: str | Path, options: _Options) -> tuple[dict[str, DocumentSource], dict[str, str]]:
    """The documents at a path, by their real paths, and the names of files that can't be read."""
    name = printable(path)
    try:
        if not name:
            raise LoadError("An empty name is not a file: give a file or a folder.")
        if name == STANDARD_INPUT:
            return _read_input(options), {}
        if "://" in name:
            return _address(name, options), {}
        files, others = find([Path(path)])
    except LoadError as error:
        return _failure(name, error), {}
    by_place: dict[str, DocumentSource] = {}
    skipped = dict.fromkeys(map(printable, others), "")
    if Path(path).is_dir() and files != [Path(path)]:
        books = sort_folder(Path(path), files, options.max_bytes, as_one=options.as_one)
        files = books.files
        skipped |= {printable(file): why for file, why in books.left_out.items()}
        for book in books.manuscripts:
            content = partial(book.open, options.collection, options.max_bytes)
            by_place[real_path(book.folder)] = DocumentSource.of_file(
                printable(book.folder), content
            )
    if not files and not by_place:
        nothing = LoadError(f"{name} has no file that Fabula reads: {readable_suffixes()}.")
        return _failure(name, nothing), skipped
    for file in files:
        if is_zip(file):
            packed, beside = _books(file, options)
            by_place |= packed
            skipped |= dict.fromkeys(beside, "")
        else:
            content = partial(open_document, file, options.collection, options.max_bytes)
            by_place[os.path.realpath(file)] = DocumentSource.of_file(printable(file), content)
    return by_place, skipped


def _books(file: Path, options: _Options) -> tuple[dict[str, DocumentSource], list[str]]:
    """The books in a zip, and the names of its other files."""
    name = printable(file)
    try:
        books, others = find_in_zip(file)
    except LoadError as error:
        return _failure(name, error), []
    return {
        in_zip(real_path(file), book): DocumentSource.of_file(
            in_zip(name, book),
            partial(open_in_zip, file, book, options.collection, options.max_bytes),
        )
        for book in books
    }, [in_zip(name, other) for other in others]


def _address(name: str, options: _Options) -> dict[str, DocumentSource]:
    """The document at a URL, which is fetched when it is read."""
    if not options.fetch:
        raise LoadError(
            f"{name} is not fetched: addresses are turned off (FABULA_FETCH). Give a file instead."
        )
    # If URLs are not fetched, not even the code that could do it is imported.
    from fabula.load.web import address, fetch

    url = address(name)

    def content() -> FileContent:
        data = fetch(url, options.max_bytes)
        return recognise_content(data, url, options.collection, options.max_bytes)

    return {url: DocumentSource.of_file(url, content)}


def _read_input(options: _Options) -> dict[str, DocumentSource]:
    """The document on standard input; it is read here, as Ctrl-C can't end a thread that waits."""
    data = sys.stdin.buffer.read(options.max_bytes + 1)
    if len(data) > options.max_bytes:
        raise too_large(options.name, len(data), options.max_bytes)
    content = partial(recognise_content, data, options.name, options.collection, options.max_bytes)
    return {STANDARD_INPUT: DocumentSource.of_file(options.name, content)}


def _failure(name: str, error: LoadError) -> dict[str, DocumentSource]:
    return {name: DocumentSource(name, partial(_raise, error))}


def _raise(error: LoadError) -> NoReturn:
    raise error
