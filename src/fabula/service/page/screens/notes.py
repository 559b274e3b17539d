"""The notes on a document, which the script of Read puts beside the text."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from fabula.operations import notes
from fabula.operations.parameters import MAX_ROWS
from fabula.service.core.views import document_of
from fabula.service.http.dependencies import ReadDocument, Reader
from fabula.service.page.rendering import show_part

router = APIRouter()


@router.get("/c/{collection}/d/{document}/notes/beside")
def notes_beside(collection: ReadDocument, document: str, caller: Reader) -> Response:
    """Render the notes on a document."""
    entry = document_of(collection, document)
    found = notes.list_notes(collection, entry.id, limit=MAX_ROWS)
    values = {
        "collection": collection.name,
        "document": entry,
        "notes": [note for note in found.rows if note.start is not None],
        "may_write": caller.may("write"),
    }
    return show_part("notes_beside.html", values)
