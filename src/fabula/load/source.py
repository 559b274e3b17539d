"""Where a document comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fabula.text.document import Document


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document comes from, and how to read it. Reading raises LoadError."""

    name: str
    read: Callable[[], Document]
