"""The zip that a book is packed in, read within a budget of bytes that guards against bombs."""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load.markup import defines_entities, parse

_UNPACKED = 50
"""A book may unpack to this many times its size, and a small one to `_ANY_BOOK` bytes more: the
pages of real ones do to some five times, and those of a bomb to a thousand."""
_ANY_BOOK = 10_000_000
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError)


class Archive:
    """A book of the format `kind` in a zip. LoadError, naming `source`, where it is none.

    It unpacks to at most `limit` bytes, and to no more than any book of its size.
    """

    def __init__(self, data: bytes, source: str, limit: int, kind: str) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _BROKEN as error:
            raise LoadError(f"{source} is no {kind}, or a broken one: {error}.") from error
        self.source = source
        self._broken = f"{source} is a broken {kind}"
        self._budget = min(limit, _ANY_BOOK + _UNPACKED * len(data))
        self.names = frozenset(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """An entry's content; LoadError if it's missing, broken, locked or too much."""
        try:
            with self._zip.open(name) as entry:
                data = entry.read(self._budget + 1)
        except KeyError as error:
            raise self.broken(f"it lacks {name}") from error
        except RuntimeError as error:  # What zipfile raises for an entry with a password.
            raise LoadError(f"{self.source} is locked by a password: remove it first.") from error
        except _BROKEN as error:
            raise self.broken(f"{name}: {error}") from error
        self._budget -= len(data)
        if self._budget < 0:
            raise self._too_much()
        return data

    def check(self) -> None:
        """LoadError where all entries are too much, or XML defines entities: for a library that
        reads them by itself.
        """
        if sum(entry.file_size for entry in self._zip.infolist()) > self._budget:
            raise self._too_much()
        for name in self.names:
            if name.endswith((".xml", ".rels")) and defines_entities(self.read(name)):
                raise self.broken(f"{name} defines XML entities")

    def tree(self, name: str) -> Element:
        """An entry parsed as XML; one that defines entities is refused."""
        return parse(self.read(name), lambda why: self.broken(f"{name}: {why}"))

    def broken(self, why: str) -> LoadError:
        """The error that says what is wrong with the book."""
        return LoadError(f"{self._broken}: {why}.")

    def _too_much(self) -> LoadError:
        return LoadError(
            f"{self.source} unpacks to more than the limit allows: it is no ordinary book. "
            "If it is one, save it as plain text."
        )
