"""The content of a file, which is read as a document here or by a process on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabula.load.readers import PLAIN, reader

if TYPE_CHECKING:
    from fabula.text.document import Document

_MAX_UNPACKED_RATIO = 4
"""The most that a packed book may unpack to, as a multiple of the largest file."""
_MAX_UNCONFINED_BYTES = 1_000_000
"""Plain text up to this size is read without the sandbox: it takes seconds in any case."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file, and what it takes to make a document of them; can be pickled.

    A worker on another machine may have no access to the file, so it is sent this.

    Attributes:
        data: The content of the file.
        suffix: The suffix that selects the reader.
        name: What messages call the file.
        source: The source of the document.
        collection: The collection of the document.
        max_bytes: The largest file.
    """

    data: bytes
    suffix: str
    name: str
    source: str
    collection: str
    max_bytes: int

    def parse(self) -> Document:
        """Return the document in the file.

        Raises:
            LoadError: The content can't be read as a document; the message names the file.
        """
        from fabula.load.document import document

        max_unpacked = _MAX_UNPACKED_RATIO * self.max_bytes
        if self.suffix in PLAIN and len(self.data) <= _MAX_UNCONFINED_BYTES:
            draft = reader(self.suffix)(self.data, self.name, max_unpacked)
        else:
            from fabula.load import sandbox

            draft = sandbox.read(self.data, self.suffix, self.name, self.max_bytes, max_unpacked)
        return document(draft, self.source, self.collection)
