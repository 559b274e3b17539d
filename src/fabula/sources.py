"""The paths that people name as sources of documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from fabula.errors import LoadError
from fabula.ingest import Source
from fabula.load import SUFFIXES, find_files, load, printable


def sources(paths: Sequence[str | Path], collection: str, max_file_mb: int) -> list[Source]:
    """The files at paths, each once, however often it is named.

    What is wrong with a path itself is a source that can't be read, so that the rest goes on.
    """
    found: dict[str, Source] = {}
    for path in paths:
        for place, source in _at(path, collection, max_file_mb).items():
            found.setdefault(place, source)
    return list(found.values())


def _at(path: str | Path, collection: str, max_file_mb: int) -> dict[str, Source]:
    """The files at a path, by where they really are."""
    most = max_file_mb * 1_000_000
    name = printable(path)
    try:
        if not name:
            raise LoadError("An empty name is no file: give a file or a folder.")
        files = find_files([Path(path)])
        if not files:
            raise LoadError(f"{name} has no file that Fabula reads: {', '.join(SUFFIXES)}.")
    except LoadError as error:
        return {name: Source(name, partial(_refuse, error))}
    return {
        os.path.realpath(file): Source(printable(file), partial(load, file, collection, most))
        for file in files
    }


def _refuse(error: LoadError) -> NoReturn:
    raise error
