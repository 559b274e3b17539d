"""Note or highlight words of documents, and list, search, change and remove what was noted.

Notes belong to the collection: everybody who may read it sees them, and who may write to it may
change those of others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fabula.errors import BadValue, NotFound
from fabula.graph.annotations import (
    HIGHLIGHT,
    NOTE,
    NOTES,
    Annotation,
    AnnotationLayer,
    LayerRecord,
    PlacedAnnotation,
    make_layer,
    place_annotations,
    text_digest,
)
from fabula.graph.entries import Entry
from fabula.operations.annotations import AnnotationRow, Annotations, make_row
from fabula.operations.kit import Build, Mark, build_now, operation
from fabula.operations.parameters import Document, First, Limit, NamedDocument, Who
from fabula.text.anchoring import POSITION, Anchor, QuoteFinder, TextQuote, quote_at
from fabula.text.document import Document as Text
from fabula.text.folding import fold_name
from fabula.text.ids import digest
from fabula.text.names import name_problem, quote_name

# What imports Neo4j's driver is imported in the functions: help has to be shown without it.
if TYPE_CHECKING:
    from fabula.library.collection import Collection

GROUP = "Notes"
MAX_NOTE_CHARACTERS = 20_000
"""Of the text of a note."""
MAX_TAG_CHARACTERS = 200
"""Of its tag."""
ID_DIGITS = 12
"""Of the id of a note."""
MIN_ID_DIGITS = 6
"""Of the beginning of an id, by which a note may be named."""
SPAN = re.compile(r"\s*(\d{1,9})\s*-\s*(\d{1,9})\s*")
"""Characters of a text, as 120-340."""
NoteId = Annotated[
    str,
    Field(
        min_length=MIN_ID_DIGITS,
        max_length=100,
        description=f"the id of a note, or {MIN_ID_DIGITS} or more of its first characters",
    ),
]
NoteWords = Annotated[
    str,
    Field(
        max_length=1000,
        description="words that a note, its tag or the words that it is on must all have; case and "
        "accents do not count",
    ),
]


@operation(
    "/collections/{collection}/notes",
    group=GROUP,
    title="List",
    command="notes list",
    positional=["document"],
    hides_unread=True,
    examples=("notes list", 'notes list "A Christmas Carol"', "notes list --words line --json"),
)
def list_notes(
    collection: Collection,
    document: Document = "",
    words: NoteWords = "",
    first: First = 0,
    limit: Limit = 100,
) -> Annotations:
    """List or search the notes and highlights on a document, or on all.

    They are those of everybody. `fabula read 3` shows the text that the third is on.

    Raises:
        NotFound: There is no such document.
    """
    rows = [
        make_row(entry, NOTES, item)
        for entry, items in _find_notes(collection, document, words)
        for item in items
    ]
    return Annotations(len(rows), tuple(rows[first : first + limit]))


@operation(
    "/collections/{collection}/documents/{document}/notes",
    group=GROUP,
    title="Add",
    command="notes add",
    role="write",
    method="POST",
    status=201,
    positional=["document", "quote"],
    examples=(
        'notes add Carol "MARLEY was dead: to begin with." --body "A line."',
        "notes add Carol --at 200-240 --tag irony",
    ),
)
def add_note(
    collection: Collection,
    document: NamedDocument,
    quote: Annotated[
        str,
        Field(
            max_length=MAX_NOTE_CHARACTERS,
            description="the words that it is on, as the text has them but for white space",
        ),
    ] = "",
    body: Annotated[
        str,
        Field(
            max_length=MAX_NOTE_CHARACTERS,
            description="the note; without one the words are highlighted",
        ),
    ] = "",
    at: Annotated[
        str,
        Field(
            max_length=50,
            description="the characters that it is on, as 120-340; needed where the words stand "
            "several times",
        ),
    ] = "",
    tag: Annotated[str, Field(max_length=MAX_TAG_CHARACTERS, description="a tag")] = "",
    build: Annotated[
        bool, Field(description="build the graph of annotations now"), Mark.AT_THIS_MACHINE
    ] = False,
    by: Who = "",
) -> AnnotationRow:
    """Note something on words of a document, or highlight them.

    Everybody who may read the collection sees it, with the name of who made it. It can be asked
    once the graph of annotations is built again.

    Raises:
        BadValue: It does not say what it is on.
        NotFound: There is no such document, or the text does not have the words just once.
    """
    from fabula.library.annotating import read_text_of
    from fabula.library.current_user import current_user
    from fabula.store.annotations import edit_layer

    _refuse_tag(tag)
    entry = collection.document(document)
    text = read_text_of(collection.open_store(), entry)
    start, end = _find_words(text, quote, at)
    now, by = datetime.now(UTC), by or current_user()
    note = Annotation(
        quote_at(text.text, start, end),
        NOTE if body.strip() else HIGHLIGHT,
        tag.strip(),
        body.strip(),
        digest(ID_DIGITS // 2, "note", str(start), str(end), body, tag, by, now.isoformat()),
        creator=by,
        created=now.isoformat(timespec="seconds"),
    )
    sha = text_digest(text.text)

    def add(layer: AnnotationLayer | None) -> AnnotationLayer:
        record = LayerRecord(NOTES, entry.id, by=by, text=sha)
        previous = layer.annotations if layer else ()
        if layer is not None and layer.record.text != sha:
            # The text was edited since: what stands in it is given its present place.
            previous = tuple(
                replace(a, quote=quote_at(text.text, anchor.start, anchor.end)) if anchor else a
                for a, anchor in place_annotations(text.text, layer)
            )
        return make_layer(record, (*previous, note))

    edit_layer(collection.open_store(), entry.collection, entry.id, NOTES, add)
    if build:
        for name in collection.graphs_of_annotations():
            build_now(collection, Build(name, (entry.id,)))
    return make_row(entry, NOTES, PlacedAnnotation(note, Anchor(start, end, POSITION)))


@operation(
    "/collections/{collection}/documents/{document}/notes/{note}",
    group=GROUP,
    title="Edit",
    command="notes edit",
    role="write",
    method="PATCH",
    positional=["document", "note"],
    examples=('notes edit Carol 3fa2c1 --body "Is he?" --tag death',),
)
def edit_note(
    collection: Collection,
    document: NamedDocument,
    note: NoteId,
    body: Annotated[
        str | None,
        Field(
            max_length=MAX_NOTE_CHARACTERS,
            description="its new text; '' makes it a highlight. Without one the text stays",
        ),
    ] = None,
    tag: Annotated[
        str | None,
        Field(
            max_length=MAX_TAG_CHARACTERS,
            description="its new tag; '' for none. Without one the tag stays",
        ),
    ] = None,
) -> AnnotationRow:
    """Change the text or the tag of a note; its words, its id, its maker and its date stay.

    Raises:
        BadValue: Nothing is to be changed.
        NotFound: There is no such document or note, or there are several such notes.
    """
    entry = collection.document(document)
    if body is None and tag is None:
        raise BadValue("Give the new text of the note (body) or its new tag (tag).")
    _refuse_tag(tag or "")

    def edit(known: Annotation) -> Annotation:
        text = known.body if body is None else body.strip()
        label = known.label if tag is None else tag.strip()
        return replace(known, kind=NOTE if text else HIGHLIGHT, label=label, body=text)

    return _change_note(collection, entry, note, edit)


@operation(
    "/collections/{collection}/documents/{document}/notes/{note}",
    group=GROUP,
    title="Remove",
    command="notes remove",
    role="write",
    method="DELETE",
    status=204,
    positional=["document", "note"],
    examples=("notes remove Carol 3fa2c1",),
)
def remove_note(collection: Collection, document: NamedDocument, note: NoteId) -> AnnotationRow:
    """Remove a note, and tell what it was.

    Raises:
        NotFound: There is no such document or note, or there are several such notes.
    """
    return _change_note(collection, collection.document(document), note, lambda _: None)


def write_markdown(collection: Collection, document: str = "", words: str = "") -> str:
    """Return notes as Markdown, one document after the other.

    Args:
        collection: The collection.
        document: An id, title or file; '' for all documents.
        words: Only notes with these words, as in `list_notes`.

    Raises:
        NotFound: There are no notes, or there is no such document.
    """
    from fabula.export.notes_markdown import notes_markdown

    parts = [
        notes_markdown(entry, items, collection.open_store().structure(entry))
        for entry, items in _find_notes(collection, document, words)
        if items
    ]
    if not parts:
        raise NotFound("There are no notes: `fabula notes add` makes one.")
    return "\n".join(parts)


def _find_notes(
    collection: Collection, document: str, words: str
) -> list[tuple[Entry, list[PlacedAnnotation]]]:
    """Return documents by title, and their notes that have all of some words."""
    from fabula.library.annotating import read_annotated
    from fabula.store.annotations import read_records

    store = collection.open_store()
    if document or collection.place:
        entries = [collection.document(document)]
    else:
        records = read_records(store, collection.name)
        ids = [record.document for record in records if record.name == NOTES]
        entries = store.find_same(collection.name, ids)
    sought = fold_name(words).split()
    found = []
    for entry in sorted(entries, key=lambda each: (each.title, each.id)):
        layers = read_annotated(store, entry, with_findings=False, layer=NOTES).layers
        items = [item for layer in layers for item in layer.items if _has(item.annotation, sought)]
        found.append((entry, items))
    return found


def _has(note: Annotation, sought: Sequence[str]) -> bool:
    """Whether a note, its tag or its words have all of some folded words."""
    said = fold_name(" ".join((note.label, note.body, note.quote.exact)))
    return all(word in said for word in sought)


def _change_note(
    collection: Collection,
    entry: Entry,
    note: str,
    change: Callable[[Annotation], Annotation | None],
) -> AnnotationRow:
    """Replace a note by what `change` makes of it, None for nothing; return it, or what it was."""
    from fabula.store.annotations import edit_layer

    shown: list[tuple[AnnotationLayer, Annotation]] = []

    def replace_in(layer: AnnotationLayer | None) -> AnnotationLayer | None:
        chosen = _choose(layer, note, entry)
        assert layer is not None
        changed = change(chosen)
        shown[:] = [(layer, changed or chosen)]
        kept = [each for each in layer.annotations if each is not chosen]
        kept += [changed] if changed else []
        return make_layer(layer.record, kept) if kept else None

    edit_layer(collection.open_store(), entry.collection, entry.id, NOTES, replace_in)
    return _place(collection, entry, *shown[0])


def _choose(layer: AnnotationLayer | None, note: str, entry: Entry) -> Annotation:
    """Return the note of an id, or of the beginning of one."""
    notes = layer.annotations if layer else ()
    chosen = [each for each in notes if each.id == note]
    # A whole id is the beginning of no other, but an equal note has it with a number.
    if not chosen and len(note) < ID_DIGITS:
        chosen = [each for each in notes if each.id.startswith(note)]
    if len(chosen) != 1:
        what = "several notes have" if chosen else "no note has"
        raise NotFound(f"In {entry.title} {what} the id {quote_name(note)}.")
    return chosen[0]


def _place(
    collection: Collection, entry: Entry, layer: AnnotationLayer, note: Annotation
) -> AnnotationRow:
    """Return a note of a layer with its place in the document's present text."""
    from fabula.library.annotating import read_text_of

    text = read_text_of(collection.open_store(), entry).text
    [item] = place_annotations(text, replace(layer, annotations=(note,)))
    return make_row(entry, NOTES, item)


