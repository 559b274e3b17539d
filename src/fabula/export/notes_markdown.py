"""Write notes on a document as Markdown: each under the words that it is on."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.export.markdown import escape_markdown
from fabula.graph.annotations import PlacedAnnotation
from fabula.graph.entries import Entry
from fabula.graph.structure import TextStructure
from fabula.text.locator import name_labels


def notes_markdown(
    document: Entry, notes: Sequence[PlacedAnnotation], structure: TextStructure
) -> str:
    """Return notes as Markdown, in text order; what lost its place comes last.

    Args:
        document: The document that they are on.
        notes: The notes.
        structure: Where its sections, pages and lines begin.
    """
    by = f" by {escape_markdown(document.author)}" if document.author else ""
    parts = [f"# Notes on *{escape_markdown(document.title)}*{by}"]
    placed = [item for item in notes if item.anchor]
    placed.sort(key=lambda item: (item.anchor.start if item.anchor else 0, item.annotation.id))
    section = ""
    for item in placed:
        assert item.anchor is not None
        path = structure.section_at(item.anchor.start)
        if path and path != section:
            parts.append(f"## {escape_markdown(path)}")
        section = path
        parts.append(_note(item, structure))
    lost = [item for item in notes if item.anchor is None]
    if lost:
        parts.append("## No longer in the text")
        parts += [_note(item, structure) for item in lost]
    return "\n\n".join(parts) + "\n"


def _note(item: PlacedAnnotation, structure: TextStructure) -> str:
    annotation, anchor = item
    where = ""
    if anchor:
        spans = [(anchor.start, anchor.end)]
        labels = (
            name_labels("page", structure.pages.range(spans)),
            name_labels("line", structure.lines.range(spans)),
            f"characters {anchor.start}-{anchor.end}",
        )
        where = ", ".join(filter(None, labels))
    paragraphs = filter(None, map(escape_markdown, annotation.quote.exact.split("\n\n")))
    quoted = "\n>\n".join(f"> {paragraph}" for paragraph in paragraphs)
    tag = f"**{escape_markdown(annotation.label)}**" if annotation.label else ""
    who = " · ".join(filter(None, (annotation.creator, annotation.created[:10], where)))
    text = "\n\n".join(escape_markdown(each) for each in annotation.body.split("\n\n") if each)
    return "\n\n".join(filter(None, [quoted, tag, text, f"— {escape_markdown(who)}"]))
