"""Annotations of a document: read them, keep a layer that is imported, remove one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fabula.errors import BadValue, LoadError, NotFound
from fabula.export.annotated_text import AnnotatedText, PlacedLayer, merge_findings
from fabula.export.annotation_formats import AnnotationFormat
from fabula.export.annotation_sandbox import read_and_anchor
from fabula.graph import TEXT
from fabula.graph.annotations import (
    NOTES,
    Annotation,
    AnnotationLayer,
    LayerRecord,
    make_layer,
    place_annotations,
    text_digest,
)
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs
from fabula.graph.method import BuildText
from fabula.graph.parts import chunks_of, document_of
from fabula.graph.parts_until import restrict_parts
from fabula.library.current_user import current_user
from fabula.load import sandbox
from fabula.models.stop import Stop
from fabula.store.annotations import edit_layer, read_layers
from fabula.store.part_reader import read_parts
from fabula.text.document import Document
from fabula.text.names import name_problem, quote_name

if TYPE_CHECKING:
    from fabula.store import Store


@dataclass(frozen=True, slots=True)
class ImportedAnnotations:
    """What became of a file of annotations.

    Attributes:
        record: The layer as it is kept.
        in_place: How many stand where the file says.
        moved: How many were found elsewhere, by their words or by words like them.
        orphaned: How many were found nowhere in the text. They are kept.
        untried: How many of these were not looked for, or not everywhere: there are too many.
        remarks: What is to be said of the file, in full sentences, as what was left out.
    """

    record: LayerRecord
    in_place: int
    moved: int
    orphaned: int
    untried: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many there are, and of how many each is true."""
        names = ("in_place", "moved", "orphaned", "untried")
        return {"annotations": self.record.count} | {name: getattr(self, name) for name in names}


def read_annotated(
    store: Store,
    entry: Entry,
    *,
    with_findings: bool = True,
    layer: str = "",
) -> AnnotatedText:
    """Return a document with what its graphs found and what was annotated in it.

    Args:
        store: The graph.
        entry: The document.
        with_findings: Whether to read the graphs, too, which takes longer.
        layer: Only this layer, if the document has it; '' for all.

    Raises:
        Changed: The document was replaced while it was read.
    """
    installed = graphs()
    names = [TEXT]
    if with_findings:
        names += [name for name in installed if name in entry.graphs and installed[name].find]
    structure, is_unread = store.structure(entry), store.is_unread
    bases = (base for name in names[1:] for base in installed[name].uses)
    needed = dict.fromkeys([*names, *(base for base in bases if base in entry.graphs)])
    parts = read_parts(store.whole, entry, needed)
    chunks = chunks_of(parts[TEXT])
    document = document_of(entry, chunks, structure)
    # Annotations are looked for in all of the text: those of later words are in no other place.
    whole = document.text
    if is_unread:
        parts = restrict_parts(parts, installed, store.until, is_unread)
        chunks = tuple(chunk for chunk in chunks if chunk.end <= store.until)
        document = replace(document, text=document.text[: store.until])
    text = BuildText(document, chunks, parts)
    found = []
    for name in names[1:]:
        find = installed[name].find
        assert find is not None
        found.append(find(text, parts[name]))
    layers = []
    for kept in _find_layers(store, entry, layer):
        items = place_annotations(whole, kept)
        if is_unread:
            items = [
                item
                for item in items
                if item.anchor
                and item.anchor.end <= store.until
                and not _prints_unread(item.annotation, is_unread)
            ]
        layers.append(PlacedLayer(kept.record, tuple(items)))
    return AnnotatedText(
        document, merge_findings(found), tuple(layers), frozenset(entry.graphs) - {TEXT}
    )


def _find_layers(store: Store, entry: Entry, name: str) -> list[AnnotationLayer]:
    """Return the layers of a document, or the one of a name; none if it does not have that."""
    try:
        return read_layers(store, entry.collection, entry.id, name)
    except NotFound:
        return []


def _prints_unread(annotation: Annotation, is_unread: Callable[[str], bool]) -> bool:
    """Whether what is said of words names somebody of later text, such as a stranger's name."""
    said = (annotation.label, annotation.body, annotation.group, *annotation.properties.values())
    return any(map(is_unread, said))


def read_text_of(store: Store, entry: Entry) -> Document:
    """Return a document with its text. Raises Changed if it was replaced since it was found."""
    structure = store.structure(entry)
    chunks = chunks_of(read_parts(store, entry, [TEXT])[TEXT])
    return document_of(entry, chunks, structure)


def refuse_layer_name(name: str) -> None:
    """Refuse the name of a layer that is imported.

    Raises:
        BadValue: The name can't be one of a layer.
        LoadError: The name is that of the reader's own notes.
    """
    if problem := "has a slash in it" if "/" in name else name_problem(name):
        # A layer is a part of the addresses of the HTTP interface.
        raise BadValue(f"The layer's name {quote_name(name)} {problem}: give it another one.")
    if name == NOTES:
        raise LoadError(
            f"{quote_name(NOTES)} are the notes of readers: give the layer another name."
        )


def keep_layer(
    store: Store,
    entry: Entry,
    name: str,
    files: Mapping[str, bytes],
    *,
    source: str,
    format: AnnotationFormat,
    by: str = "",
    report: sandbox.Report = sandbox.ignore,
    stop: Stop | None = None,
) -> ImportedAnnotations:
    """Keep annotations as a layer of a document; a layer of the same name is replaced.

    Args:
        store: The graph.
        entry: The document.
        name: The name of the layer.
        files: The contents of its files by their names.
        source: What messages call them, and the layer's record.
        format: Their format.
        by: Who imports them; '' for the user of this process.
        report: Receives how many annotations have been looked for, of how many.
        stop: Ends the import once it is set, and leaves the layer as it was.

    Raises:
        BadValue: The name can't be one of a layer.
        LoadError: The files have no annotations or can't be read within limits of time and memory,
            or the name is that of the reader's own notes.
        Stopped: `stop` was set.
    """
    refuse_layer_name(name)
    document = read_text_of(store, entry)
    anchored = read_and_anchor(files, format.name, document, source, report=report, stop=stop)
    placed = anchored.items
    record = LayerRecord(
        name, entry.id, source, format.name, by or current_user(), text=text_digest(document.text)
    )
    layer = make_layer(record, (item.annotation for item in placed))
    edit_layer(store, entry.collection, entry.id, name, lambda _: layer)
    orphaned = sum(item.anchor is None for item in placed)
    in_place = len(placed) - orphaned - anchored.moved
    return ImportedAnnotations(
        layer.record, in_place, anchored.moved, orphaned, anchored.untried, anchored.remarks
    )
