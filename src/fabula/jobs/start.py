"""Start jobs of files that were uploaded: ingest documents, import annotations, estimate that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fabula.build.outcome import Outcome
from fabula.errors import BadValue, Conflict, LoadError, SettingsError
from fabula.export.annotation_formats import find_format
from fabula.graph.entries import Entry
from fabula.graph.installed import graph, refuse_without_model
from fabula.jobs.callers import Caller
from fabula.jobs.estimates import Estimate, refuse_batches
from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import Item, Job
from fabula.jobs.queue import Jobs
from fabula.jobs.uploads import Upload, Uploads, is_zip, label
from fabula.library.annotating import refuse_layer_name
from fabula.library.collection import Collection
from fabula.load import FileContent, find_in_zip, open_stored, read_text
from fabula.load.source import DocumentSource
from fabula.text.document import Document
from fabula.text.metadata import read_assignments
from fabula.text.names import quote_name


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How documents are to be ingested."""

    graphs: tuple[str, ...] | None = None
    """The graphs to build of each document; None for those of the settings."""
    rebuild: bool = False
    """Whether graphs that are up to date are built again."""
    batch: bool = False
    """Whether models are asked by batches, at half the price."""
    meta: tuple[str, ...] = ()
    """Fields of all documents, as name=value."""
    onto: str = ""
    """The id of the document that is continued with their texts; '' to add them as documents."""

    def options(self) -> dict[str, object]:
        """Return the options of the job."""
        graphs = self.graphs and list(self.graphs)
        more: dict[str, object] = {"meta": list(self.meta)} if self.meta else {}
        more |= {"onto": self.onto} if self.onto else {}
        return {"graphs": graphs, "rebuild": self.rebuild, "batch": self.batch, **more}


def text_item(uploads: Uploads, text: str, source: str, **metadata: str) -> Item:
    """Store a text as an uploaded file, and return the item of it.

    Args:
        uploads: Where it is stored.
        text: The text.
        source: By which its document is known.
        metadata: Title, author and so on.

    Raises:
        BadValue: The text or the source is blank.
    """
    if not text.strip():
        raise BadValue("There is no text.")
    if not source.strip():
        raise BadValue("The text needs a `source`, by which its document is known.")
    source = label(source)
    upload = uploads.take([text.encode("utf-8", "surrogatepass")], source)
    return Item(source, upload.sha256, metadata=metadata)


def refuse_same_names(items: Iterable[Item]) -> None:
    """Raise Conflict for two items of one source: each would replace the other's document."""
    for source, count in Counter(item.source for item in items).items():
        if count > 1:
            raise Conflict(f"A text and a file are both called {quote_name(source)}.")


def begin_ingest(
    jobs: Jobs,
    caller: Caller,
    collection: Collection,
    items: Sequence[Item],
    choice: IngestOptions,
    idempotency: Idempotency | None = None,
) -> Job:
    """Add a job that ingests documents, and return it.

    Raises:
        BadValue: There are no items, or a field can't be kept.
        Conflict: A text and a file have the same source.
        SettingsError: A graph of the whole collection is among those to build, or one that needs
            a chat model, which there is not.
    """
    if not items:
        raise BadValue("There is no file and no text in this request.")
    read_assignments(choice.meta)
    refuse_same_names(items)
    for name in choice.graphs or ():
        if graph(name).build_collection:
            raise SettingsError(
                f"{name} belongs to the whole collection: build it once the documents are there."
            )
    settings = collection.settings
    if settings.offline:
        refuse_without_model(settings.graphs if choice.graphs is None else choice.graphs)
    if choice.batch:
        refuse_batches(collection)
    return jobs.add(caller, collection.name, "ingest", items, choice.options(), idempotency)


def estimate(
    uploads: Uploads,
    collection: Collection,
    items: Iterable[Item],
    choice: IngestOptions,
    reader: Callable[[Item], Document] | None = None,
    files: Sequence[Upload] = (),
) -> Estimate:
    """Return what `begin_ingest` would do and cost, without writing or asking a model.

    Args:
        uploads: Where the files are.
        collection: Where the documents would come.
        items: The documents.
        choice: How they would be ingested.
        reader: Reads the document of an item. Give one that caches if the same items are estimated
            several times.
        files: The files of the documents, which a later request may name.
    """
    items = list(items)
    reader = reader or partial(read_document, uploads, collection.name)
    ready = [item for item in items if item.state == "queued"]
    sources = [DocumentSource(item.source, partial(reader, item)) for item in ready]
    if choice.onto:
        outcomes = collection.append_sources(choice.onto, sources, dry=True)
    else:
        outcomes = collection.ingest_sources(
            sources, graphs=choice.graphs, rebuild=choice.rebuild, dry=True
        )
    outcomes += [Outcome(item.source, "skipped") for item in items if item.state == "skipped"]
    return Estimate.of(collection.settings, outcomes, batch=choice.batch, uploads=files)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How annotations are to be imported."""

    layer: str
    """The name of the layer that they become."""
    format: str
    """The name of the format of their file."""
    build: bool = True
    """Whether the graph that is made of them is built."""

    def refuse(self) -> None:
        """Refuse what no file could make succeed.

        Raises:
            BadValue: The name can't be one of a layer.
            LoadError: The name is that of the reader's own notes.
            SettingsError: There is no such format.
        """
        refuse_layer_name(self.layer)
        find_format(self.format)


def begin_import(
    jobs: Jobs,
    caller: Caller,
    collection: Collection,
    entry: Entry,
    upload: Upload,
    choice: ImportOptions,
    idempotency: Idempotency | None = None,
) -> Job:
    """Add a job that imports an uploaded file of annotations of a document, and return it."""
    item = Item(entry.source, upload.sha256, document=entry.id, title=entry.title)
    graphs = collection.graphs_of_annotations() if choice.build else ()
    options = {
        "layer": choice.layer,
        "format": choice.format,
        # Those of a build, which the job ends with.
        "graph": graphs[0] if graphs else "",
        "documents": [entry.id],
    }
    return jobs.add(caller, collection.name, "annotate", [item], options, idempotency)


def document_source(uploads: Uploads, collection: str, item: Item) -> DocumentSource:
    """Return the source of an item's document."""
    if item.metadata:
        # A text that was sent with its metadata is no file in a format: it is read here.
        return DocumentSource(item.source, partial(read_document, uploads, collection, item))
    return DocumentSource.of_file(item.source, partial(_open, uploads, collection, item))


def read_document(uploads: Uploads, collection: str, item: Item) -> Document:
    """Read the document of an item. Raises LoadError if its file is unreadable or was deleted."""
    if item.metadata:
        text = find_upload(uploads, item).read_text(encoding="utf-8", errors="replace")
        return read_text(text, source=item.source, collection=collection, **item.metadata)
    return _open(uploads, collection, item).parse()


def _open(uploads: Uploads, collection: str, item: Item) -> FileContent:
    path = find_upload(uploads, item)
    if is_zip(item.source) and not item.book:
        find_in_zip(path, item.source)
    return open_stored(path, item.book, item.source, collection, uploads.max_bytes)


def find_upload(uploads: Uploads, item: Item) -> Path:
    """Return the file of an item. Raises LoadError if it was deleted."""
    path = uploads.path(item.upload)
    if not path.is_file():
        raise LoadError(f"The uploaded file of {item.source} has been deleted: send it again.")
    return path
