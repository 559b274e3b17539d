"""Draw a document as a picture: a page to explore, an SVG or a PNG.

Fabula has four pictures: `trees` shows summary trees, `network` entities, their relations and who
speaks to whom, `communities` the same by communities, and `story` events in the order told. Other
packages may bring more, by the contract in `shared.picture`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.metadata import entry_points
from pathlib import Path

from fabula.app.collection import Collection
from fabula.errors import FabulaError, NotFound, did_you_mean
from fabula.graph.entries import Entry
from fabula.graph.hits import NO_LIMIT, Hit
from fabula.graph.installed import load
from fabula.graph.trace import Trace
from fabula.models.counted import Meter
from fabula.plot.shared.picture import Drawing, Picture, Search
from fabula.plot.shared.picture_parts import refuse_without
from fabula.plot.shared.png import has_fonts, refuse_missing_resvg
from fabula.text.names import file_name, quote_name

GROUP = "fabula.pictures"
"""The group of entry points by which a package brings a picture, Fabula's own as any other."""
TREES = "trees"
SUFFIXES = (".html", ".svg", ".png")


@dataclass(frozen=True, slots=True)
class Plotted:
    """The file that `plot` wrote, and what is drawn in it.

    A network has `entities` and no passages; `walked` says how many of these the question's mode
    visited. A story has `events`.
    """

    file: Path
    passages: int
    hits: tuple[Hit, ...]
    has_words: bool
    """False if the texts are missing because the machine has no fonts for a PNG."""
    entities: int = 0
    walked: int = 0
    events: int = 0

    def __str__(self) -> str:
        if self.events:
            return f"{self.file}: {self.events:,} events"
        if self.entities:
            return f"{self.file}: {self.entities:,} entities"
        return f"{self.file}: {self.passages:,} passages"

    def _repr_html_(self) -> str:
        """Show a picture in a notebook; a page, which has scripts, is only named."""
        text = escape(str(self))
        kind = {".svg": "svg+xml", ".png": "png"}.get(self.file.suffix.lower())
        if not kind:
            return f"<p>{text}</p>"
        data = b64encode(self.file.read_bytes()).decode()
        return f'<img alt="{text}" src="data:image/{kind};base64,{data}" style="max-width: 100%">'


@cache
def pictures() -> Mapping[str, Picture]:
    """Return the installed pictures by name: Fabula's own and those of other packages.

    Raises:
        SettingsError: A package's picture can't be loaded.
    """
    return {entry.name: load(entry) for entry in entry_points(group=GROUP)}


def find_picture(name: str) -> Picture:
    """Return the picture of a name. Raises NotFound with the nearest name."""
    known = pictures()
    if name not in known:
        hint = did_you_mean(name, known, f"There are: {', '.join(sorted(known))}.")
        raise NotFound(f"There is no picture {quote_name(name)}. {hint}")
    return known[name]


def plot(
    collection: Collection,
    document: str,
    file: str | Path | None = None,
    question: str = "",
    picture: str = TREES,
    *,
    network: bool = False,
    communities: bool = False,
    story: bool = False,
    until: str = "",
) -> Plotted:
    """Draw a document into a file: its aspect trees, unless another picture is chosen.

    Args:
        collection: The collection of the document.
        document: Its id, title or file.
        file: What to write; the suffix .html, .svg or .png decides what it is, and an existing file
            is replaced. By default a page, named by the title, in the current folder.
        question: Highlight what the settings' mode finds for this question, and in a network the
            entities that it visited.
        picture: The name of one of `pictures()`.
        network: The same as the picture `network`: the document's entities, who meets whom and,
            with the graph of speech, who speaks to whom.
        communities: The same as `communities`: the network with its communities.
        story: The same as `story`: its events in the order told, and how they are linked.
        until: The place up to which the reader has read, as of a question: nothing of what comes
            later is drawn. '' is the end.

    Raises:
        NotFound: There is no such document or picture, or the document lacks the graph that is
            drawn.
        StoreError: The document changed while it was read.
        FabulaError: Two pictures are chosen, or the file can't be written or has another suffix.
    """
    refuse_undrawable(file)
    flags = {"communities": communities, "network": network, "story": story}
    chosen = {name for name, is_chosen in flags.items() if is_chosen} | ({picture} - {TREES})
    if "communities" in chosen:
        chosen.discard("network")  # they are drawn within it
    if len(chosen) > 1:
        first, second = sorted(chosen)[:2]
        raise FabulaError(f"{first} and {second} are two pictures: draw one, then the other.")
    name = chosen.pop() if chosen else TREES
    entry = collection.document(document)
    suffix = "" if name == TREES else f" ({name})"
    target = Path(file or f"{file_name(entry.title, entry.id)}{suffix}.html")
    format = target.suffix.lower()
    drawing = draw_document(collection, entry, format, question, name, until=until)
    _write(target, drawing.content)
    return Plotted(
        target,
        drawing.passages,
        drawing.hits,
        format != ".png" or has_fonts(),
        drawing.entities,
        drawing.walked,
        drawing.events,
    )


def draw_document(
    collection: Collection,
    entry: Entry,
    format: str = ".html",
    question: str = "",
    picture: str = TREES,
    meter: Meter | None = None,
    until: str = "",
) -> Drawing:
    """Return what `plot` writes for a document, as .html, .svg or .png.

    `meter` counts the model calls for the question. Raises what `plot` does, except for files.
    """
    kind = find_picture(picture)
    for graph in kind.graphs:
        refuse_without(entry, graph, kind.name)
    trace = Trace()
    hits: list[Hit] = []
    if question:
        hits = collection.retrieve(
            question, document=entry.id, until=until or None, meter=meter, path=trace
        )
    mode = next((step.note for step in trace.root.steps if step.name == "retrieve"), "")
    end = collection.reading_place(until, entry.id).end if until else NO_LIMIT
    search = Search(question, mode, tuple(hits), trace, end)
    return kind.draw(collection.store, entry, search, format)


def refuse_undrawable(file: str | Path | None) -> None:
    """Raise FabulaError for a file that can't be drawn, before any model is asked."""
    suffix = Path(file or "page.html").suffix.lower()
    if suffix not in SUFFIXES:
        raise FabulaError(
            f"A plot is a page or a picture, so end the file in .html, .svg or .png, not as {file}."
        )
    if suffix == ".png":
        refuse_missing_resvg()


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise FabulaError(f"{file} can't be written: {error.strerror}.") from error
