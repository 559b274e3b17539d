"""Start jobs: ingest files and texts, build a graph, or estimate what that would cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fabula.app.collection import Collection
from fabula.build.outcome import Outcome
from fabula.errors import LoadError, SettingsError
from fabula.graph.installed import graph
from fabula.load import find_in_zip, load_kept, read_text
from fabula.load.source import Source
from fabula.models.usage import Usage, sum_usage
from fabula.service.core.errors import Conflict, Problem
from fabula.service.core.jobs.job import Item, Job
from fabula.service.core.jobs.uploads import is_zip, label
from fabula.service.core.views import money
from fabula.text.document import Document
from fabula.text.names import quoted

if TYPE_CHECKING:
    from fabula.service.core.callers import Caller
    from fabula.service.core.idempotency import Idempotency
    from fabula.service.core.jobs.queue import Jobs
    from fabula.service.core.jobs.uploads import Uploads


@dataclass(frozen=True, slots=True)
class Choice:
    """How documents are to be ingested."""

    graphs: tuple[str, ...] | None = None
    """The graphs to build of each document; None for those of the settings."""
    rebuild: bool = False
    """Whether graphs that are up to date are built again."""

    def options(self) -> dict[str, object]:
        """Return the options of the job."""
        return {"graphs": self.graphs and list(self.graphs), "rebuild": self.rebuild}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What ingesting some documents would ask of models, and would cost (see `MoneyView`)."""

    outcomes: tuple[Outcome, ...]
    usage: dict[str, Usage]
    money: float | None
    unpriced: Sequence[str] = ()


def text_item(uploads: Uploads, text: str, source: str, **metadata: str) -> Item:
    """Store a text as an uploaded file, and return the item of it.

    Args:
        uploads: Where it is stored.
        text: The text.
        source: By which its document is known.
        metadata: Title, author and so on.

    Raises:
        Problem: The text or the source is blank.

    """
    if not text.strip():
        raise Problem("There is no text.")
    if not source.strip():
        raise Problem("The text needs a `source`, by which its document is known.")
    source = label(source)
    upload = uploads.take([text.encode("utf-8", "surrogatepass")], source)
    return Item(source, upload.sha256, metadata=metadata)


def refuse_same_names(items: Iterable[Item]) -> None:
    """Raise Conflict for two items of one source: each would replace the other's document."""
    for source, count in Counter(item.source for item in items).items():
        if count > 1:
            raise Conflict(f"A text and a file are both called {quoted(source)}.")


def begin_ingest(
    jobs: Jobs,
    caller: Caller,
    collection: Collection,
    items: Sequence[Item],
    choice: Choice,
    idempotency: Idempotency | None = None,
) -> Job:
    """Add a job that ingests documents, and return it.

    Raises:
        Problem: There are no items.
        Conflict: A text and a file have the same source.
        SettingsError: A graph of the whole collection is among those to build.

    """
    if not items:
        raise Problem("There is no file and no text in this request.")
    refuse_same_names(items)
    for name in choice.graphs or ():
        if graph(name).settle:
            raise SettingsError(
                f"{name} belongs to the whole collection: build it once the documents are there."
            )
    return jobs.add(caller, collection.name, "ingest", items, choice.options(), idempotency)


def estimate(
    uploads: Uploads,
    collection: Collection,
    items: Iterable[Item],
    choice: Choice,
    reader: Callable[[Item], Document] | None = None,
) -> Estimate:
    """Return what `begin_ingest` would do and cost, without writing or asking a model.

    Args:
        uploads: Where the files are.
        collection: Where the documents would come.
        items: The documents.
        choice: How they would be ingested.
        reader: Reads the document of an item. Give one that caches if the same items are estimated
            several times.

    """
    items = list(items)
    reader = reader or partial(read, uploads, collection.name)
    ready = [item for item in items if item.state == "queued"]
    sources = [Source(item.source, partial(reader, item)) for item in ready]
    outcomes = collection.ingest_sources(
        sources, graphs=choice.graphs, rebuild=choice.rebuild, dry=True
    )
    outcomes += [Outcome(item.source, "skipped") for item in items if item.state == "skipped"]
    usage = sum_usage(outcome.steps for outcome in outcomes)
    return Estimate(tuple(outcomes), usage, **money(collection.settings, usage))


def begin_build(
    jobs: Jobs,
    caller: Caller,
    collection: Collection,
    name: str,
    documents: Sequence[str],
    *,
    rebuild: bool,
    idempotency: Idempotency | None = None,
) -> Job:
    """Add a job that builds a graph of some documents, of all, or of the collection itself."""
    if graph(name).settle and documents:
        raise SettingsError(
            f"{name} belongs to the whole collection: it can't be built of single documents."
        )
    entries = [*{entry.id: entry for entry in map(collection.document, documents)}.values()]
    items = [Item(entry.source, document=entry.id, title=entry.title) for entry in entries]
    options = {"graph": name, "documents": [entry.id for entry in entries], "rebuild": rebuild}
    return jobs.add(caller, collection.name, "build", items, options, idempotency)


def read(uploads: Uploads, collection: str, item: Item) -> Document:
    """Read the document of an item. Raises LoadError if its file is unreadable or was deleted."""
    path = uploads.path(item.upload)
    if not path.is_file():
        raise LoadError(f"The uploaded file of {item.source} has been deleted: send it again.")
    if item.metadata:
        text = path.read_text(encoding="utf-8", errors="replace")
        return read_text(text, source=item.source, collection=collection, **item.metadata)
    if is_zip(item.source) and not item.book:
        find_in_zip(path, item.source)
    return load_kept(path, item.book, item.source, collection, uploads.max_bytes)
