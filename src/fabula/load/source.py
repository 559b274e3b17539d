"""The source of a document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fabula.text.document import Document


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a document, by its name, and a function that reads it or raises LoadError."""

    name: str
    read: Callable[[], Document]
