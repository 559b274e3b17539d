"""The texts of a data set into a system's graph; those that are there already are used again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from fabula.app.collection import Collection
from fabula.build.outcome import Outcome
from fabula.config.settings import STATIC
from fabula.errors import BadReply, BudgetSpent, LoadError, TooLarge
from fabula.experiments.model import Text
from fabula.experiments.plan import TestedSystem
from fabula.models.parallel import Job, Workers
from fabula.models.usage import Usage, sum_usage

AT_ONCE = 4
"""Texts that are made at the same time, where models are waited for."""


def ingest_texts(
    texts: Sequence[Text],
    set: str,
    system: TestedSystem,
    collection: Collection,
    report: Callable[[str], None],
) -> dict[str, str]:
    """The document of each text, by the text's id; a text that can't become one is left out.

    `done` is told of each text, with '' or why it failed. Raises what `ingest_text` raises but
    for what is wrong with one text alone.
    """
    settings = system.settings
    uses_models = not (settings.offline and settings.embedding_model == STATIC)
    ingest_one = partial(_ingest_one, set, collection, report)
    workers = Workers(AT_ONCE if uses_models else 1)
    try:
        with Job(workers) as job:
            # The first alone: it makes the indexes, which two at a time would both make.
            outcomes = [*job.each(0, ingest_one, texts[:1]), *job.each(0, ingest_one, texts[1:])]
    except BudgetSpent:
        workers.settle()
        raise
    finally:
        workers.close()
    return {
        text.id: outcome.document
        for text, outcome in zip(texts, outcomes, strict=True)
        if outcome is not None
    }


def ingest_cost(
    collection: Collection, system: TestedSystem, set: str, texts: Sequence[Text]
) -> dict[str, Usage]:
    """What making the documents of these texts asked of each model, whenever that was."""
    sources = {_source(set, text) for text in texts}
    return sum_usage(
        system.settings.by_model(entry.usage)
        for entry in collection.documents()
        if entry.source in sources
    )


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
