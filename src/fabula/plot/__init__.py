"""Draw a document as a picture: a page to explore, an SVG or a PNG.

There are three pictures: `trees` shows its summary trees, `network` its entities with their
relations and communities, and `story` its events in the order told. `shared` has what they share.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from pathlib import Path

from fabula.app.collection import Collection
from fabula.errors import FabulaError
from fabula.graph.entries import Entry
from fabula.graph.hits import Hit
from fabula.graph.path import Path as Trace
from fabula.models.counted import Meter
from fabula.plot.network.communities import find_groups
from fabula.plot.network.figures import NetworkPicture, read_network, read_walked
from fabula.plot.network.page import to_network_page
from fabula.plot.network.spread import spread
from fabula.plot.network.svg import draw_network
from fabula.plot.shared.png import has_fonts, refuse_missing_resvg, to_png
from fabula.plot.shared.reading import COMMUNITIES, DISCOURSE, NETWORK, refuse_without
from fabula.plot.story.events import StoryPicture, read_document_story
from fabula.plot.story.page import to_story_page
from fabula.plot.story.svg import draw_story
from fabula.plot.trees.layout import lay_out
from fabula.plot.trees.page import to_tree_page
from fabula.plot.trees.passages import read_passages
from fabula.plot.trees.svg import TreePicture, draw_trees
from fabula.text.names import file_name

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


@dataclass(frozen=True, slots=True)
class Drawing:
    """The content of a file with a picture, and what is drawn in it, as in `Plotted`."""

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
    """Draw a document into a file: its aspect trees, unless another picture is chosen.

    Args:
        collection: The collection of the document.
        document: Its id, title or file.
        file: What to write; the suffix .html, .svg or .png decides what it is, and an existing file
            is replaced. By default a page, named by the title, in the current folder.
        question: Highlight what the settings' mode finds for this question, and in a network the
            entities that it visited.
        network: Draw the document's entities and who meets whom.
        communities: Draw the network with its communities.
        story: Draw its events in the order told, and how they are linked.

    Raises:
        NotFound: There is no such document, or it lacks the graph that is drawn.
        StoreError: The document changed while it was read.
        FabulaError: The file can't be written, or has another suffix.
    """
    refuse_undrawable(file)
    entry = collection.document(document)
    if communities:
        suffix = " (communities)"
    elif network:
        suffix = " (network)"
    else:
        suffix = " (story)" if story else ""
    target = Path(file or f"{file_name(entry.title, entry.id)}{suffix}.html")
    format = target.suffix.lower()
    drawing = draw_document(
        collection,
        entry,
        format,
        question,
        network=network,
        communities=communities,
        story=story,
    )
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
    *,
    network: bool = False,
    communities: bool = False,
    story: bool = False,
    meter: Meter | None = None,
) -> Drawing:
    """Return what `plot` writes for a document, as .html, .svg or .png.

    `meter` counts the model calls for the question. Raises what `plot` does, except for files.
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
    trace = Trace()
    hits: list[Hit] = []
    if question:
        hits = collection.retrieve(question, document=entry.id, meter=meter, path=trace)
    mode = next((step.note for step in trace.root.steps if step.name == "retrieve"), "")
    if network:
        network_picture = read_network(
            collection.store,
            entry,
            question,
            mode,
            read_walked(trace),
            hits=hits,
            with_communities=communities,
        )
        return Drawing(
            _network_file(format, network_picture),
            tuple(hits),
            entities=len(network_picture.figures),
            walked=len(network_picture.walked),
        )
    if story:
        story_picture = read_document_story(collection.store, entry, question, mode, hits)
        content = _story_file(format, story_picture)
        return Drawing(content, tuple(hits), events=len(story_picture.events))
    aspects = entry.graphs.get("aspects")
    order = aspects.facts["aspects"] if aspects else []
    tree_picture = TreePicture(
        title=entry.title,
        author=entry.author,
        layout=lay_out(read_passages(collection.store, entry), order),
        question=question,
        ranks={hit.id: rank for rank, hit in enumerate(hits, start=1)},
    )
    content = _tree_file(format, tree_picture, hits, mode)
    return Drawing(content, tuple(hits), passages=len(tree_picture.passages()))


def refuse_undrawable(file: str | Path | None) -> None:
    """Raise FabulaError for a file that can't be drawn, before any model is asked."""
    suffix = Path(file or "page.html").suffix.lower()
    if suffix not in SUFFIXES:
        raise FabulaError(
            f"A plot is a page or a picture, so end the file in .html, .svg or .png, not as {file}."
        )
    if suffix == ".png":
        refuse_missing_resvg()


def _tree_file(format: str, picture: TreePicture, hits: list[Hit], mode: str) -> bytes:
    if format == ".html":
        return to_tree_page(picture, hits, mode).encode()
    return _svg_or_png(format, draw_trees(picture, alone=True))


def _network_file(format: str, picture: NetworkPicture) -> bytes:
    communities = picture.communities
    groups = find_groups(communities, 0, len(picture.figures)) if communities else ()
    spots = spread(picture.figures, picture.relations, picture.walked, groups)
    if format == ".html":
        return to_network_page(picture, spots).encode()
    return _svg_or_png(format, draw_network(picture, spots, alone=True))


def _story_file(format: str, picture: StoryPicture) -> bytes:
    if format == ".html":
        return to_story_page(picture).encode()
    return _svg_or_png(format, draw_story(picture, alone=True))


def _svg_or_png(format: str, svg: str) -> bytes:
    return to_png(svg) if format == ".png" else svg.encode()


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise FabulaError(f"{file} can't be written: {error.strerror}.") from error
