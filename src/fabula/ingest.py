"""Documents into the graph, several at once; each is added, replaced, unchanged or failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, Protocol

from fabula.build.pipeline import build
from fabula.errors import BadReply, BudgetSpent, FabulaError, LoadError, TooLarge
from fabula.kit import Kit
from fabula.model import Document, DocumentGraph, Entry, Known, Usage
from fabula.parallel import Job
from fabula.progress import Progress
from fabula.providers.counted import Meter
from fabula.store import Store
from fabula.store.known import known

Status = Literal["added", "replaced", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document comes from, and how to read it. Reading raises LoadError."""

    name: str
    read: Callable[[], Document]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source: counts of passages, what each step asked, and seconds.

    `document` and `title` are empty and `error` is set where it failed.
    """

    source: str
    status: Status
    document: str = ""
    title: str = ""
    chunks: int = 0
    summaries: int = 0
    details: int = 0
    assigned: tuple[str, ...] = ()
    steps: Mapping[str, Usage] = field(default_factory=dict)
    seconds: float = 0.0
    error: FabulaError | None = None

    @property
    def usage(self) -> Usage:
        """What all steps asked of models."""
        return sum(self.steps.values(), Usage())


class Listener(Protocol):
    """Hears how an ingest goes; called from several threads."""

    def expect(self, sources: int) -> None:
        """So many sources will be read; comes first."""
        ...

    def begin(self, source: str) -> Progress:
        """A source is being read; what is returned hears its steps."""
        ...

    def end(self, outcome: Outcome) -> None:
        """A source is done with."""
        ...


class Silence:
    """Hears nothing."""

    def expect(self, sources: int) -> None:
        """Nothing."""

    def begin(self, source: str) -> Muted:
        """What hears nothing of the steps."""
        return Muted()

    def end(self, outcome: Outcome) -> None:
        """Nothing."""


class Muted:
    """Hears nothing of one document's steps."""

    def expect(self, step: str, count: int) -> None:
        """Nothing."""

    def done(self, step: str, usage: Usage) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Ingest:
    """One run over many sources into one collection, whose documents are `known`."""

    store: Store
    kit: Kit
    known: Sequence[Entry]
    listener: Listener
    rebuild: bool = False
    dry: bool = False

    def all(self, sources: Sequence[Source]) -> list[Outcome]:
        """What became of each source, in order.

        A source that can't be read, whose replies stay malformed or that is too large for the
        server fails alone; anything else that goes wrong is raised and ends the run. What was
        ingested before stays. With `rebuild` every document is made as if it came for the first
        time. A `dry` run writes nothing and asks no model: its outcomes say what is expected.
        """
        self.listener.expect(len(sources))
        # Here, not beside the calls: a run that fails must leave no thread at the store.
        if not self.dry:
            self.store.make_schema()
        try:
            with Job(self.kit.documents) as job:
                return job.each(0, partial(self._one, job), sources)
        except BudgetSpent:
            # What is under way is paid for: its replies are kept, too.
            self.kit.workers.settle()
            raise

    def _one(self, run: Job, source: Source) -> Outcome:
        began = time.monotonic()
        progress = self.listener.begin(source.name)
        meter = Meter()
        try:
            document = source.read()
            same = self._same(document)
            if same:
                outcome = Outcome(source.name, "unchanged", same.id, same.title)
            else:
                graph = self._built(document, run, meter, progress)
                if not self.dry:
                    self._written(graph, progress)
                outcome = self._made(source, graph, time.monotonic() - began)
        except (LoadError, BadReply, TooLarge) as error:
            outcome = Outcome(
                source=source.name,
                status="failed",
                steps=meter.usage(),
                seconds=time.monotonic() - began,
                error=_naming(source, error),
            )
        self.listener.end(outcome)
        return outcome

    def _same(self, document: Document) -> Entry | None:
        """What is known already and says the same; nothing where the document itself changed."""
        if self.rebuild:
            return None
        own = [entry for entry in self.known if entry.id == document.id]
        same = [
            entry
            for entry in own or self.known
            if entry.sha256 == document.sha256 and entry.settings == self.kit.built_with
        ]
        return same[0] if same else None

    def _made(self, source: Source, graph: DocumentGraph, seconds: float) -> Outcome:
        document = graph.document
        replaced = any(entry.id == document.id for entry in self.known)
        return Outcome(
            source=source.name,
            status="replaced" if replaced else "added",
            document=document.id,
            title=document.title,
            chunks=len(graph.chunks),
            summaries=len(graph.summaries),
            details=len(graph.details),
            assigned=graph.assigned,
            steps=graph.usage,
            seconds=seconds,
        )

    def _built(
        self, document: Document, run: Job, meter: Meter, progress: Progress
    ) -> DocumentGraph:
        former = self._former(document)
        if self.dry:
            models = self.kit.expected_models(document.language, meter, self._lengths)
            former = self.kit.as_expected(former)
        else:
            models = self.kit.models(document.language, meter)
        with Job(self.kit.workers, within=run) as job:
            return build(document, models, self.kit.method, job, progress, former)

    @cached_property
    def _lengths(self) -> Mapping[str, float]:
        """What models wrote into the documents that were made in the same way."""
        same = [entry.id for entry in self.known if entry.settings == self.kit.built_with]
        [row] = self.store.rows("find_lengths", documents=same)
        return {name: value for name, value in row.items() if value is not None}

    def _former(self, document: Document) -> Known:
        """What the graph has of an earlier version that was made in the same way."""
        made = [
            entry
            for entry in self.known
            if entry.id == document.id and entry.settings == self.kit.built_with
        ]
        space = self.store.space()
        if self.rebuild or not made or space is None:
            return Known()
        return known(self.store, document.id, space.dimensions)

    def _written(self, graph: DocumentGraph, progress: Progress) -> None:
        usage = sum(graph.usage.values(), Usage())
        passages = len(graph.chunks) + len(graph.summaries) + len(graph.details)
        progress.expect("write", passages)

        def written(count: int) -> None:
            for _ in range(count):
                progress.done("write", usage)

        self.store.prepare(self.kit.embedder.model, len(graph.chunks[0].embedding))
        self.store.replace(graph, self.kit.built_with, written)


def _naming(source: Source, error: FabulaError) -> FabulaError:
    """A model does not know whose text it was sent: its error is given the source's name."""
    if isinstance(error, LoadError):
        return error
    named = type(error)(f"{source.name}: {error}")
    named.__cause__ = error
    return named
