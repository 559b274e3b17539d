"""Up to where a reader has read a book that is drawn: what the pages say of what they hide."""

from __future__ import annotations

from typing import Any

from fabula.app.collection import Collection
from fabula.graph.entries import Entry
from fabula.service.http.addresses import address


def describe_reached(
    collection: Collection, entry: Entry, until: str, *parts: str, q: str = ""
) -> dict[str, Any]:
    """Return the template's values that say what is hidden, and lead to the whole book.

    Args:
        collection: The collection.
        entry: The book.
        until: The place, as the address names it; '' if it names none.
        *parts: The parts of the page's address below the book.
        q: The question of the page.

    """
    reached = collection.reading_place(until or "100%", entry.id)
    structure = collection.store.structure(entry)
    sections = structure.outline.sections
    read = [at for at, section in enumerate(sections) if section.start < reached.end]
    here = ("c", collection.name, "d", entry.id, *parts)
    return {
        "until": until,
        "reached": reached,
        # The section in which the place is: a character alone tells a reader nothing.
        "reached_section": structure.paths[read[-1]] if read else "",
        "whole_book": address(*here, q=q, until="100%"),
        "as_far_as_read": address(*here, q=q),
    }
