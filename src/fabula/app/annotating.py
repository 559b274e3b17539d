"""Annotations and notes of a document: import, read, write and remove them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fabula.app.current_user import current_user
from fabula.errors import BadValue, LoadError, NotFound, did_you_mean
from fabula.export.annotated_text import AnnotatedText, PlacedLayer, merge_findings
from fabula.export.annotation_formats import AnnotationFormat
from fabula.export.annotation_sandbox import read_and_anchor
from fabula.graph import TEXT
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
from fabula.graph.installed import graphs
from fabula.graph.method import BuildText
from fabula.graph.parts import chunks_of, document_of
from fabula.graph.parts_until import restrict_parts
from fabula.load import sandbox
from fabula.models.stop import Stop
from fabula.store.annotations import edit_layer, read_layers
from fabula.store.part_reader import read_parts
from fabula.text.anchoring import QuoteFinder, TextQuote, quote_at
from fabula.text.document import Document
from fabula.text.folding import fold_name
from fabula.text.ids import digest
from fabula.text.names import name_problem, quote_name

if TYPE_CHECKING:
    from fabula.store import Store

MAX_NOTE_CHARACTERS = 20_000
"""Of the text of a note."""
MAX_TAG_CHARACTERS = 200
"""Of its tag."""


@dataclass(frozen=True, slots=True)
class ImportedAnnotations:
    """What became of a file of annotations.

    Attributes:
        record: The layer as it is kept.
        in_place: How many stand where the file says.
        moved: How many were found elsewhere, by their words or by words like them.
        orphaned: How many were found nowhere in the text. They are kept.
        untried: How many of these were not looked for, or not everywhere: there are too many.

    """

    record: LayerRecord
    in_place: int
    moved: int
    orphaned: int
    untried: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many there are, and of how many each is true."""
        return {
            "annotations": self.record.count,
            "in_place": self.in_place,
            "moved": self.moved,
            "orphaned": self.orphaned,
            "untried": self.untried,
        }


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
    return ImportedAnnotations(layer.record, in_place, anchored.moved, orphaned, anchored.untried)


def remove_layer(store: Store, entry: Entry, name: str) -> LayerRecord:
    """Remove a layer of a document with all its annotations, and return what it was.

    Raises:
        NotFound: There is no such layer.

    """
    removed: list[LayerRecord] = []

    def remove(layer: AnnotationLayer | None) -> None:
        if layer is not None:
            removed.append(layer.record)

    edit_layer(store, entry.collection, entry.id, name, remove)
    if not removed:
        read_layers(store, entry.collection, entry.id, name)
        raise NotFound(f"{entry.title} has no annotations named {quote_name(name)}.")
    return removed[-1]


# Notes of one's own


def add_note(
    store: Store, entry: Entry, quote: str, at: str, body: str, tag: str = "", by: str = ""
) -> Annotation:
    """Keep a note or a highlight on words of a document.

    Args:
        store: The graph.
        entry: The document.
        quote: The words, as the text prints them but for white space; '' if `at` says where.
        at: Characters as 120-340, which must have the quotation if there is one; '' to look for it.
        body: The note; '' to highlight only.
        tag: A tag; '' for none.
        by: Who makes it; '' for the user of this process.

    Raises:
        BadValue: It is too long, or neither words nor characters are given.
        NotFound: The text does not have the words, or has them more than once.

    """
    _refuse_wrong(body, tag)
    document = read_text_of(store, entry)
    start, end = _find_words(document, quote, at)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    by = by or current_user()
    kind = NOTE if body.strip() else HIGHLIGHT
    id = digest(6, "note", str(start), str(end), body, tag, by, now)
    note = Annotation(
        quote_at(document.text, start, end), kind, tag.strip(), body.strip(), id, "", by, now
    )
    sha = text_digest(document.text)

    def add(layer: AnnotationLayer | None) -> AnnotationLayer:
        record = LayerRecord(NOTES, entry.id, by=by, text=sha)
        previous = layer.annotations if layer else ()
        if layer is not None and layer.record.text != sha:
            # The text was edited since: what stands in it is given its present place.
            placed = place_annotations(document.text, layer)
            previous = tuple(
                replace(a, quote=quote_at(document.text, anchor.start, anchor.end)) if anchor else a
                for a, anchor in placed
            )
        return make_layer(record, (*previous, note))

    kept = edit_layer(store, entry.collection, entry.id, NOTES, add)
    assert kept is not None
    return note


def edit_note(
    store: Store, entry: Entry, id: str, body: str | None, tag: str | None, *, exact: bool = False
) -> Annotation:
    """Give a note another text or tag, and return it; its words, id, maker and date stay.

    Args:
        store: The graph.
        entry: The document.
        id: The id of the note, or unless `exact` the beginning of it.
        body: Its new text; '' makes it a highlight, None leaves the text as it is.
        tag: Its new tag; '' for none, None leaves it as it is.
        exact: See `id`.

    Raises:
        BadValue: The text or the tag is too long.
        NotFound: There is no such note, or there are several.

    """
    _refuse_wrong(body or "", tag or "")

    def edit(note: Annotation) -> Annotation:
        text = note.body if body is None else body.strip()
        label = note.label if tag is None else tag.strip()
        return replace(note, kind=NOTE if text else HIGHLIGHT, label=label, body=text)

    return edit(_replace_note(store, entry, id, edit, exact=exact))


