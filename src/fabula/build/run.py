"""Documents into the graph, several at once; each is added, replaced, unchanged or failed."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from statistics import fmean
from typing import Any

from fabula.build.outcome import Listener, Outcome, Status
from fabula.config.kit import Kit
from fabula.errors import (
    BadReply,
    BudgetSpent,
    Changed,
    FabulaError,
    LoadError,
    NotFound,
    ServerError,
    Stopped,
    StoreError,
    TooLarge,
)
from fabula.graph import GAP, TEXT, Owner, Part, Record, fingerprint
from fabula.graph.entries import Entry
from fabula.graph.gaps import GapLimit, gaps_of
from fabula.graph.installed import graphs
from fabula.graph.method import Graph, Known, Reader, Text, Work
from fabula.graph.parts import chunks_of, document_of, known_of, part_of, text_part
from fabula.graph.recipes import (
    Recipe,
    alike,
    resting,
    stale,
    with_bases,
    with_dependents,
    with_relatives,
)
from fabula.load.source import Source
from fabula.models.counted import Meter
from fabula.models.parallel import Job
from fabula.models.progress import Progress
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store import Store
from fabula.store.part_reader import read_part
from fabula.store.turns import Turn, turn
from fabula.text.chunk import split
from fabula.text.document import Chunk, Document

LOG = logging.getLogger("fabula")
Make = Callable[[Job, Meter, Progress], "Outcome"]
EMBED = 0
"""The priority of chunks' embeddings: all else depends on them."""
MOST_MEANT = 200
"""Documents whose parts a dry run learns from."""
EVERY = 60.0
"""Seconds between two looks at a document's turn: what is idle for minutes may be cut off."""


@dataclass(frozen=True, slots=True)
class _Whole:
    """Tells what a document's parts have asked of models together."""

    progress: Progress
    meter: Meter

    def expect(self, step: str, count: int) -> None:
        """More work of a step."""
        self.progress.expect(step, count)

    def done(self, step: str, usage: Usage) -> None:
        """One piece done."""
        self.progress.done(step, self.meter.total())


@dataclass(frozen=True, slots=True)
class _Held:
    """Looks after a document's turn as its steps go on: who has lost it asks no more of models."""

    progress: Progress
    turn: Turn

    def expect(self, step: str, count: int) -> None:
        """More work of a step."""
        self.progress.expect(step, count)

    def done(self, step: str, usage: Usage) -> None:
        """One piece done."""
        self.progress.done(step, usage)
        self.turn.check(EVERY)


