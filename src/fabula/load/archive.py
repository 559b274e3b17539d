"""Read zips within a limit of unpacked bytes, which protects against zip bombs."""

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
from fabula.load.xml_tree import parse, parse_strictly

_MAX_RATIO = 50
"""A book may unpack to this many times its size, and to `_MIN_LIMIT_BYTES` more. The pages of real
books unpack to about five times their size, those of a bomb to a thousand times."""
_MIN_LIMIT_BYTES = 10_000_000
_PIECE_BYTES = 2**20
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
"""Other methods may need any amount of memory."""


class EntryError(LoadError):
    """One file of a zip is missing or damaged; the others may still be read."""


class Archive:
    """An open zip."""

    def __init__(self, file: BinaryIO, source: str, limit: int, kind: str) -> None:
        """Read the list of files of a zip.

        Args:
            file: The open file.
            source: What messages call it.
            limit: The most bytes that all files read may unpack to. For a small zip the limit is
                lower, as no book of its size unpacks to more.
            kind: The format, for messages.

        Raises:
            LoadError: It is not a zip, or a damaged one.
        """
        try:
            size = file.seek(0, os.SEEK_END)
            self._zip = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise LoadError(
                f"{source} is not a valid {kind} file, it may be broken: {printable(str(error))}."
            ) from error
        self.source = source
        self.comment = self._zip.comment.decode("utf-8", "replace")
        self._broken = f"{source} is a broken {kind}"
        self._budget = min(limit, _MIN_LIMIT_BYTES + _MAX_RATIO * size)
        self.sizes = {
            entry.filename: entry.file_size
            for entry in self._zip.infolist()
            if entry.filename and not entry.filename.endswith("/")
        }
        """The size of each file, as the zip states it; it can't unpack to more."""
        self.warnings: list[str] = []
        """What was wrong with files that were read all the same, in full sentences."""

    def read(self, name: str) -> bytes:
        """Return a file's content. Raises LoadError if it is missing, broken, locked or too big."""
        try:
            if (method := self._zip.getinfo(name).compress_type) not in _METHODS:
                raise self.broken(
                    f"{name} is packed by method {method}, which Fabula does not read"
                )
            with self._zip.open(name) as entry:
                return b"".join(self._pieces(entry))
        except KeyError as error:
            raise self.broken(f"it lacks {name}") from error
        except RuntimeError as error:  # zipfile raises it for a file with a password.
            raise LoadError(f"{self.source} is locked by a password: remove it first.") from error
        except _BROKEN as error:
            raise self.broken(f"{name}: {error}") from error

    def _pieces(self, entry: IO[bytes]) -> Iterator[bytes]:
        while piece := entry.read(_PIECE_BYTES):
            self._budget -= len(piece)
            if self._budget < 0:
                raise self._too_much()
            yield piece

    def check(self) -> None:
        """Raise LoadError if all files together would unpack to too much."""
        if sum(self.sizes.values()) > self._budget:
            raise self._too_much()

    def tree(self, name: str) -> Element:
        """Return a file parsed as XML. Raises LoadError if it is broken or defines entities."""
        return parse_strictly(self.read(name), lambda why: self.broken(f"{name}: {why}"))

    def lenient_tree(self, name: str) -> Element:
        """Return a file parsed as XML, even if it is not well-formed: see `warnings`.

        Raises:
            EntryError: It is missing, or can't be read.
        """
        return parse(
            self.read(name),
            lambda why: self.broken(f"{name}: {why}"),
            lambda what: self.warnings.append(f"{name} in {self.source} {what}."),
        )

    def broken(self, why: str) -> EntryError:
        """Return the error for a broken zip."""
        return EntryError(f"{self._broken}: {printable(why)}.")

    def _too_much(self) -> LoadError:
        return LoadError(
            f"{self.source} unpacks to more than the limit allows: it is no ordinary book. "
            "If it is one, save it as plain text."
        )