def _refuse_tag(tag: str) -> None:
    """Raise BadValue for a tag that can't be a name."""
    if problem := name_problem(tag):
        raise BadValue(f"The tag {quote_name(tag)} {problem}.")


def _find_words(document: Text, quote: str, at: str) -> tuple[int, int]:
    """Return the characters of a note; raises NotFound and BadValue as `add_note`."""
    text = document.text
    span = SPAN.fullmatch(at)
    if at.strip() and not span:
        raise BadValue(f"Give the characters of a note as 120-340, not as {quote_name(at)}.")
    if span:
        start, end = int(span[1]), int(span[2])
        if not start < end <= len(text):
            raise NotFound(f"{document.title} has no characters {start}-{end}.")
        if quote and " ".join(text[start:end].split()) != " ".join(quote.split()):
            raise NotFound(
                f"Characters {start}-{end} of {document.title} are "
                f"{quote_name(' '.join(text[start:end].split()))}, not {quote_name(quote)}."
            )
        return start, end
    words = quote.split()
    if not words:
        raise BadValue("Say what the note is on: words of the text, or characters as 120-340.")
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    matches = [match.span() for match in pattern.finditer(text)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        places = ", ".join(f"{start}-{end}" for start, end in matches[:5])
        raise NotFound(
            f"{document.title} has these words {len(matches):,} times: name one by its characters "
            f"({places}{', …' if len(matches) > 5 else ''})."
        )
    if anchor := QuoteFinder(text).find(TextQuote(" ".join(words))):
        near = " ".join(text[anchor.start : anchor.end].split())
        raise NotFound(
            f"{document.title} does not have these words; the nearest are {quote_name(near)} "
            f"(characters {anchor.start}-{anchor.end})."
        )
    raise NotFound(f"{document.title} does not have the words {quote_name(quote)}.")
