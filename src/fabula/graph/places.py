"""Where a node stands in a text, and what it is called: the same properties in every graph."""

from __future__ import annotations

from typing import Any, Protocol

from fabula.text import tokens

MAX_NAME_CHARACTERS = 60
"""Of a name that is made of a longer text."""


class Place(Protocol):
    """A chunk, or what else is in a section of a text."""

    @property
    def section(self) -> str:
        """The section."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """The character after the last one."""


def place_text(text: str, first: Place, last: Place | None = None) -> dict[str, Any]:
    """Return a text and where it stands: from one chunk to the same or another one."""
    place = {"aspect": "", "level": 0, "section": first.section}
    place |= {"start": first.start, "end": (last or first).end}
    return {**place, "text": text, "tokens": tokens.count(text)}


def make_name(text: str) -> str:
    """Return the beginning of a text, as a name of a node; whole words where there are spaces."""
    line = " ".join(text.split())
    if len(line) <= MAX_NAME_CHARACTERS:
        return line
    return f"{line[:MAX_NAME_CHARACTERS].rsplit(' ', 1)[0]}…"
