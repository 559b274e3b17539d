"""Notes and highlights on the words of books: list, search, make, change, remove and download them.

Notes belong to a collection: whoever may read it sees all of them, and whoever may write to it may
change any. All forms work without scripts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.errors import FabulaError
from fabula.graph.entries import Entry
from fabula.graph.reading_place import MAX_PLACE
from fabula.library.collection import Collection
from fabula.operations import notes
from fabula.operations.annotations import AnnotationRow, Annotations
from fabula.operations.exports import WEB_ANNOTATION
from fabula.operations.kit import find_operation
from fabula.operations.notes import MAX_NOTE_CHARACTERS, MAX_TAG_CHARACTERS, SPAN
from fabula.operations.parameters import MAX_ROWS
from fabula.service.core.errors import status_of
from fabula.service.core.views import document_of
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import FilledCollection, ReadDocument, Reader, State, Writer
from fabula.service.page.document_choices import list_choices
from fabula.service.page.rendering import is_language, one_line, show, show_part

router = APIRouter()
Words = Annotated[str, Query(max_length=1000)]
DocumentName = Annotated[str, Query(max_length=2000)]
Place = Annotated[str, Query(max_length=MAX_PLACE)]
Characters = Annotated[str, Query(max_length=50)]
NoteText = Annotated[str, Form(max_length=2 * MAX_NOTE_CHARACTERS)]
"""Browsers send a line break as two characters. The core counts what is kept."""
Tag = Annotated[str, Form(max_length=2 * MAX_TAG_CHARACTERS)]
PAGE_SIZE = 50
"""Notes on one page of the list."""
CONTEXT = 120
"""Characters before and after the words that a new note is on, to recognise the place by."""
MESSAGES = {"changed": "The note was changed.", "removed": "The note was removed."}
"""What the list says after a change, by the parameter `done` of its address."""


@router.get("/c/{collection}/notes")
def list_notes(
    request: Request,
    collection: FilledCollection,
    caller: Reader,
    words: Words = "",
    document: DocumentName = "",
    until: Place = "",
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
    done: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Show the notes of a collection or of a document, those with some words if any are given."""
    status, problem = 200, ""
    entry: Entry | None = None
    found, first = Annotations(0, ()), (page - 1) * PAGE_SIZE
    try:
        entry = collection.document(document) if document else None
        read = collection.as_read(entry.id, until) if entry else collection
        found = notes.list_notes(read, entry.id if entry else "", words, first, PAGE_SIZE)
    except FabulaError as error:
        # The form keeps what was entered, so that it can be corrected.
        status, problem = status_of(error), error.message
        if status >= 500:
            raise
    here = {"words": words, "document": entry.id if entry else "", "until": until}
    values = {
        "collection": collection.name,
        "words": words,
        "chosen": entry,
        "document": entry.id if entry else document,
        "documents": list_choices(collection, entry.id if entry else ""),
        "until": until,
        "problem": problem,
        "count": found.total,
        "rows": _rows(collection, found.rows),
        "page": page,
        "more": found.total > first + PAGE_SIZE,
        "previous_url": address("c", collection.name, "notes", **here, page=page - 1),
        "next_url": address("c", collection.name, "notes", **here, page=page + 1),
        "files": _files(collection, here) if found.total else [],
        "graphs": collection.graphs_of_annotations(),
        "may_write": caller.may("write"),
        "message": MESSAGES.get(done, ""),
    }
    return show(request, "notes.html", values, status)


@router.get("/c/{collection}/d/{document}/notes/beside")
def notes_beside(
    collection: ReadDocument,
    document: str,
    caller: Reader,
) -> Response:
    """Render the notes on a document, which the script of Read puts beside the text."""
    entry = document_of(collection, document)
    found = notes.list_notes(collection, entry.id, limit=MAX_ROWS)
    values = {
        "collection": collection.name,
        "document": entry,
        "notes": [note for note in found.rows if note.start is not None],
        "may_write": caller.may("write"),
    }
    return show_part("notes_beside.html", values)


