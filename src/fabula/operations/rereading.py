"""What another reading of a document's file would change in its text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.errors import LoadError
from fabula.graph.entries import Entry
from fabula.load import load
from fabula.text.document import Document, Section

if TYPE_CHECKING:
    from fabula.store import Store


def describe_rereading(store: Store, entry: Entry, max_bytes: int) -> str:
    """Read a document's file, of at most so many bytes, and say what is another than in the graph.

    Nothing is written.
    """
    file = Path(entry.source)
    if not file.is_file():
        return f"its file {entry.source} is not here."
    try:
        document = load(file, entry.collection, max_bytes)
    except LoadError as error:
        return str(error)
    what = "; ".join(_find_changes(store, entry, document)) or "the same text"
    return f"`fabula ingest {entry.source}` would bring {what}."


def _find_changes(store: Store, entry: Entry, document: Document) -> list[str]:
    structure = store.structure(entry)
    text = "".join(row["text"] for row in store.find_chunks(entry))
    kinds = [locator.kind for locator in document.locators if locator.label]
    sections = structure.outline.sections
    lines = len(list(filter(None, structure.lines.labels)))
    counts = {
        "characters": (len(text), len(document.text)),
        "sections": (len(sections), len(document.sections)),
        "printed pages": (len(structure.pages.labels), kinds.count("page")),
        "numbered lines": (lines, kinds.count("line")),
    }
    changes = [
        f"{now:,} {what} instead of {was:,}" for what, (was, now) in counts.items() if was != now
    ]
    is_same = text == document.text and _headings(sections) == _headings(document.sections)
    return changes or ([] if is_same else ["other words or headings"])


def _headings(sections: Iterable[Section]) -> list[tuple[int, str]]:
    return [(section.start, section.title) for section in sections]
