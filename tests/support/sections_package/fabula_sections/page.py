"""A screen of the page: the sections of a collection's documents."""

from __future__ import annotations

from html import escape

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from fabula.service.http.dependencies import FilledCollection, Reader
from fabula.service.page.screen import Screen
from fabula_sections.command import headings

router = APIRouter()


@router.get("/c/{collection}/sections")
def list_sections(collection: FilledCollection, caller: Reader) -> HTMLResponse:
    """The headings of all documents."""
    names = [
        name
        for entry in collection.store.documents(collection.name)
        for name in headings(collection, entry.id)
    ]
    items = "".join(f"<li>{escape(name)}</li>" for name in names)
    return HTMLResponse(f"<!doctype html><title>Sections</title><ul>{items}</ul>")


SCREEN = Screen("Sections", "/c/{collection}/sections", needs_books=True, router=router)
