"""The zip that a book is packed in, read within a budget of bytes that guards against bombs."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, BinaryIO
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load.files import printable
from fabula.load.markup import defines_entities, parse

_UNPACKED = 50
"""A book may unpack to this many times its size, and a small one to `_ANY_BOOK` bytes more: the
pages of real ones do to some five times, and those of a bomb to a thousand."""
_ANY_BOOK = 10_000_000
_PIECE = 2**20
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    ValueError,
    OverflowError,
    OSError,
)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Others may ask for any amount of memory."""


class Archive:
    """What is in a zip of the format `kind`. LoadError, naming `source`, where it is none.

    It unpacks to at most `limit` bytes, and to no more than any book of its size.
    """

    def __init__(self, file: BinaryIO, source: str, limit: int, kind: str) -> None:
        try:
            size = file.seek(0, os.SEEK_END)
            self._zip = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise LoadError(
                f"{source} is no {kind}, or a broken one: {printable(str(error))}."
            ) from error
        self.source = source
        self._broken = f"{source} is a broken {kind}"
        self._budget = min(limit, _ANY_BOOK + _UNPACKED * size)
        self.sizes = {
            entry.filename: entry.file_size
            for entry in self._zip.infolist()
            if entry.filename and not entry.filename.endswith("/")
        }
        """The bytes of each file within, as it says: it unpacks to no more."""

    def read(self, name: str) -> bytes:
        """An entry's content; LoadError if it's missing, broken, locked or too much."""
        try:
            if (method := self._zip.getinfo(name).compress_type) not in _METHODS:
                raise self.broken(f"{name} is packed by method {method}, which is not read")
            with self._zip.open(name) as entry:
                return b"".join(self._pieces(entry))
        except KeyError as error:
            raise self.broken(f"it lacks {name}") from error
        except RuntimeError as error:  # What zipfile raises for an entry with a password.
            raise LoadError(f"{self.source} is locked by a password: remove it first.") from error
        except _BROKEN as error:
            raise self.broken(f"{name}: {error}") from error

    def _pieces(self, entry: IO[bytes]) -> Iterator[bytes]:
        while piece := entry.read(_PIECE):
            self._budget -= len(piece)
            if self._budget < 0:
                raise self._too_much()
            yield piece

    def check(self) -> None:
        """LoadError where all entries together are too much."""
        if sum(self.sizes.values()) > self._budget:
            raise self._too_much()

    def refuse_entities(self) -> None:
        """LoadError where XML defines entities: for a library that reads it by itself."""
        for name in self.sizes:
            if name.endswith((".xml", ".rels")) and defines_entities(self.read(name)):
                raise self.broken(f"{name} defines XML entities")

    def tree(self, name: str) -> Element:
        """An entry parsed as XML; one that defines entities is refused."""
        return parse(self.read(name), lambda why: self.broken(f"{name}: {why}"))

    def broken(self, why: str) -> LoadError:
        """The error that says what is wrong with the book."""
        return LoadError(f"{self._broken}: {printable(why)}.")

    def _too_much(self) -> LoadError:
        return LoadError(
            f"{self.source} unpacks to more than the limit allows: it is no ordinary book. "
            "If it is one, save it as plain text."
        )
