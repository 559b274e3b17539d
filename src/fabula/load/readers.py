"""The reader of each format: a module with a function `read`, imported when it is first needed."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Protocol, cast

from fabula.load.blocks import Draft

PLAIN = (".txt", ".text")
"""The suffixes of plain text."""
GROUP = "fabula.readers"
"""The group of entry points by which a package brings a reader: its name is a suffix without the
full stop, its value the function, as `fabula_chats.load:read`."""
READERS: dict[str, str] = {
    **{f".{entry.name}": entry.value for entry in entry_points(group=GROUP)},
    **dict.fromkeys(PLAIN, "text"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".epub": "epub",
    ".pdf": "pdf",
    ".docx": "docx",
    ".odt": "odt",
    ".rtf": "rtf",
    **dict.fromkeys((".fb2", ".tei", ".xml", ".fdx", ".fodt", ".ttml", ".dfxp"), "xml"),
    ".fountain": "screenplays",
    **dict.fromkeys((".srt", ".vtt"), "subtitles"),
}
"""The names of the reader modules in this package, and the functions of others, by suffix."""
PACKED = ".parts"
"""What selects the reader of several files that are one book; no file has this suffix."""


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
    """Import and return the reader for a suffix, which has to be one of READERS or PACKED."""
    module, _, function = (READERS | {PACKED: "manuscripts"})[suffix].partition(":")
    module = module if function else f"{__package__}.{module}"
    return cast("Reader", getattr(import_module(module), function or "read"))
