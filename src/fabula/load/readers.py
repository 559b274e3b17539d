"""The reader of each format: a module with a function `read`, imported when it is first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from fabula.load.blocks import Draft

PLAIN = (".txt", ".text")
"""The suffixes of plain text."""
READERS: dict[str, str] = {
    **dict.fromkeys(PLAIN, "text"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".epub": "epub",
    ".pdf": "pdf",
    ".docx": "docx",
    ".odt": "odt",
    ".rtf": "rtf",
    **dict.fromkeys((".fb2", ".tei", ".xml"), "xml"),
}
"""The names of the reader modules in this package, by suffix."""


class Reader(Protocol):
    """Reads the content of a file."""

    def __call__(self, data: bytes, source: str, limit: int) -> Draft:
        """Return the draft of a document.

        Args:
            data: The file's content.
            source: What messages call the file.
            limit: The most bytes that a packed file may unpack to; others ignore it.

        Raises:
            LoadError: The file can't be read.
        """
        ...


def reader(suffix: str) -> Reader:
    """Import and return the reader for a suffix, which has to be one of READERS."""
    return cast("Reader", import_module(f"fabula.load.{READERS[suffix]}").read)
