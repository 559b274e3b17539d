"""What a report is made of: sections of paragraphs, notes, tables, figures and code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["plain", "warning"]


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table says in one place; `details` are smaller, below it; `strong` stands out."""

    text: str
    details: tuple[str, ...] = ()
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """What nobody may miss."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be typed or read as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head; the first column names the rows. `figures`: the others are numbers.

    A `folded` table is opened by its reader, where that can be.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    figures: bool = True
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing: `file` is its path from the report without its ending, `svg` its text."""

    title: str
    file: str
    svg: str


@dataclass(frozen=True, slots=True)
class Gallery:
    """Figures of one kind, side by side where there is room; `caption` holds for all."""

    caption: str
    figures: tuple[Figure, ...]


Block = Paragraph | Note | Code | Table | Gallery


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is below it; `id` is its place on the page."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report; `notes` come before everything."""

    title: str
    subtitle: str
    notes: tuple[Note, ...]
    sections: tuple[Section, ...]
