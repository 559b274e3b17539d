"""A document's graph, its network or its story as a picture: a page to explore, an SVG or a PNG."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from fabula.app.collection import Collection
from fabula.errors import FabulaError
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.graph.path import Path as Steps
from fabula.models.counted import Meter
from fabula.plot.network.communities import groups_of
from fabula.plot.network.figures import Sociogram, read_walked
from fabula.plot.network.page import to_sociogram_page
from fabula.plot.network.spread import spread
from fabula.plot.network.svg import draw_sociogram
from fabula.plot.shared.png import has_fonts, refuse_missing, to_png
from fabula.plot.shared.reading import (
    COMMUNITIES,
    DISCOURSE,
    NETWORK,
    read,
    read_network,
    read_told,
    refuse_without,
)
from fabula.plot.story.events import Story
from fabula.plot.story.page import to_story_page
from fabula.plot.story.svg import draw_story
from fabula.plot.trees.layout import lay_out
from fabula.plot.trees.page import to_page
from fabula.plot.trees.svg import Picture, draw
from fabula.text.names import file_name

SUFFIXES = (".html", ".svg", ".png")


@dataclass(frozen=True, slots=True)
class Plotted:
    """The file that was written, what is drawn in it, and whether its words are.

    Of a network there are `entities` and no passages; of these the question's mode `walked` some.
    Of a story there are `events`.
    """

    file: Path
    passages: int
    hits: tuple[Hit, ...]
    has_words: bool
    entities: int = 0
    walked: int = 0
    events: int = 0

    def __str__(self) -> str:
        counted = f"{self.entities:,} entities" if self.entities else f"{self.passages:,} passages"
        if self.events:
            counted = f"{self.events:,} events"
        return f"{self.file}: {counted}"

    def _repr_html_(self) -> str:
        """In a notebook a picture is seen; a page, which has scripts, is only named."""
        said = escape(str(self))
        kind = {".svg": "svg+xml", ".png": "png"}.get(self.file.suffix.lower())
        if not kind:
            return f"<p>{said}</p>"
        data = b64encode(self.file.read_bytes()).decode()
        return f'<img alt="{said}" src="data:image/{kind};base64,{data}" style="max-width: 100%">'


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture as a file has it, and what is drawn in it, as `Plotted` counts it."""

    content: bytes
    hits: tuple[Hit, ...]
    passages: int = 0
    entities: int = 0
    walked: int = 0
    events: int = 0


def plot(
    collection: Collection,
    document: str,
    file: str | Path | None = None,
    question: str = "",
    *,
    network: bool = False,
    communities: bool = False,
    story: bool = False,
) -> Plotted:
    """Draws a document, named by id, title or file, into `file`: .html, .svg or .png.

    Its aspect trees over its chunks; or the `network` of its entities: who is in it, and who
    meets whom, with its `communities` if that is set; or its `story`: what happens, in the
    order told, and how it hangs together. Without a file, into a page named by the title, in
    the current folder; a file that is there is replaced. What the settings' mode finds for
    `question` is highlighted, in a network whom it went through on the way. Raises NotFound for
    the document, and for one without the graph that is drawn, FabulaError for a file that can't
    be written, or is none of these, and StoreError where the document changes meanwhile.
    """
    refuse_undrawable(file)
    entry = collection.document(document)
    what = (
        " (communities)"
        if communities
        else " (network)"
        if network
        else " (story)"
        if story
        else ""
    )
    target = Path(file or f"{file_name(entry.title, entry.id)}{what}.html")
    kind = target.suffix.lower()
    drawn = draw_document(
        collection, entry, kind, question, network=network, communities=communities, story=story
    )
    _write(target, drawn.content)
    return Plotted(
        target,
        drawn.passages,
        drawn.hits,
        kind != ".png" or has_fonts(),
        drawn.entities,
        drawn.walked,
        drawn.events,
    )


def draw_document(
    collection: Collection,
    entry: Entry,
    kind: str = ".html",
    question: str = "",
    *,
    network: bool = False,
    communities: bool = False,
    story: bool = False,
    meter: Meter | None = None,
) -> Drawing:
    """What `plot` writes of a document, as a file of that kind: .html, .svg or .png.

    `meter` counts what the question asked of models. Raises what `plot` does, but for files.
    """
    network = network or communities
    if network and story:
        raise FabulaError("A network and a story are two pictures: draw one, then the other.")
    if network:
        refuse_without(entry, NETWORK, "network")
    if communities:
        refuse_without(entry, COMMUNITIES, "communities")
    if story:
        refuse_without(entry, DISCOURSE, "story")
    steps = Steps()
    hits: list[Hit] = []
    if question:
        hits = collection.retrieve(question, document=entry.id, meter=meter, path=steps)
    mode = next((step.note for step in steps.root.steps if step.name == "retrieve"), "")
    if network:
        walked = read_walked(steps)
        sociogram = read_network(
            collection.store, entry, question, mode, walked, hits=hits, together=communities
        )
        content = _network_content(kind, sociogram)
        count = len(sociogram.figures), len(sociogram.walked)
        return Drawing(content, tuple(hits), entities=count[0], walked=count[1])
    if story:
        told = read_told(collection.store, entry, question, mode, hits)
        return Drawing(_story_content(kind, told), tuple(hits), events=len(told.events))
    known = read(collection.store, entry)
    made = entry.graphs.get("aspects")
    order = made.facts["aspects"] if made else []
    picture = Picture(
        title=entry.title,
        author=entry.author,
        layout=lay_out(known, order),
        question=question,
        ranks={hit.id: rank for rank, hit in enumerate(hits, start=1)},
    )
    content = _content(kind, picture, hits, mode)
    return Drawing(content, tuple(hits), passages=len(picture.passages()))


def refuse_undrawable(file: str | Path | None) -> None:
    """Raises FabulaError for a file of a kind that can't be drawn, before anything is asked."""
    suffix = Path(file or "page.html").suffix.lower()
    if suffix not in SUFFIXES:
        raise FabulaError(
            f"A plot is a page or a picture, so end the file in .html, .svg or .png, not as {file}."
        )
    if suffix == ".png":
        refuse_missing()


def _content(suffix: str, picture: Picture, hits: Sequence[Hit], mode: str) -> bytes:
    if suffix == ".html":
        return to_page(picture, hits, mode).encode()
    svg = draw(picture, alone=True)
    return to_png(svg) if suffix == ".png" else svg.encode()


def _network_content(suffix: str, sociogram: Sociogram) -> bytes:
    told = sociogram.communities
    groups = groups_of(told, 0, len(sociogram.figures)) if told else ()
    spots = spread(sociogram.figures, sociogram.bonds, sociogram.walked, groups)
    if suffix == ".html":
        return to_sociogram_page(sociogram, spots).encode()
    svg = draw_sociogram(sociogram, spots, alone=True)
    return to_png(svg) if suffix == ".png" else svg.encode()


def _story_content(suffix: str, story: Story) -> bytes:
    if suffix == ".html":
        return to_story_page(story).encode()
    svg = draw_story(story, alone=True)
    return to_png(svg) if suffix == ".png" else svg.encode()


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise FabulaError(f"{file} can't be written: {error.strerror}.") from error
