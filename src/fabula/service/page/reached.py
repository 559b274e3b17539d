"""Up to where a reader has read a book that is drawn: what the pages say of what they hide."""

from __future__ import annotations

from typing import Any

from fabula.graph.entries import Entry
from fabula.library.collection import Collection
from fabula.service.http.addresses import address


def describe_reached(
    collection: Collection, entry: Entry, *parts: str, q: str = ""
) -> dict[str, Any]:
    """Return the template's values that say what is hidden, and lead to the whole book.

    Args:
        collection: The collection, as far as the reader has read.
        entry: The book.
        *parts: The parts of the page's address below the book.
        q: The question of the page.
    """
    place = collection.place
    paths = collection.open_store().structure(entry).paths
    here = ("c", collection.name, "d", entry.id, *parts)
    return {
        "until": place.said if place else "",
        "reached": place or collection.reading_place("100%", entry.id),
        # The section in which the place is: a character alone tells a reader nothing.
        "reached_section": paths[-1] if paths else "",
        "whole_book": address(*here, q=q, until="100%"),
        "as_far_as_read": address(*here, q=q),
    }
