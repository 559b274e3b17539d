"""The source of a document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

from fabula.text.document import Document

if TYPE_CHECKING:
    from fabula.load.content import FileContent


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """The source of a document, by its name, and a function that reads it or raises LoadError.

    Attributes:
        name: What the source is called.
        read: Reads the document.
        open: Does the first half of it: gets the content of the file, which another process may
            then parse. None where only `read` can read the source, in this process.
    """

    name: str
    read: Callable[[], Document]
    open: Callable[[], FileContent] | None = None

    @classmethod
    def of_file(cls, name: str, open: Callable[[], FileContent]) -> Self:
        """Return the source of a file, by a function that gets its content."""
        return cls(name, partial(_read, open), open)


def _read(open: Callable[[], FileContent]) -> Document:
    return open().parse()
