"""What people name as sources of documents: files, folders, zips, addresses, standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from fabula.errors import LoadError
from fabula.load import (
    find,
    find_in_zip,
    in_zip,
    is_zip,
    known,
    load,
    load_content,
    load_from_zip,
    printable,
    source_of,
    too_large,
)
from fabula.load.source import Source

if TYPE_CHECKING:
    from fabula.text.document import Document

STANDARD_INPUT = "-"
READ = "standard input"
"""What a text that came that way is known by, unless it is given another name."""


class Sources(NamedTuple):
    """What can be read, and the files beside it in folders and zips that can't."""

    read: list[Source]
    skipped: list[str]


@dataclass(frozen=True, slots=True)
class _Reading:
    """How sources are read: into which collection, up to which size, and from where."""

    collection: str
    most: int
    name: str
    fetch: bool


def sources(
    paths: Sequence[str | Path],
    collection: str,
    max_file_mb: int,
    *,
    name: str = "",
    fetch: bool = True,
) -> Sources:
    """The documents at paths, each once, however often it is named.

    A path may be an `https://` address, unless `fetch` is off, and `-`, which is standard input and
    is known by `name`. What is wrong with a path itself is a source that can't be read, so that the
    rest goes on.
    """
    reading = _Reading(collection, max_file_mb * 1_000_000, name or READ, fetch)
    found: dict[str, Source] = {}
    skipped: dict[str, None] = {}
    if wrong := [path for path in paths if not isinstance(path, (str, os.PathLike))]:
        raise TypeError(
            f"A source is a path or an address, not a {type(wrong[0]).__name__}: give several one "
            "by one, as `ingest(*paths)`."
        )
    for path in paths:
        read, others = _at(path, reading)
        for place, source in read.items():
            found.setdefault(place, source)
        skipped |= dict.fromkeys(others)
    return Sources(list(found.values()), list(skipped))


def _at(path: str | Path, reading: _Reading) -> tuple[dict[str, Source], list[str]]:
    """What is at a path, by where it really is, and what there can't be read."""
    name = printable(path)
    try:
        if not name:
            raise LoadError("An empty name is no file: give a file or a folder.")
        if name == STANDARD_INPUT:
            return _input(reading), []
        if "://" in name:
            return _address(name, reading), []
        files, others = find([Path(path)])
    except LoadError as error:
        return _failed(name, error), []
    found: dict[str, Source] = {}
    skipped = [printable(other) for other in others]
    if not files:
        nothing = LoadError(f"{name} has no file that Fabula reads: {known()}.")
        return _failed(name, nothing), skipped
    for file in files:
        if is_zip(file):
            books, beside = _books(file, reading)
            found |= books
            skipped += beside
        else:
            read = partial(load, file, reading.collection, reading.most)
            found[os.path.realpath(file)] = Source(printable(file), read)
    return found, skipped


def _books(file: Path, reading: _Reading) -> tuple[dict[str, Source], list[str]]:
    """The books in a zip, and what else is in it."""
    name = printable(file)
    try:
        books, others = find_in_zip(file)
    except LoadError as error:
        return _failed(name, error), []
    return {
        in_zip(source_of(file), book): Source(
            in_zip(name, book),
            partial(load_from_zip, file, book, reading.collection, reading.most),
        )
        for book in books
    }, [in_zip(name, other) for other in others]


def _address(name: str, reading: _Reading) -> dict[str, Source]:
    """The document at an address, which is fetched when it is read."""
    if not reading.fetch:
        raise LoadError(
            f"{name} is not fetched: addresses are turned off (FABULA_FETCH). Give a file."
        )
    # Where nothing is fetched, nothing is imported that can.
    from fabula.load.web import address, fetch

    url = address(name)

    def read() -> Document:
        return load_content(fetch(url, reading.most), url, reading.collection, reading.most)

    return {url: Source(url, read)}


def _input(reading: _Reading) -> dict[str, Source]:
    """The document that comes in: read at once, as Ctrl-C ends no thread that waits for more."""
    data = sys.stdin.buffer.read(reading.most + 1)
    if len(data) > reading.most:
        raise too_large(reading.name, len(data), reading.most)
    read = partial(load_content, data, reading.name, reading.collection, reading.most)
    return {STANDARD_INPUT: Source(reading.name, read)}


def _failed(name: str, error: LoadError) -> dict[str, Source]:
    return {name: Source(name, partial(_refuse, error))}


def _refuse(error: LoadError) -> NoReturn:
    raise error
