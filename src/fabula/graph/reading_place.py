"""The place up to which a reader has read a document, as a value.

`fabula.library.reading_place` makes it from what the reader says. A store with a place
(`Store.within`) answers as the reader knows the document.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabula.graph.entries import Entry

MAX_PLACE = 2000
"""Characters of what names a place: enough for a hundred spans of a long book, or any heading."""
HIDES_UNREAD = (
    "tell nothing that comes after this place of the document: a section that was read, as "
    "'Stave Three', a page as 'p. 113', a share as '40%', a character, or the last of a range, as "
    "120-340, or words of the text; '' for the end"
)
"""What the parameter `until` does, in every interface."""


@dataclass(frozen=True, slots=True)
class ReadingPlace:
    """Up to where a reader has read a document.

    Attributes:
        document: The document.
        end: How many characters of its text are read.
        length: How many it has.
        name: The place in words, as "the end of STAVE THREE".
        said: What the reader called it, as "Stave Three" or "40%".
    """

    document: Entry
    end: int
    length: int
    name: str
    said: str

    @property
    def percent(self) -> int:
        """The share of the text that is read; below 100 unless all of it is."""
        return 100 * self.end // self.length if self.length else 100

    def __str__(self) -> str:
        """Return what was understood, as "up to the end of STAVE THREE (48 %)"."""
        return f"up to {self.name} ({self.percent} %)"
