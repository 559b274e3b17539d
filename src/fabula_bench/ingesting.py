"""Ingest the texts of a data set for a system; texts that are in the graph are used again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from fabula.app.collection import Collection
from fabula.build.outcome import Outcome
from fabula.errors import BadReply, BudgetSpent, LoadError, ReplyPending, TooLarge
from fabula.load import read_text
from fabula.load.source import DocumentSource
from fabula.models.batch_options import BatchOptions
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.usage import Usage, sum_usage
from fabula.text.document import Document
from fabula_bench.model import Text
from fabula_bench.plan import TestedSystem

MAX_PARALLEL = 4
"""How many texts are ingested at the same time if models are asked."""


def ingest_texts(
    texts: Sequence[Text],
    set: str,
    system: TestedSystem,
    collection: Collection,
    report: Callable[[str], None],
    batch: BatchOptions | None = None,
) -> dict[str, str]:
    """Return the document of each text by the id of the text; texts that fail are left out.

    `report` is called for each text, with '' or the reason why it failed. Errors that are not about
    one text are raised, as `ingest_text` does. With `batch`, models are asked by batches.

    Raises:
        ReplyPending: Texts wait for batches.

    """
    if batch is not None:
        return _ingest_by_batches(texts, set, collection, report, batch)
    settings = system.settings
    uses_models = not settings.offline or settings.embeds_by_endpoint
    ingest_one = partial(_ingest_one, set, collection, report)
    workers = Workers(MAX_PARALLEL if uses_models else 1)
    try:
        with TaskGroup(workers) as job:
            # The first text alone, as it creates the indexes.
            outcomes = [*job.each(0, ingest_one, texts[:1]), *job.each(0, ingest_one, texts[1:])]
    except BudgetSpent:
        workers.join()
        raise
    finally:
        workers.close()
    return {
        text.id: outcome.document
        for text, outcome in zip(texts, outcomes, strict=True)
        if outcome is not None
    }


def _ingest_by_batches(
    texts: Sequence[Text],
    set: str,
    collection: Collection,
    report: Callable[[str], None],
    batch: BatchOptions,
) -> dict[str, str]:
    """Ingest all texts in the same rounds, so that their calls share batches."""
    sources = [DocumentSource(_source(set, text), _reader(set, collection, text)) for text in texts]
    outcomes = collection.ingest_sources(sources, batch=batch)
    waiting = sum(outcome.status == "waiting" for outcome in outcomes)
    if waiting:
        raise ReplyPending(f"{waiting:,} of {len(texts):,} texts wait for batches.")
    documents: dict[str, str] = {}
    for text, outcome in zip(texts, outcomes, strict=True):
        report(f"{text.title or text.id}: {outcome.error}" if outcome.error else "")
        if outcome.error is None:
            documents[text.id] = outcome.document
    return documents


def _reader(set: str, collection: Collection, text: Text) -> Callable[[], Document]:
    return partial(
        read_text,
        text.text,
        source=_source(set, text),
        collection=collection.name,
        title=text.title,
        author=text.author,
        language=text.language,
    )


def ingest_cost(
    collection: Collection, system: TestedSystem, set: str, texts: Sequence[Text]
) -> dict[str, Usage]:
    """Return the usage of each model for the documents of these texts, whenever they were built."""
    sources = {_source(set, text) for text in texts}
    return sum_usage(
        system.settings.by_model(entry.usage)
        for entry in collection.documents()
        if entry.source in sources
    )


def count_nodes(collection: Collection, set: str, texts: Sequence[Text]) -> dict[str, int]:
    """Return how many nodes of each kind the graphs of these texts have together."""
    sources = {_source(set, text) for text in texts}
    counts: Counter[str] = Counter()
    for entry in collection.documents():
        if entry.source in sources:
            counts.update(collection.store.count_kinds(collection.name, entry.id))
    return dict(sorted(counts.items()))


def _ingest_one(
    set: str, collection: Collection, report: Callable[[str], None], text: Text
) -> Outcome | None:
    try:
        outcome = collection.ingest_text(
            text.text,
            source=_source(set, text),
            title=text.title,
            author=text.author,
            language=text.language,
        )
    except (LoadError, BadReply, TooLarge) as error:
        report(f"{text.title or text.id}: {error}")
        return None
    report("")
    return outcome


def _source(set: str, text: Text) -> str:
    return f"{set}/{text.id}"
