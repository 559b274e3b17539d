"""What is drawn of a document, each part in its place; all in the picture's own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabula.graphs.aspects.values import Detail, Summary
from fabula.text.document import Chunk


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: its left upper corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    @property
    def centre(self) -> float:
        """The middle, from the left."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class PlacedSummary:
    """A summary: the span of its chunks, and on it the mark. y counts from its band's top."""

    summary: Summary
    span: Box
    mark: Box


@dataclass(frozen=True, slots=True)
class Line:
    """From a summary's mark down to a member: its ends, within the band, and its weight.

    `level` is the member's, 0 for a chunk.
    """

    x: float
    y: float
    to_x: float
    to_y: float
    weight: float
    level: int


@dataclass(frozen=True, slots=True)
class Level:
    """A block of a band: the number of its level; its middle and its foot, from the band's top."""

    number: int
    middle: float
    foot: float


@dataclass(frozen=True, slots=True)
class Band:
    """One aspect's trees. `strip` is the line of chunks at its foot.

    `covered` are the chunks that its lowest summaries have for members, with the highest weight.
    """

    aspect: str
    height: float
    levels: tuple[Level, ...]
    summaries: tuple[PlacedSummary, ...]
    lines: tuple[Line, ...]
    covered: Mapping[int, float]
    strip: float


@dataclass(frozen=True, slots=True)
class Part:
    """A section as the line of chunks has it: its title and where its chunks are."""

    title: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Layout:
    """All of a document, placed. `chunks` and `details` are across only; a row each has its y."""

    chunks: tuple[tuple[Chunk, Box], ...]
    details: tuple[tuple[Detail, Box], ...]
    bands: tuple[Band, ...]
    parts: tuple[Part, ...]
