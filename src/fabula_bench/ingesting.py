"""Ingest the texts of a data set for a system; texts that are in the graph are used again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from fabula.build.outcome import Outcome, SilentListener
from fabula.errors import FabulaError
from fabula.graph.entries import Entry
from fabula.library.collection import Collection
from fabula.load import read_text
from fabula.load.source import DocumentSource
from fabula.models.batch_options import BatchOptions
from fabula.models.usage import Usage, sum_usage
from fabula.text.document import Document
from fabula_bench.model import Text
from fabula_bench.plan import TestedSystem


class TextsWaiting(FabulaError):
    """The replies for some texts come by batches that have not ended."""


@dataclass(frozen=True, slots=True)
class _Reporter(SilentListener):
    """Reports each text that is done, with '' or the reason why it failed."""

    report: Callable[[str], None]

    def end(self, outcome: Outcome) -> None:
        self.report(str(outcome.error or ""))


def ingest_texts(
    texts: Sequence[Text],
    set: str,
    collection: Collection,
    report: Callable[[str], None],
    batch: BatchOptions | None = None,
) -> dict[str, str]:
    """Return the document of each text by the id of the text; texts that fail are left out.

    `report` is called for each text, with '' or the reason why it failed. Errors that are not about
    one text are raised, as `ingest` does. With `batch`, models are asked by batches.

    Raises:
        TextsWaiting: Texts wait for batches.
    """
    sources = []
    for text in texts:
        read = partial(_read, text, _source(set, text), collection.name)
        sources.append(DocumentSource(_source(set, text), read))
    outcomes = collection.ingest_sources(sources, batch=batch, listener=_Reporter(report))
    if waiting := sum(outcome.status == "waiting" for outcome in outcomes):
        raise TextsWaiting(f"{waiting:,} of {len(texts):,} texts wait for batches.")
    return {
        text.id: outcome.document
        for text, outcome in zip(texts, outcomes, strict=True)
        if outcome.error is None
    }


def _read(text: Text, source: str, collection: str) -> Document:
    described = {"title": text.title, "author": text.author, "language": text.language}
    document = read_text(text.text, source=source, collection=collection, **described)
    return replace(document, metadata=text.metadata)


def ingest_cost(
    collection: Collection, system: TestedSystem, set: str, texts: Sequence[Text]
) -> dict[str, Usage]:
    """Return the usage of each model for the documents of these texts, whenever they were built."""
    entries = _entries(collection, set, texts)
    return sum_usage(system.settings.by_model(entry.usage) for entry in entries)


def count_nodes(collection: Collection, set: str, texts: Sequence[Text]) -> dict[str, int]:
    """Return how many nodes of each kind the graphs of these texts have together."""
    counts: Counter[str] = Counter()
    for entry in _entries(collection, set, texts):
        counts.update(collection.open_store().count_kinds(collection.name, entry.id))
    return dict(sorted(counts.items()))


def _entries(collection: Collection, set: str, texts: Sequence[Text]) -> list[Entry]:
    sources = {_source(set, text) for text in texts}
    return [entry for entry in collection.documents() if entry.source in sources]


def _source(set: str, text: Text) -> str:
    return f"{set}/{text.id}"
