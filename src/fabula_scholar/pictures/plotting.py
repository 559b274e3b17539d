"""Draw a document into a file."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from pathlib import Path

from fabula.errors import FabulaError
from fabula.graph.hits import Hit
from fabula.library.collection import Collection
from fabula.library.drawing import TREES, draw_document, refuse_undrawable
from fabula.text.names import file_name
from fabula_scholar.pictures.shared.png import has_fonts


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


def plot(
    collection: Collection,
    document: str,
    file: str | Path | None = None,
    question: str = "",
    picture: str = TREES,
) -> Plotted:
    """Draw a document into a file: its aspect trees, unless another picture is chosen.

    Args:
        collection: The collection of the document; for a reader with a place, nothing of what comes
            later is drawn.
        document: Its id, title or file.
        file: What to write; the suffix .html, .svg or .png decides what it is, and an existing file
            is replaced. By default a page, named by the title, in the current folder.
        question: Highlight what the settings' mode finds for this question, and in a network the
            entities that it visited.
        picture: The name of one of `pictures()`.

    Raises:
        NotFound: There is no such document or picture, or the document lacks the graph that is
            drawn.
        StoreError: The document changed while it was read.
        FabulaError: The file can't be written or has another suffix.
    """
    refuse_undrawable(file)
    entry = collection.document(document)
    suffix = "" if picture == TREES else f" ({picture})"
    target = Path(file or f"{file_name(entry.title, entry.id)}{suffix}.html")
    format = target.suffix.lower()
    drawing = draw_document(collection, entry, format, question, picture)
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


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise FabulaError(f"{file} can't be written: {error.strerror}.") from error