class Gate:
    """Lets writers through until it is closed, which waits for those that are inside."""

    def __init__(self) -> None:
        self._inside = 0
        self._closed = False
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            if self._closed:
                raise StoreError("Another document of this run has failed: try again.")
            self._inside += 1

    def __exit__(self, *failure: object) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """From here on nobody goes in, and nobody is inside when this returns."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._inside)


@dataclass(frozen=True)
class Ingest:
    """One run over many sources into one collection; `names` are the graphs to build of each.

    Once `stop` is set nothing is begun any more, and calls under way come to their end.
    With `rebuild` all is made as if it came for the first time. With `strict` a document fails
    where a model does not give a single piece of a graph. A `dry` run writes nothing and asks no
    model: its outcomes say what is expected.
    """

    store: Store
    kit: Kit
    collection: str
    names: Collection[str]
    listener: Listener
    rebuild: bool = False
    strict: bool = False
    dry: bool = False
    stop: Stop = field(default_factory=Stop)
    _alone: dict[str, threading.Lock] = field(default_factory=dict)
    """A lock a text, so that of equal ones in one run the first comes in and the others are it."""
    _made: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The id and the title of what this run has made, by its text."""
    _locking: threading.Lock = field(default_factory=threading.Lock)
    _gate: Gate = field(default_factory=Gate)
    _means: dict[str, Mapping[str, float]] = field(default_factory=dict)

    def all(self, sources: Sequence[Source]) -> list[Outcome]:
        """What became of each source, in order.

        A source that can't be read, of whose graphs more than one piece and over a tenth is
        missing, as replies stay malformed, that another changes meanwhile or that is too large for
        the server fails alone; anything else that goes wrong is raised, once what is under way has
        ended, and ends the run. What was ingested before stays. Of a run that was stopped, all that
        is not done is stopped. Besides `names`, the graphs that a document has already are brought
        up to date with its text, and their gaps asked for again.
        """
        return self._each([(one.name, partial(self._ingest, one)) for one in sources])

    def build(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Builds the graphs for documents that are there, whose texts stay as they are."""
        return self._each([(one.source, partial(self._build, one, self.names)) for one in entries])

    def retry(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Builds those graphs of documents again that have gaps; their texts stay as they are."""
        tasks = []
        for one in entries:
            lacking = [name for name in graphs() if name in one.graphs and one.graphs[name].gaps]
            tasks.append((one.source, partial(self._build, one, lacking)))
        return self._each(tasks)

    def settle(self, graph: Graph[Any]) -> list[Outcome]:
        """Builds what belongs to the collection itself, out of what its documents have."""
        return self._each([(self.collection, partial(self._settle, graph))])

    def _each(self, tasks: Sequence[tuple[str, Make]]) -> list[Outcome]:
        self.listener.expect(len(tasks))
        # Here, not beside the calls: a run that fails must leave no thread at the store.
        if not self.dry:
            self.store.make_schema()
        job = Job(self.kit.documents, stop=self.stop)
        try:
            with job:
                begun = [job.submit(0, self._one, job, task) for task in tasks]
                outcomes = [
                    self._outcome(name, future)
                    for (name, _), future in zip(tasks, begun, strict=True)
                ]
        except BaseException as error:
            # Nothing comes in any more once the run is said to have failed.
            self._gate.close()
            if isinstance(error, BudgetSpent | ServerError | StoreError):
                # What is under way is paid for: its replies are kept, too.
                job.settle()
            raise
        if self.stop.is_set():
            job.settle()
        return outcomes

    def _outcome(self, name: str, future: Future[Outcome]) -> Outcome:
        try:
            return future.result()
        except FabulaError:
            # Whatever else befell what was under way: who has stopped the run does not wait for it.
            if not self.stop.is_set():
                raise
            return Outcome(name, "stopped")

    def _one(self, run: Job, task: tuple[str, Make]) -> Outcome:
        name, make = task
        began = time.monotonic()
        heard = self.listener.begin(name)
        meter = Meter(self.kit.counter)
        own = Job(self.kit.workers, within=run)
        try:
            outcome = make(own, meter, _Whole(heard, meter))
        except Stopped:
            outcome = Outcome(name, "stopped")
        except (LoadError, BadReply, Changed, NotFound, TooLarge) as error:
            outcome = Outcome(name, "failed", error=_naming(name, error))
        # Calls that were under way when it ended like that are paid for: they are counted, too.
        own.settle()
        seconds = time.monotonic() - began
        outcome = replace(outcome, source=name, steps=meter.usage(), seconds=seconds)
        self.listener.end(outcome)
        return outcome

    def _ingest(self, source: Source, run: Job, meter: Meter, progress: Progress) -> Outcome:
        document = source.read()
        with self._locking:
            alone = self._alone.setdefault(document.sha256, threading.Lock())
        with alone:
            twin = self._made.get(document.sha256)
            is_new = not self.store.same(self.collection, [document.id])
            if twin and twin[0] != document.id and is_new:
                return Outcome("", "unchanged", *twin)
            outcome = self._update(document, run, meter, progress)
            self._made.setdefault(document.sha256, (outcome.document, outcome.title))
            return outcome

    def _update(self, document: Document, run: Job, meter: Meter, progress: Progress) -> Outcome:
        own, unchanged = self._there(document)
        if unchanged:
            return unchanged
        names = (f"document {document.id}", f"text {document.sha256} {self.collection}")
        with self._turn(names, document.source, run, progress) as (held, heard):
            # Whoever had the turn before may just have made it.
            own, unchanged = self._there(document)
            return unchanged or self._renew(document, own, run, meter, heard, held)

    def _there(self, document: Document) -> tuple[Entry | None, Outcome | None]:
        """The document as the graph has it, and what is to be said where nothing is to be done."""
        there = self.store.same(self.collection, [document.id], [document.sha256])
        own = next((entry for entry in there if entry.id == document.id), None)
        for entry in [own] if own else there:
            # Another file with the same text does not come in beside it for its gaps.
            if entry.sha256 == document.sha256 and not self._stale(entry, gaps=own is not None):
                return own, Outcome("", "unchanged", entry.id, entry.title)
        return own, None

    def _renew(
        self,
        document: Document,
        own: Entry | None,
        run: Job,
        meter: Meter,
        progress: Progress,
        held: Turn | None,
    ) -> Outcome:
        wanted = self._wanted(own)
        recipes = self.kit.recipes(document.sha256, wanted)
        names = stale(wanted, own, recipes)
        if self.rebuild or not own or own.sha256 != document.sha256:
            names = [TEXT, *(graph.name for graph in wanted)]
        built = [one for one in wanted if one.name in names]
        with Job(self.kit.workers, within=run) as job:
            making = _Making(self, own, recipes, built, meter, Work(job, progress))
            if TEXT in names:
                part, chunks = making.text(document)
                parts = [part]
            else:
                chunks = making.chunks()
                parts = []
            parts += making.parts(Text(document, chunks))
        status: Status = "replaced" if own else "added"
        dimensions = len(chunks[0].embedding)
        made = Outcome("", status, document.id, document.title)
        return self._take(made, parts, dimensions, progress, meter, held)

    def _build(
        self, entry: Entry, names: Collection[str], run: Job, meter: Meter, progress: Progress
    ) -> Outcome:
        if not self._missing(entry, names)[0]:
            return Outcome("", "unchanged", entry.id, entry.title)
        with self._turn([f"document {entry.id}"], entry.source, run, progress) as (held, heard):
            # Whoever had the turn before may just have changed it.
            [now] = self.store.same(self.collection, [entry.id]) or [entry]
            built, recipes = self._missing(now, names)
            if not built:
                return Outcome("", "unchanged", now.id, now.title)
            with Job(self.kit.workers, within=run) as job:
                making = _Making(self, now, recipes, built, meter, Work(job, heard))
                chunks = making.chunks()
                document = document_of(now, chunks)
                parts = making.parts(Text(document, chunks))
            is_new = not any(graph.name in now.graphs for graph in built)
            made = Outcome("", "added" if is_new else "replaced", document.id, document.title)
            return self._take(made, parts, len(chunks[0].embedding), heard, meter, held)

    def _settle(self, graph: Graph[Any], run: Job, meter: Meter, progress: Progress) -> Outcome:
        title = f"{graph.name} of collection {self.collection!r}"
        with self._turn([f"{graph.name} {self.collection}"], title, run, progress) as (held, heard):
            settled = self.store.settled(self.collection)
            entries = resting(graph, self.store.documents(self.collection), settled)
            made_from = self.kit.settled_recipe(graph, entries, settled)
            was = settled.get(graph.name)
            is_made = was is not None and was.fingerprint == fingerprint(made_from)
            if was and is_made and not (was.gaps or self.rebuild):
                return Outcome("", "unchanged", title=title)
            with Job(self.kit.workers, within=run) as job:
                own = settled.keys() & {*graph.rests_on, *graph.uses}
                read = partial(self._read, entries, settled)
                reader = Reader(self.collection, entries, read, frozenset(own))
                known = self._known(graph, was, made_from)
                models = self.kit.models(meter, dry=self.dry)
                work = Work(job, heard, GapLimit(strict=self.strict))
                assert graph.settle
                built = graph.settle(reader, self.kit.knobs(graph), models, known, work)
            part = part_of(graph, reader, built, made_from, meter.usage())
            space = self.store.space(self.collection)
            dimensions = space.dimensions if space else 1
            made = Outcome("", "replaced" if was else "added", title=title)
            return self._take(made, [part], dimensions, heard, meter, held)

    def _known(self, graph: Graph[Any], was: Record | None, made_from: Recipe) -> Known:
        """What the collection's own part was, if it was made in the same way."""
        if was is None or self.rebuild or not alike(was.made_from, made_from):
            return Known()
        try:
            owner = Owner(self.collection, graph.name)
            return known_of(read_part(self.store, owner, embeddings=not self.dry), (), {})
        except (NotFound, Changed):  # dropped, or replaced, just now
            return Known()

    def _read(
        self, entries: Sequence[Entry], settled: Mapping[str, Record], name: str, document: str
    ) -> Part:
        """A part that another is made from. Raises Changed where it is another version by now."""
        told = next((entry.graphs for entry in entries if entry.id == document), settled)
        part = read_part(self.store, Owner(self.collection, name, document))
        if part.record != told[name]:
            raise Changed("A document was changed while this was built: try again.")
        return part

    def _missing(
        self, entry: Entry, names: Collection[str]
    ) -> tuple[list[Graph[Any]], Mapping[str, Recipe]]:
        """Which of these graphs are to be built of a document that is there, by these recipes."""
        wanted = {graph.name: graph for graph in self._wanted(entry)}
        base = entry.graphs[TEXT].made_from
        recipes = self.kit.recipes(entry.sha256, [*wanted.values()], base=base)
        # What these rest on or use has to be as the recipes say, too.
        touched = with_relatives(wanted, names)
        made = set(stale([one for one in wanted.values() if one.name in touched], entry, recipes))
        if self.rebuild:
            made |= with_dependents(wanted, names)
        return [graph for name, graph in wanted.items() if name in made], recipes

    @contextmanager
    def _turn(
        self, names: Sequence[str], source: str, run: Job, progress: Progress
    ) -> Iterator[tuple[Turn | None, Progress]]:
        """Keeps other processes from making what has these names, and waits for one that does.

        Gives the turn, and what hears the steps and looks after it; a dry run needs none.
        A thread has one turn at a time, and what it waits for within needs no turn: the locks of
        the switch, which are held for that alone.
        """
        if self.dry:
            yield None, progress
            return
        is_told = False

        def wait() -> None:
            nonlocal is_told
            if not is_told:
                LOG.warning("Another Fabula is at work on %s: waiting until it has ended.", source)
                is_told = True
            if run.failure is not None:
                raise run.failure

        with turn(self.store, names, wait) as held:
            yield held, _Held(progress, held)

    def _wanted(self, entry: Entry | None) -> list[Graph[Any]]:
        """The graphs of a document: those asked for, those it has, and what they rest on."""
        installed = graphs()
        has = [name for name in (entry.graphs if entry else ()) if name in installed]
        return with_bases(installed, {*self.names, *has})

    def _stale(self, entry: Entry, *, gaps: bool) -> list[str]:
        if self.rebuild:
            return [TEXT]
        wanted = self._wanted(entry)
        return stale(wanted, entry, self.kit.recipes(entry.sha256, wanted), gaps=gaps)

    def _take(
        self,
        made: Outcome,
        parts: Sequence[Part],
        dimensions: int,
        progress: Progress,
        meter: Meter,
        held: Turn | None,
    ) -> Outcome:
        """Writes the parts in their owner's turn, but in a dry run, and says what they are."""
        passages = [node for part in parts for node in part.nodes if node.embedding is not None]
        self.stop.check()
        if held:
            progress.expect("write", len(passages))

            def written(count: int) -> None:
                # Of what is staged until now no reader sees anything; the next ingest sweeps it.
                self.stop.check()
                for _ in range(count):
                    progress.done("write", meter.total())

            model = self.kit.embedder.model
            with self._gate:
                # At once: what follows tries again for half a minute where no server answers.
                held.check()
                self.store.prepare(self.collection, model, dimensions)
                self.store.apply(parts, model, written, held)
        installed = graphs()
        notes = [
            note
            for part in parts
            if part.owner.graph in installed
            for note in installed[part.owner.graph].tell(part.record.facts)
        ]
        return replace(
            made,
            graphs=tuple(part.owner.graph for part in parts),
            counts=Counter(
                node.label.lower()
                for part in parts
                for node in part.nodes
                if node.sources and node.label != GAP
            ),
            notes=tuple(notes),
            gaps=tuple(gap for part in parts for gap in gaps_of(part)),
        )

    def means(self, made_from: Recipe) -> Mapping[str, float]:
        """Averages over the parts that were made in the same way, of what begins with `mean_`."""
        name = str(made_from["graph"])
        with self._locking:
            if name not in self._means:
                told: dict[str, list[float]] = {}
                for entry in islice(self.store.documents(self.collection), MOST_MEANT):
                    was = entry.graphs.get(name)
                    if was is None or not alike(was.made_from, made_from):
                        continue
                    for fact, value in was.facts.items():
                        if fact.startswith("mean_"):
                            told.setdefault(fact, []).append(float(value))
                self._means[name] = {fact: fmean(values) for fact, values in told.items()}
            return self._means[name]


@dataclass(frozen=True, slots=True)
class _Making:
    """The parts of one document, made from `recipes`; `entry` is what the graph has of it.

    `graphs` are those that are built.
    """

    run: Ingest
    entry: Entry | None
    recipes: Mapping[str, Recipe]
    graphs: Sequence[Graph[Any]]
    meter: Meter
    work: Work

    def text(self, document: Document) -> tuple[Part, tuple[Chunk, ...]]:
        """The document's part, and its chunks; those that were there keep their embeddings."""
        meter = Meter(self.meter)
        before = self._before(TEXT)
        known = {chunk.id: chunk for chunk in (chunks_of(before) if before else ())}
        tokens = self.recipes[TEXT]["settings"]["chunk_tokens"]
        bare = split(document, tokens, [chunk.text for chunk in known.values()])
        kept = [known.get(chunk.id) for chunk in bare]
        placed = [
            replace(chunk, embedding=was.embedding) if was else chunk
            for chunk, was in zip(bare, kept, strict=True)
        ]
        chunks = self._embed(placed, meter)
        return text_part(document, chunks, self.recipes[TEXT], meter.usage()), tuple(chunks)

    def chunks(self) -> tuple[Chunk, ...]:
        """The chunks that are there."""
        return chunks_of(self.read(TEXT))

    def parts(self, text: Text) -> list[Part]:
        """The parts of the graphs that are built, each after those that it rests on or uses."""
        made: dict[str, Part] = {}
        for graph in self.graphs:
            below = {name: made.get(name) or self.read(name) for name in self._below(graph)}
            made[graph.name] = self._part(graph, replace(text, below=below))
        return [*made.values()]

    def _below(self, graph: Graph[Any]) -> list[str]:
        there = {*(self.entry.graphs if self.entry else ()), *(one.name for one in self.graphs)}
        return [*graph.rests_on, *(name for name in graph.uses if name in there)]

    def _part(self, graph: Graph[Any], text: Text) -> Part:
        """A graph's part, what it knows of an earlier version used again."""
        meter = Meter(self.meter)
        known = self._known(graph)
        models = self.run.kit.models(meter, dry=self.run.dry)
        knobs = self.run.kit.knobs(graph)
        work = replace(self.work, gaps=GapLimit(strict=self.run.strict))
        assert graph.build
        built = graph.build(text, knobs, models, known, work)
        return part_of(graph, text, built, self.recipes[graph.name], meter.usage())

    def read(self, name: str, *, embeddings: bool = True) -> Part:
        """What the graph has of a part; in a dry run with vectors that stand in for the model's."""
        assert self.entry is not None
        owner = Owner(self.run.collection, name, self.entry.id)
        part = read_part(self.run.store, owner, embeddings=embeddings)
        if not (self.run.dry and embeddings):
            return part
        texts = [str(node.properties.get("text", "")) for node in part.nodes]
        vectors = self.run.kit.stand_ins(texts)
        if vectors is None:
            return part
        nodes = tuple(
            one if one.embedding is None else replace(one, embedding=row)
            for one, row in zip(part.nodes, vectors, strict=True)
        )
        return replace(part, nodes=nodes)

    def _before(self, name: str, *, embeddings: bool = True) -> Part | None:
        """What the graph has of a part that was made in the same way as it would be now."""
        was = self.entry.graphs.get(name) if self.entry else None
        if was is None or self.run.rebuild or not alike(was.made_from, self.recipes[name]):
            return None
        try:
            return self.read(name, embeddings=embeddings)
        except (NotFound, Changed):  # removed, or replaced, just now
            return None

    def _known(self, graph: Graph[Any]) -> Known:
        means = self.run.means(self.recipes[graph.name]) if self.run.dry else {}
        part = self._before(graph.name)
        if part is None:
            return Known(means=means)
        text = self._before(TEXT, embeddings=False)
        return known_of(part, chunks_of(text) if text else (), means)

    def _embed(self, chunks: Sequence[Chunk], meter: Meter) -> list[Chunk]:
        """The chunks, all with embeddings, asked for in batches, side by side."""
        bare = [chunk for chunk in chunks if not len(chunk.embedding)]
        embedder = self.run.kit.counted_embedder(meter, dry=self.run.dry)
        size = embedder.batch
        batches = [bare[start : start + size] for start in range(0, len(bare), size)]
        progress = self.work.progress

        def embed(batch: Sequence[Chunk]) -> list[Chunk]:
            vectors = embedder.embed([chunk.text.strip() for chunk in batch]).vectors
            progress.done("embeddings", meter.total())
            return [replace(one, embedding=row) for one, row in zip(batch, vectors, strict=True)]

        progress.expect("embeddings", len(batches))
        done = self.work.job.each(EMBED, embed, batches)
        made = {chunk.id: chunk for batch in done for chunk in batch}
        return [made.get(chunk.id, chunk) for chunk in chunks]


def _naming(source: str, error: FabulaError) -> FabulaError:
    """A model does not know whose text it was sent: its error is given the source's name."""
    if isinstance(error, LoadError):
        return error
    named = type(error)(f"{source}: {error}")
    named.__cause__ = error
    return named
