"""List the layers of annotations of documents, and what they mark; remove one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fabula.graph.annotations import MAX_LAYER_CHARACTERS, LayerRecord, PlacedAnnotation
from fabula.graph.entries import Entry
from fabula.operations.kit import Build, Column, Hidden, operation
from fabula.operations.parameters import Document, DryRun, First, Limit, NamedDocument
from fabula.text.nouns import count_noun

# What imports Neo4j's driver is imported in the functions: help has to be shown without it.
if TYPE_CHECKING:
    from fabula.library.collection import Collection

GROUP = "Annotations"
MAX_CELL = 80
"""Characters of a quotation or a note in a table."""


@dataclass(frozen=True)
class LayerRow:
    """A layer of annotations that was imported, or that of notes.

    Attributes:
        document: The id of its document.
        title: The title of that.
        layer: Its name.
        annotations: How many it has.
        moved: How many stand elsewhere than when they were imported; None where the layers of all
            documents are listed, as it takes the text of a document to know.
        orphaned: How many have words that are not in the text; None likewise.
        source: The file that it was imported from; '' for notes.
        format: The format of that file.
        by: Who imported it.
        at: When, in ISO 8601.
    """

    document: Annotated[str, Hidden]
    title: str
    layer: str
    annotations: int
    moved: int | None
    orphaned: int | None
    source: str
    format: Annotated[str, Hidden]
    by: str
    at: Annotated[str, Hidden]


@dataclass(frozen=True)
class Layers:
    """Layers by their documents and names."""

    total: int
    rows: tuple[LayerRow, ...]


@dataclass(frozen=True)
class AnnotationRow:
    """An annotation or a note, with its place in the document's present text.

    Attributes:
        document: The id of the document.
        title: Its title.
        start: The first character of the words in the text; None if they are not in it.
        end: The one after their last; None likewise.
        quote: The words.
        body: What is said of them: the text of a note.
        label: The tag, the name of the entity, or the speaker.
        layer: The name of the layer.
        kind: "note", "highlight", "entity", "quotation", "event", "tag" or what the file says.
        creator: Who made it.
        created: When.
        found: How the words were found: "position", "quote" (elsewhere), "fuzzy" (with small
            changes) or "orphaned".
        group: What it has in common with others, as all mentions of a person have.
        id: Its id in its layer.
    """

    document: Annotated[str, Hidden]
    title: Annotated[str, Column("in")]
    start: Annotated[int | None, Hidden]
    end: Annotated[int | None, Hidden]
    quote: Annotated[str, Column("words", max_characters=MAX_CELL)]
    body: Annotated[str, Column("note", max_characters=MAX_CELL)]
    label: Annotated[str, Column("tag")]
    layer: str
    kind: str
    creator: Annotated[str, Column("by")]
    created: Annotated[str, Hidden]
    found: Annotated[str, Column("found by")]
    group: Annotated[str, Hidden]
    id: Annotated[str, Column(opens="edit-note")]


@dataclass(frozen=True)
class Annotations:
    """Annotations in the order of the text, layer by layer."""

    total: int
    rows: tuple[AnnotationRow, ...]


def make_row(entry: Entry, layer: str, item: PlacedAnnotation) -> AnnotationRow:
    """Return an annotation of a document with its place."""
    annotation, anchor = item
    names = ("body", "label", "kind", "creator", "created", "group", "id")
    return AnnotationRow(
        document=entry.id,
        title=entry.title,
        start=anchor.start if anchor else None,
        end=anchor.end if anchor else None,
        quote=annotation.quote.exact,
        layer=layer,
        found=anchor.how if anchor else "orphaned",
        **{name: getattr(annotation, name) for name in names},
    )


@operation(
    "/collections/{collection}/annotations",
    group=GROUP,
    title="Layers",
    command="annotations list",
    positional=["document"],
    hides_unread=True,
    examples=("annotations list", 'annotations list "A Christmas Carol"'),
)
def list_annotation_layers(
    collection: Collection, document: Document = "", first: First = 0, limit: Limit = 100
) -> Layers:
    """List the layers of annotations of a document, or of all.

    What was imported from a file is a layer, and so are the notes on a document.
    `fabula annotations show` lists the annotations of a layer.

    Raises:
        NotFound: There is no such document.
    """
    from fabula.library.annotating import read_annotated
    from fabula.store.annotations import read_records

    store = collection.open_store()
    if document or collection.place:
        entry = collection.document(document)
        layers = read_annotated(store, entry, with_findings=False).layers
        rows = [
            _make_layer_row(entry, each.record, len(each.items), each.moved, each.orphaned)
            for each in layers
        ]
    else:
        records = read_records(store, collection.name)
        ids = sorted({record.document for record in records})
        entries = {entry.id: entry for entry in store.find_same(collection.name, ids)}
        rows = [
            _make_layer_row(entries[record.document], record, record.count)
            for record in records
            if record.document in entries
        ]
        rows.sort(key=lambda row: (row.title, row.document))
    return Layers(len(rows), tuple(rows[first : first + limit]))


def _make_layer_row(
    entry: Entry,
    record: LayerRecord,
    count: int,
    moved: int | None = None,
    orphaned: int | None = None,
) -> LayerRow:
    known = {name: getattr(record, name) for name in ("source", "format", "by", "at")}
    return LayerRow(entry.id, entry.title, record.name, count, moved, orphaned, **known)


@operation(
    "/collections/{collection}/documents/{document}/annotations",
    group=GROUP,
    title="Annotations",
    command="annotations show",
    positional=["document"],
    hides_unread=True,
    examples=(
        'annotations show "A Christmas Carol"',
        'annotations show "A Christmas Carol" --layer notes',
        'annotations show "A Christmas Carol" --orphaned',
    ),
)
def list_annotations(
    collection: Collection,
    document: NamedDocument,
    layer: Annotated[
        str, Field(max_length=MAX_LAYER_CHARACTERS, description="only this layer")
    ] = "",
    orphaned: Annotated[
        bool, Field(description="only those whose words are not in the text")
    ] = False,
    first: First = 0,
    limit: Limit = 100,
) -> Annotations:
    """List the annotations of a document, with their places in its present text.

    Raises:
        NotFound: There is no such document or layer.
    """
    from fabula.library.annotating import read_annotated
    from fabula.store.annotations import read_layers

    entry = collection.document(document)
    text = read_annotated(collection.open_store(), entry, with_findings=False, layer=layer)
    if layer and not text.layers:
        read_layers(
            collection.open_store(), entry.collection, entry.id, layer
        )  # says which there are
    rows = [
        make_row(entry, each.record.name, item)
        for each in text.layers
        for item in each.items
        if not orphaned or item.anchor is None
    ]
    return Annotations(len(rows), tuple(rows[first : first + limit]))


@dataclass(frozen=True)
class RemovedLayer:
    """A layer that was removed, or would be, and what has to be built without it.

    Attributes:
        document: The id of its document.
        title: The title of that.
        layer: Its name.
        annotations: How many it had.
        dry_run: Whether nothing was removed.
        build: The graph that is made of annotations.
        job: The id of the job that builds it; '' if there is none.
    """

    document: str
    title: str
    layer: str
    annotations: int
    dry_run: bool
    build: Build
    job: str = ""

    @property
    def audited(self) -> Mapping[str, object]:
        """What the audit says of it."""
        return {"layer": self.layer}

    def to_text(self) -> str:
        """Return what was removed, or would be."""
        verb = "would remove" if self.dry_run else "removed"
        what = count_noun(self.annotations, "annotation")
        return f"{verb} {self.layer} from {self.title}: {what}"


@operation(
    "/collections/{collection}/documents/{document}/annotations/layers/{layer}",
    group=GROUP,
    command="annotations remove",
    role="write",
    method="DELETE",
    positional=["document", "layer"],
    has_screen=False,
    starts_job=True,
    examples=('annotations remove "A Christmas Carol" carol --yes',),
)
def remove_layer(
    collection: Collection,
    document: NamedDocument,
    layer: Annotated[
        str,
        Field(min_length=1, max_length=MAX_LAYER_CHARACTERS, description="the name of the layer"),
    ],
    later: Annotated[bool, Field(description="do not build the graph of annotations now")] = False,
    dry_run: DryRun = False,
) -> RemovedLayer:
    """Remove a layer of a document with all its annotations.

    Raises:
        NotFound: There is no such document or layer.
    """
    from fabula.store.annotations import edit_layer, read_layers

    entry = collection.document(document)
    [found] = read_layers(collection.open_store(), entry.collection, entry.id, layer)
    if not dry_run:
        edit_layer(collection.open_store(), entry.collection, entry.id, layer, lambda _: None)
    graphs = () if dry_run else collection.graphs_of_annotations()
    build = Build(next(iter(graphs), ""), (entry.id,) if graphs else (), later)
    return RemovedLayer(entry.id, entry.title, layer, found.record.count, dry_run, build)
