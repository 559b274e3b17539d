"""Annotations and notes of documents: list, export and remove them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from fabula.app.annotating import annotation_row, read_annotated
from fabula.app.collection import Collection
from fabula.errors import NotFound
from fabula.export.annotated_text import PlacedLayer
from fabula.export.annotation_formats import (
    find_format,
    pack_files,
    write_annotations,
)
from fabula.graph.annotations import NOTES, PlacedAnnotation
from fabula.graph.entries import Entry
from fabula.jobs.start import begin_build
from fabula.service.core.views import View
from fabula.text.anchoring import POSITION, Anchor

if TYPE_CHECKING:
    from fabula.jobs.audit import Audit
    from fabula.jobs.callers import Caller
    from fabula.jobs.queue import Jobs


class AnnotationView(View):
    """An annotation or a note, with its place in the document's present text.

    `start` and `end` are characters of the text, null if its words are not in it. `found` is how
    they were found: position, quote (elsewhere), fuzzy (with small changes) or orphaned.
    """

    layer: str
    id: str
    kind: str
    label: str
    quote: str
    body: str
    group: str
    creator: str
    created: str
    start: int | None
    end: int | None
    found: str

    @classmethod
    def of(cls, layer: str, item: PlacedAnnotation) -> Self:
        """Return the view of an annotation."""
        row: dict[str, Any] = annotation_row(layer, item)
        return cls(**row)


class NoteView(AnnotationView):
    """A note, and the id of the document that it is on."""

    document: str


class AnnotationLayerView(View):
    """A layer of annotations: how many it has, how many moved with the text or lost their place."""

    layer: str
    annotations: int
    moved: int
    orphaned: int
    source: str
    format: str
    by: str
    at: str

    @classmethod
    def of(cls, layer: PlacedLayer) -> Self:
        """Return the view of a layer."""
        record = layer.record
        return cls(
            layer=record.name,
            annotations=len(layer.items),
            moved=layer.moved,
            orphaned=layer.orphaned,
            source=record.source,
            format=record.format,
            by=record.by,
            at=record.at,
        )


def list_layers(collection: Collection, entry: Entry) -> list[AnnotationLayerView]:
    """Return the layers of a document."""
    return [AnnotationLayerView.of(layer) for layer in collection.annotations(entry.id)]


def list_annotations(
    collection: Collection, entry: Entry, layer: str, first: int, limit: int
) -> list[AnnotationView]:
    """Return some of the annotations of a layer, in text order. Raises NotFound."""
    [found] = collection.annotations(entry.id, layer)
    return [
        AnnotationView.of(found.record.name, item) for item in found.items[first : first + limit]
    ]


def remove_layer(
    jobs: Jobs, audit: Audit, caller: Caller, collection: Collection, entry: Entry, layer: str
) -> None:
    """Remove a layer, and start the job that builds the graph without it. Raises NotFound."""
    collection.remove_annotations(entry.id, layer)
    audit.record(caller, "remove annotations", f"{collection.name}/{entry.id}", layer=layer)
    for name in collection.graphs_of_annotations():
        begin_build(jobs, caller, collection, name, [entry.id], rebuild=False)


def export_layers(
    collection: Collection, entry: Entry, format: str, what: Sequence[str], stem: str
) -> tuple[str | bytes, str, str]:
    """Return what is marked in a document: the content, its media type and the end of its name.

    A format of several files is a zip of these, each named by `stem` and its own end.

    Raises:
        NotFound: Nothing is marked.

    """
    found = find_format(format)
    files = write_annotations(read_annotated(collection.store, entry), found, what)
    if len(files) > 1:
        return pack_files(files, stem), "application/zip", f".{found.name}.zip"
    [(end, content)] = files.items()
    return content, found.media, end


def list_notes(collection: Collection, document: str, words: str) -> list[NoteView]:
    """Return notes on a document, or on all with '', that have all of some words."""
    return [
        NoteView(document=layer.record.document, **annotation_row(layer.record.name, item))
        for layer in collection.notes(document, words)
        for item in layer.items
    ]


def add_note(
    caller: Caller,
    collection: Collection,
    entry: Entry,
    quote: str,
    body: str,
    at: str,
    tag: str,
) -> AnnotationView:
    """Keep a note or a highlight; see `Collection.add_note`."""
    note = collection.add_note(entry.id, quote, body, at=at, tag=tag, by=caller.name)
    placed = PlacedAnnotation(note, Anchor(note.start, note.end, POSITION))
    return AnnotationView.of(NOTES, placed)


def find_note(collection: Collection, entry: Entry, id: str) -> NoteView:
    """Return a note by its whole id. Raises NotFound."""
    for note in list_notes(collection, entry.id, ""):
        if note.id == id:
            return note
    raise NotFound("There is no such note on this document: it was removed.")


def edit_note(
    collection: Collection, entry: Entry, id: str, body: str | None, tag: str | None
) -> NoteView:
    """Change a note's text or tag; see `Collection.edit_note`."""
    collection.edit_note(entry.id, id, body, tag, exact=True)
    return find_note(collection, entry, id)


def remove_note(collection: Collection, entry: Entry, id: str) -> None:
    """Remove a note by its id. Raises NotFound."""
    collection.remove_note(entry.id, id, exact=True)
