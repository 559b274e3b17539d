"""What a picture is: the contract between `fabula plot` and each kind of picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fabula.graph.entries import Entry
from fabula.graph.hits import NO_LIMIT, Hit
from fabula.graph.trace import Trace
from fabula.plot.shared.png import to_png
from fabula.store import Store


@dataclass(frozen=True, slots=True)
class Search:
    """A question and what a mode found for it, to be highlighted; all is empty without one.

    `until` is how many characters of the text the reader has read: no later ones are drawn.
    """

    question: str = ""
    mode: str = ""
    hits: tuple[Hit, ...] = ()
    trace: Trace = field(default_factory=Trace)
    until: int = NO_LIMIT


@dataclass(frozen=True, slots=True)
class Drawing:
    """The content of a file with a picture, and what is drawn in it, as in `Plotted`."""

    content: bytes
    hits: tuple[Hit, ...]
    passages: int = 0
    entities: int = 0
    walked: int = 0
    events: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """A kind of picture, which a package brings by an entry point of the group `fabula.pictures`.

    Attributes:
        name: What `fabula plot --picture` and the service call it.
        about: What it shows, for the help.
        graphs: The graphs without which a document can't be drawn so.
        draw: Draws a document of a store, with what a search found, as a file of a format (.html,
            .svg or .png). It raises Changed if the document is replaced meanwhile, and NotFound if
            it is removed.
    """

    name: str
    about: str
    graphs: tuple[str, ...]
    draw: Callable[[Store, Entry, Search, str], Drawing]


def svg_or_png(format: str, svg: str) -> bytes:
    """Return the content of a file with an SVG, as .svg or as .png."""
    return to_png(svg) if format == ".png" else svg.encode()
