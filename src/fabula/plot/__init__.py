"""A document's graph as a picture: a page to explore, an SVG or a PNG."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from fabula.collection import Collection
from fabula.errors import FabulaError
from fabula.model import Hit
from fabula.plot.layout import lay_out
from fabula.plot.page import to_page
from fabula.plot.png import has_fonts, refuse_missing, to_png
from fabula.plot.reading import read
from fabula.plot.svg import Picture, draw
from fabula.retrieve.path import Path as Steps

SUFFIXES = (".html", ".svg", ".png")
LONGEST = 100
"""Characters of a title in a file's name."""


@dataclass(frozen=True, slots=True)
class Plotted:
    """The file that was written, what is drawn in it, and whether its words are."""

    file: Path
    passages: int
    hits: tuple[Hit, ...]
    has_words: bool

    def _repr_html_(self) -> str:
        """In a notebook a picture is seen; a page, which has scripts, is only named."""
        said = f"{escape(str(self.file))}: {self.passages:,} passages"
        kind = {".svg": "svg+xml", ".png": "png"}.get(self.file.suffix.lower())
        if not kind:
            return f"<p>{said}</p>"
        data = b64encode(self.file.read_bytes()).decode()
        return f'<img alt="{said}" src="data:image/{kind};base64,{data}" style="max-width: 100%">'


def plot(
    collection: Collection, document: str, file: str | Path | None = None, question: str = ""
) -> Plotted:
    """Draws a document, named by id, title or file, into `file`: .html, .svg or .png.

    Without one, into a page named by the title, in the current folder; a file that is there is
    replaced. What the settings' mode finds for `question` is highlighted. Raises NotFound for the
    document, FabulaError for a file that can't be written, or is none of these, and StoreError
    where the document changes meanwhile.
    """
    refuse_undrawable(file)
    entry = collection.document(document)
    target = Path(file or f"{_name(entry.title) or entry.id}.html")
    steps = Steps()
    hits = collection.retrieve(question, document=entry.id, path=steps) if question else []
    mode = steps.root.steps[0].note if question else ""
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
    content = _content(target.suffix.lower(), picture, hits, mode)
    try:
        target.write_bytes(content)
    except OSError as error:
        raise FabulaError(f"{target} can't be written: {error.strerror}.") from error
    has_words = target.suffix.lower() != ".png" or has_fonts()
    return Plotted(target, len(picture.passages()), tuple(hits), has_words)


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


def _name(title: str) -> str:
    """A title as the name of a file that every system takes."""
    return re.sub(r"[^\w ,;()'&-]+", " ", title).strip(" .")[:LONGEST].strip()
