"""Where a place in a text is in a printed edition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Locator:
    """The top of a printed page, or the beginning of a numbered line of verse.

    Attributes:
        kind: What is numbered.
        label: The number as it is printed, as `113`, `xiv` or `340`.
        start: The offset in the text, in characters.

    """

    kind: Literal["page", "line"]
    label: str
    start: int