def remove_note(store: Store, entry: Entry, id: str, *, exact: bool = False) -> Annotation:
    """Remove a note by its id, or unless `exact` by the beginning of that, and return it.

    Raises:
        NotFound: There is no such note, or there are several.

    """
    return _replace_note(store, entry, id, lambda _: None, exact=exact)


def _replace_note(
    store: Store,
    entry: Entry,
    id: str,
    edit: Callable[[Annotation], Annotation | None],
    *,
    exact: bool,
) -> Annotation:
    """Replace a note by what `edit` makes of it, None for nothing; return what it was."""
    chosen: list[Annotation] = []

    def replace_in(layer: AnnotationLayer | None) -> AnnotationLayer | None:
        notes = layer.annotations if layer else ()
        chosen[:] = [note for note in notes if note.id == id]
        if not (chosen or exact):
            chosen[:] = [note for note in notes if id and note.id.startswith(id)]
        if len(chosen) != 1 or layer is None:
            return layer
        edited = edit(chosen[0])
        left = [note for note in notes if note is not chosen[0]]
        kept = [*left, edited] if edited else left
        return make_layer(layer.record, kept) if kept else None

    edit_layer(store, entry.collection, entry.id, NOTES, replace_in)
    if len(chosen) != 1:
        what = "several notes begin" if chosen else "no note begins"
        raise NotFound(f"In {entry.title} {what} with the id {quote_name(id)}.")
    return chosen[0]


def find_notes(layers: Iterable[PlacedLayer], words: str = "") -> list[PlacedLayer]:
    """Return the notes that have all of some words, in their text, tag or the words they mark."""
    sought = fold_name(words).split()
    found = []
    for layer in layers:
        if layer.record.name != NOTES:
            continue
        items = [
            item
            for item in layer.items
            if all(
                word in fold_name(" ".join((a.label, a.body, a.quote.exact)))
                for a in (item.annotation,)
                for word in sought
            )
        ]
        found.append(PlacedLayer(layer.record, tuple(items)))
    return found


def _refuse_wrong(body: str, tag: str) -> None:
    """Raise BadValue for a note or a tag that is too long, and for a tag that can't be a name."""
    if problem := name_problem(tag):
        raise BadValue(f"The tag {quote_name(tag)} {problem}.")
    if len(body) > MAX_NOTE_CHARACTERS or len(tag) > MAX_TAG_CHARACTERS:
        raise BadValue(
            f"A note has {MAX_NOTE_CHARACTERS:,} characters at most, and a tag "
            f"{MAX_TAG_CHARACTERS}."
        )


def write_notes(
    layers: Iterable[PlacedLayer], document: Callable[[str], Entry], store: Store
) -> str:
    """Return notes as Markdown, one document after the other; `document` finds one by its id.

    Raises:
        NotFound: There are no notes, or a document was removed meanwhile.

    """
    from fabula.export.notes_markdown import notes_markdown

    parts = []
    for layer in layers:
        if layer.items:
            entry = document(layer.record.document)
            parts.append(notes_markdown(entry, layer.items, store.structure(entry)))
    if not parts:
        raise NotFound("There are no notes: `fabula notes add` makes one.")
    return "\n".join(parts)


def choose_layers(layers: Sequence[PlacedLayer], name: str) -> list[PlacedLayer]:
    """Return the layer of a name, or all with ''. Raises NotFound."""
    chosen = [layer for layer in layers if name in ("", layer.record.name)]
    if name and not chosen:
        names = [layer.record.name for layer in layers]
        there = f"There are: {', '.join(names)}." if names else "It has none."
        raise NotFound(
            f"The document has no annotations named {quote_name(name)}. "
            f"{did_you_mean(name, names, there)}"
        )
    return chosen


def _find_words(document: Document, quote: str, at: str) -> tuple[int, int]:
    """Return the characters of a note; raises NotFound and BadValue as `add_note`."""
    text = document.text
    span = re.fullmatch(r"\s*(\d{1,9})\s*-\s*(\d{1,9})\s*", at)
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


def annotation_row(layer: str, item: PlacedAnnotation) -> dict[str, Any]:
    """Return an annotation with its present place, as lists print it; without one, None."""
    annotation, anchor = item
    return {
        "layer": layer,
        "id": annotation.id,
        "kind": annotation.kind,
        "label": annotation.label,
        "quote": annotation.quote.exact,
        "body": annotation.body,
        "group": annotation.group,
        "creator": annotation.creator,
        "created": annotation.created,
        "start": anchor.start if anchor else None,
        "end": anchor.end if anchor else None,
        "found": anchor.how if anchor else "orphaned",
    }