@router.get("/c/{collection}/d/{document}/notes/new")
def show_new(
    request: Request,
    collection: FilledCollection,
    document: str,
    caller: Writer,
    chars: Characters = "",
) -> Response:
    """Show the form for a note on characters of the text, or on words that are typed."""
    entry = document_of(collection, document)
    return show(request, "note.html", _new_values(collection, entry, chars))


@router.post("/c/{collection}/d/{document}/notes")
def add_note(
    request: Request,
    state: State,
    collection: FilledCollection,
    document: str,
    caller: Writer,
    at: Annotated[str, Form(max_length=50)] = "",
    quote: NoteText = "",
    body: NoteText = "",
    tag: Tag = "",
) -> Response:
    """Keep a note or a highlight, and show it in the text."""
    entry = document_of(collection, document)
    typed = {"quote": quote, "at": at, "body": _unify_lines(body), "tag": tag}
    try:
        note = state.run_operation(
            caller, find_operation("notes.add"), collection, {"document": entry.id, **typed}
        )
    except FabulaError as error:
        status = status_of(error)
        if status >= 500:
            raise
        # Words that were typed stay to be corrected, whatever stands at the characters.
        values = _new_values(collection, entry, "" if quote.strip() else at)
        values |= {"reason": error.message, **typed}
        return show(request, "note.html", values, status)
    return RedirectResponse(_place_of(collection, entry, note), 303)


@router.get("/c/{collection}/d/{document}/notes/{note}")
def show_note(
    request: Request, collection: FilledCollection, document: str, caller: Writer, note: str
) -> Response:
    """Show the form to change a note."""
    entry = document_of(collection, document)
    found = notes.find_note(collection, entry.id, note)
    return show(request, "note.html", _edit_values(collection, entry, found))


@router.post("/c/{collection}/d/{document}/notes/{note}")
def edit_note(
    request: Request,
    state: State,
    collection: FilledCollection,
    document: str,
    caller: Writer,
    note: str,
    body: NoteText = "",
    tag: Tag = "",
) -> Response:
    """Give a note another text and tag, and show the list of notes."""
    entry = document_of(collection, document)
    typed = {"body": _unify_lines(body), "tag": tag}
    try:
        state.run_operation(
            caller,
            find_operation("notes.edit"),
            collection,
            {"document": entry.id, "note": note, **typed},
        )
    except FabulaError as error:
        status = status_of(error)
        if status >= 500 or status == 404:
            raise
        found = notes.find_note(collection, entry.id, note)
        values = _edit_values(collection, entry, found)
        values |= {"reason": error.message, **typed}
        return show(request, "note.html", values, status)
    to = address("c", collection.name, "notes", document=entry.id, done="changed")
    return RedirectResponse(f"{to}#note-{note}", 303)


@router.get("/c/{collection}/d/{document}/notes/{note}/remove")
def confirm_removal(
    request: Request, collection: FilledCollection, document: str, caller: Writer, note: str
) -> Response:
    """Say what is removed with a note."""
    entry = document_of(collection, document)
    found = notes.find_note(collection, entry.id, note)
    words = one_line(found.quote)
    losses = [f"the {found.kind} of {found.creator} on “{words}”"]
    if found.body:
        losses.append(f"its text: “{one_line(found.body)}”")
    values = {
        "collection": collection.name,
        "heading": f"Remove this {found.kind} on",
        "subject": entry.title,
        "losses": losses,
        "stays": "The text stays as it is. This can't be undone.",
        "action": address("c", collection.name, "d", entry.id, "notes", found.id, "remove"),
        "button": f"Remove the {found.kind}",
        "back": address("c", collection.name, "notes", document=entry.id),
    }
    return show(request, "confirm.html", values)


