"""Draw a document: what a picture is, and the pictures that packages bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from fabula.errors import FabulaError, NotFound, did_you_mean
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.graph.installed import load
from fabula.graph.trace import Trace
from fabula.library.collection import Collection
from fabula.models.counted import Meter
from fabula.packages import describe_missing
from fabula.store import Store
from fabula.text.names import quote_name

GROUP = "fabula.pictures"
"""The group of entry points by which a package brings a picture."""
TREES = "trees"
SUFFIXES = (".html", ".svg", ".png")


@dataclass(frozen=True, slots=True)
class Search:
    """A question and what a mode found for it, to be highlighted; all is empty without one."""

    question: str = ""
    mode: str = ""
    hits: tuple[Hit, ...] = ()
    trace: Trace = field(default_factory=Trace)


@dataclass(frozen=True, slots=True)
class Drawing:
    """The content of a file with a picture, and how much is drawn in it."""

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


@cache
def pictures() -> Mapping[str, Picture]:
    """Return the installed pictures by name.

    Raises:
        SettingsError: A package's picture can't be loaded.
    """
    return {entry.name: load(entry) for entry in entry_points(group=GROUP)}


def find_picture(name: str) -> Picture:
    """Return the picture of a name. Raises NotFound with the nearest name."""
    known = pictures()
    if not known:
        raise NotFound(f"No package here draws pictures. {describe_missing()}")
    if name not in known:
        hint = did_you_mean(name, known, f"There are: {', '.join(sorted(known))}.")
        raise NotFound(f"There is no picture {quote_name(name)}. {hint}")
    return known[name]


def draw_document(
    collection: Collection,
    entry: Entry,
    format: str = ".html",
    question: str = "",
    picture: str = TREES,
    meter: Meter | None = None,
) -> Drawing:
    """Return a document as a file of a format: .html, .svg or .png.

    Args:
        collection: The collection of the document; for a reader with a place, nothing of what comes
            later is drawn.
        entry: The document.
        format: The end of the file's name.
        question: Highlight what the settings' mode finds for this question.
        picture: The name of one of `pictures()`.
        meter: Counts the model calls for the question.

    Raises:
        NotFound: There is no such picture, or the document lacks the graph that is drawn.
        StoreError: The document changed while it was read.
    """
    kind = find_picture(picture)
    for graph in kind.graphs:
        refuse_without(entry, graph, kind.name)
    trace = Trace()
    hits: list[Hit] = []
    if question:
        hits = collection.retrieve(question, document=entry.id, meter=meter, path=trace)
    mode = next((step.note for step in trace.root.steps if step.name == "retrieve"), "")
    search = Search(question, mode, tuple(hits), trace)
    return kind.draw(collection.open_store(), entry, search, format)


def refuse_undrawable(file: str | Path | None) -> None:
    """Raise FabulaError for a file that can't be drawn, before any model is asked."""
    suffix = Path(file or "page.html").suffix.lower()
    if suffix not in SUFFIXES:
        raise FabulaError(
            f"A plot is a page or a picture, so end the file in .html, .svg or .png, not as {file}."
        )
    if suffix == ".png" and not find_spec("resvg_py"):
        raise FabulaError(
            "PNG is drawn by resvg-py, which isn't installed: run `pip install 'fabula[png]'`, or "
            "name a file that ends in .svg or .html."
        )


def refuse_without(entry: Entry, graph: str, picture: str) -> None:
    """Raise NotFound if a document lacks the graph that a picture is drawn from."""
    if graph not in entry.graphs:
        raise NotFound(
            f"{entry.title} has no graph of {graph}, so there is no {picture} to draw: build "
            "that graph first.",
            advice=f"Run `fabula build {graph} {entry.id}`.",
        )
