"""What a caller wants done, as jobs: files and texts that come in, and what they would cost."""

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
    """How documents are to come in: `graphs` of each, the settings' where it is None."""

    graphs: tuple[str, ...] | None = None
    rebuild: bool = False

    def options(self) -> dict[str, object]:
        """As a job keeps them."""
        return {"graphs": self.graphs and list(self.graphs), "rebuild": self.rebuild}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some documents would ask of models, and cost, as a `MoneyView` says it."""

    outcomes: tuple[Outcome, ...]
    usage: dict[str, Usage]
    money: float | None
    unpriced: Sequence[str] = ()


def text_item(uploads: Uploads, text: str, source: str, **told: str) -> Item:
    """A text as an item of a job; it is kept as an uploaded file is.

    Raises Problem for one without a character, or from nowhere.
    """
    if not text.strip():
        raise Problem("There is no text.")
    if not source.strip():
        raise Problem("Say where the text is from: it is known by its source.")
    source = label(source)
    kept = uploads.take([text.encode("utf-8", "surrogatepass")], source)
    return Item(source, kept.sha256, told=told)


def refuse_namesakes(items: Iterable[Item]) -> None:
    """Raises Conflict for a text called as a file is: each would take the other's place."""
    for source, times in Counter(one.source for one in items).items():
        if times > 1:
            raise Conflict(f"A text and a file are both called {quoted(source)}.")


def begin_ingest(
    jobs: Jobs,
    caller: Caller,
    shelf: Collection,
    items: Sequence[Item],
    choice: Choice,
    once: Idempotency | None = None,
) -> Job:
    """A job that has documents come in."""
    if not items:
        raise Problem("There is no file and no text in this request.")
    refuse_namesakes(items)
    for name in choice.graphs or ():
        if graph(name).settle:
            raise SettingsError(
                f"{name} belongs to the whole collection: build it once the documents are there."
            )
    return jobs.add(caller, shelf.name, "ingest", items, choice.options(), once)


def estimate(
    uploads: Uploads,
    shelf: Collection,
    items: Iterable[Item],
    choice: Choice,
    reader: Callable[[Item], Document] | None = None,
) -> Estimate:
    """What `begin_ingest` would have done: nothing is written, and no model is asked.

    Who estimates the same items more than once gives a `reader` that keeps what it has read.
    """
    items = list(items)
    reader = reader or partial(read, uploads, shelf.name)
    ready = [one for one in items if one.state == "queued"]
    sources = [Source(one.source, partial(reader, one)) for one in ready]
    outcomes = shelf.ingest_sources(sources, graphs=choice.graphs, rebuild=choice.rebuild, dry=True)
    outcomes += [Outcome(one.source, "skipped") for one in items if one.state == "skipped"]
    usage = sum_usage(one.steps for one in outcomes)
    return Estimate(tuple(outcomes), usage, **money(shelf.settings, usage))


def begin_build(
    jobs: Jobs,
    caller: Caller,
    shelf: Collection,
    name: str,
    documents: Sequence[str],
    *,
    rebuild: bool,
    once: Idempotency | None = None,
) -> Job:
    """A job that builds a graph of documents, all or those named, or of the collection itself."""
    if graph(name).settle and documents:
        raise SettingsError(f"{name} belongs to the whole collection: name no document.")
    named = (shelf.document(one) for one in documents)
    found = [*{one.id: one for one in named}.values()]
    items = [Item(one.source, document=one.id, title=one.title) for one in found]
    options = {"graph": name, "documents": [one.id for one in found], "rebuild": rebuild}
    return jobs.add(caller, shelf.name, "build", items, options, once)


def read(uploads: Uploads, collection: str, item: Item) -> Document:
    """The document of an item. Raises LoadError where it can't be read, or is not kept any more."""
    path = uploads.path(item.upload)
    if not path.is_file():
        raise LoadError(f"The file of {item.source} is not kept any more: send it again.")
    if item.told:
        text = path.read_text(encoding="utf-8", errors="replace")
        return read_text(text, source=item.source, collection=collection, **item.told)
    if is_zip(item.source) and not item.book:
        find_in_zip(path, item.source)
    most = uploads.most
    return load_kept(path, item.book, item.source, collection, most)