@router.post("/c/{collection}/d/{document}/notes/{note}/remove")
def remove_note(
    state: State, collection: FilledCollection, document: str, caller: Writer, note: str
) -> Response:
    """Remove a note, and show the list of those that are left."""
    entry = document_of(collection, document)
    state.run_operation(
        caller,
        find_operation("notes.remove"),
        collection,
        {"document": entry.id, "note": note},
    )
    to = address("c", collection.name, "notes", document=entry.id, done="removed")
    return RedirectResponse(to, 303)


def _rows(collection: Collection, found: Sequence[AnnotationRow]) -> list[dict[str, Any]]:
    """Return the notes of a page of the list, with their books and chapters."""
    ids = sorted({note.document for note in found})
    entries = {entry.id: entry for entry in collection.open_store().find_same(collection.name, ids)}
    structures = {id: collection.open_store().structure(entry) for id, entry in entries.items()}
    rows = []
    for note in found:
        entry = entries.get(note.document)
        if entry is None:
            continue  # The document was removed meanwhile.
        rows.append(
            {
                "note": note,
                "document": entry,
                "lang": entry.language if is_language(entry.language) else "",
                "section": structures[entry.id].section_at(note.start)
                if note.start is not None
                else "",
                "url": _place_of(collection, entry, note) if note.start is not None else "",
            }
        )
    return rows


def _place_of(collection: Collection, entry: Entry, note: Any) -> str:
    """Return the address of the text that a note is on."""
    chars = f"{note.start}-{note.end}"
    return address("c", collection.name, "d", entry.id, chars=chars) + "#lit"


def _files(collection: Collection, here: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return the address, name and use of each file that the notes can be downloaded as."""
    place = ("api", "v1", "collections", collection.name, "notes", "export")
    files = [(address(*place, **here), "Markdown", "to read, and for Obsidian")]
    # Web Annotations are those of one document, and all of its notes.
    if here["document"] and not here["words"]:
        url = address(*place, format=WEB_ANNOTATION, **here)
        files.append((url, "Web Annotations", "JSON-LD, for other tools"))
    return files


def _new_values(collection: Collection, entry: Entry, chars: str) -> dict[str, Any]:
    """Return the template's values for a new note; words are read from the text, if it has them."""
    before = words = after = ""
    if span := SPAN.fullmatch(chars):
        start, end = int(span[1]), int(span[2])
        first = max(start - CONTEXT, 0)
        rows = (
            collection.open_store().find_chunks(entry, first, end + CONTEXT) if start < end else []
        )
        if rows:
            text, offset = "".join(row["text"] for row in rows), rows[0]["start"]
            before = text[first - offset : start - offset]
            words = text[start - offset : end - offset]
            after = text[end - offset : end - offset + CONTEXT]
            # Words that were cut off at the ends of the context are left out.
            before = re.sub(r"^\S*", "", before) if first else before
            after = re.sub(r"\S*$", "", after) if len(after) == CONTEXT else after
    return {
        "collection": collection.name,
        "document": entry,
        "lang": entry.language if is_language(entry.language) else "",
        "note": None,
        "chars": f"{span[1]}-{span[2]}" if span and words.strip() else "",
        "before": before,
        "words": words,
        "after": after,
        "quote": "",
        "at": "",
        "body": "",
        "tag": "",
        "action": address("c", collection.name, "d", entry.id, "notes"),
        "back": address("c", collection.name, "d", entry.id, chars=chars if words else ""),
    }


def _edit_values(collection: Collection, entry: Entry, note: AnnotationRow) -> dict[str, Any]:
    """Return the template's values to change a note."""
    return {
        "collection": collection.name,
        "document": entry,
        "lang": entry.language if is_language(entry.language) else "",
        "note": note,
        "words": note.quote,
        "body": note.body,
        "tag": note.label,
        "action": address("c", collection.name, "d", entry.id, "notes", note.id),
        "back": address("c", collection.name, "notes", document=entry.id),
    }


def _unify_lines(text: str) -> str:
    """Return a text with the line breaks of texts here, and not with those of HTML's forms."""
    return text.replace("\r\n", "\n")
