"""The ids of a collection's documents, page by page, for work on one document after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.store import Store

DOCUMENTS_PER_PAGE = 1_000


def find_document_ids(store: Store, collection: str) -> Iterator[str]:
    """Yield '' for what belongs to the collection itself, then the ids of its documents."""
    yield ""
    title, after = "", ""
    while page := store.rows(
        "core/find_document_ids",
        collection=collection,
        after_title=title,
        after=after,
        limit=DOCUMENTS_PER_PAGE,
    ):
        yield from (row["id"] for row in page)
        title, after = page[-1]["title_key"], page[-1]["id"]
