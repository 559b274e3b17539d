"""The documents that a form offers to choose from."""

from __future__ import annotations

from itertools import islice

from fabula.library.collection import Collection

MAX_CHOICES = 300
"""Documents in a list to choose from; with more there is a text field instead."""


def list_choices(collection: Collection, document: str = "") -> list[tuple[str, str]]:
    """Return the ids and titles of a collection's documents; none if there are too many.

    `document` is the one that was chosen: it is among them, whatever it is.
    """
    entries = islice(collection.documents(), MAX_CHOICES + 1)
    documents = [(entry.id, entry.title) for entry in entries]
    if len(documents) > MAX_CHOICES:
        return []
    if document and document not in {id for id, _ in documents}:
        documents.append((document, document))
    return documents
