"""The second step of a build: make the parts that a plan asks for.

It needs models and no database. A plan and the parts that are made from it can be pickled, so a
worker on another machine can do this step with models of its own:

    built = make(plan, ModelFactory(settings), SilentProgress(), Meter())
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabula.build.driver import run
from fabula.build.values import BuiltParts, CollectionPlan, DocumentPlan, GraphPlan
from fabula.config.model_factory import ModelFactory
from fabula.errors import ReplyPending
from fabula.graph import Edge, Gap, Node, Part
from fabula.graph.extraction import RULES
from fabula.graph.gaps import GapLimit, Missing
from fabula.graph.installed import graph as installed_graph
from fabula.graph.method import BuildText, BuildWork, Built, Graph, PieceListener
from fabula.graph.parts import part_of, piece_of, text_part
from fabula.models.batching import warn_of_cut_texts
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.progress import Progress
from fabula.text.chunk import split
from fabula.text.document import Chunk

PartListener = Callable[[Part, int], None]
"""Given each part as soon as it is made, and before that pieces of it where its graph gives them
(`Part.is_whole`), with the number of dimensions of an embedding; returns at once, in any thread."""
EMBEDDING_PRIORITY = 0
"""The priority of chunks' embeddings, the highest: everything else depends on them."""


@dataclass(frozen=True, slots=True)
class _Context:
    """What the parts of one owner are made with."""

    models: ModelFactory
    job: TaskGroup
    progress: Progress
    meter: Meter
    strict: bool
    dry: bool

    def limit(self, graph: Graph[Any], owner: str) -> GapLimit:
        """Return what counts the gaps of a graph, which is named in the log with its owner."""
        return GapLimit(f"{graph.name} of {owner}", strict=self.strict)


def make(
    plan: DocumentPlan,
    models: ModelFactory,
    progress: Progress,
    meter: Meter,
    within: TaskGroup | None = None,
    listener: PartListener | None = None,
) -> BuiltParts:
    """Make the parts of a document: its chunks, if they are new, and then graph after graph.

    Args:
        plan: What to make, and from what.
        models: The models that are asked.
        progress: Told of each step.
        meter: Counts what models are asked.
        within: The job of the run that this is part of; it fails with it.
        listener: Given each part as soon as it is made, and pieces of it before; None where all
            are wanted together at the end.

    Raises:
        BadReply: A model did not give more pieces of a graph than may be missing.
        ModelError: A model can't be asked.
        ReplyPending: Replies come by a batch. All calls that can be made without them have been
            collected, those of all graphs.
        Stopped: The run was stopped.

    """
    with TaskGroup(models.workers, within=within) as job:
        context = _Context(models, job, progress, meter, plan.strict, plan.dry)
        parts: list[Part] = []
        chunks = plan.chunks
        if plan.text_recipe is not None:
            text_of_document, chunks = _make_text(plan, context)
            parts.append(text_of_document)
            if listener is not None:
                listener(text_of_document, len(chunks[0].embedding))
        built: dict[str, Part] = {}
        pending: dict[str, ReplyPending] = {}
        for step in plan.graphs:
            if waits_for := [pending[name] for name in step.below if name in pending]:
                pending[step.name] = waits_for[0]
                continue
            below = {name: built.get(name) or plan.unchanged[name] for name in step.below}
            text = BuildText(plan.document, chunks, below, step.decisions, step.layers)
            try:
                built[step.name] = _make_graph(step, text, context, listener)
                if listener is not None:
                    listener(built[step.name], len(chunks[0].embedding))
            except ReplyPending as error:
                # The other graphs go on: one batch takes the calls of all of them.
                pending[step.name] = error
        if pending:
            raise next(iter(pending.values()))
    return BuiltParts((*parts, *built.values()), len(chunks[0].embedding))


def make_collection(
    plan: CollectionPlan,
    models: ModelFactory,
    progress: Progress,
    meter: Meter,
    within: TaskGroup | None = None,
) -> BuiltParts:
    """Make the part of a collection's own graph; the arguments are those of `make`."""
    with TaskGroup(models.workers, within=within) as job:
        context = _Context(models, job, progress, meter, plan.strict, plan.dry)
        build_models = models.models(meter, dry=plan.dry)
        assert plan.graph.build_collection
        work = BuildWork(context.limit(plan.graph, plan.reader.collection))
        build = plan.graph.build_collection(
            plan.reader, plan.options, build_models, plan.known, work
        )
        built = run(build, work, build_models, job, progress)
    part = part_of(plan.graph, plan.reader, built, plan.recipe, meter.usage())
    return BuiltParts((part,), plan.dimensions)


def _make_text(plan: DocumentPlan, context: _Context) -> tuple[Part, tuple[Chunk, ...]]:
    """Cut the text into chunks; those that the store has already keep their embeddings."""
    assert plan.text_recipe is not None
    meter = Meter(context.meter)
    previous = {chunk.id: chunk for chunk in plan.chunks}
    tokens = plan.text_recipe["settings"]["chunk_tokens"]
    chunks = split(plan.document, tokens, [chunk.text for chunk in previous.values()])
    embedded = [
        replace(chunk, embedding=previous[chunk.id].embedding) if chunk.id in previous else chunk
        for chunk in chunks
    ]
    embedded = _embed(embedded, plan.document.title, context, meter)
    part = text_part(plan.document, embedded, plan.text_recipe, meter.usage())
    return part, tuple(embedded)


def _embed(chunks: Sequence[Chunk], title: str, context: _Context, meter: Meter) -> list[Chunk]:
    """Return the chunks, all with embeddings, asked for in batches, side by side."""
    missing = [chunk for chunk in chunks if not len(chunk.embedding)]
    cut: dict[str, int] = {}
    embedder = context.models.counted_embedder(meter, dry=context.dry)
    size = embedder.batch
    batches = [missing[start : start + size] for start in range(0, len(missing), size)]

    def embed(batch: Sequence[Chunk]) -> list[Chunk]:
        embeddings = embedder.embed([chunk.text.strip() for chunk in batch], "passage")
        context.progress.done("embeddings", meter.total())
        cut.update(embeddings.cut)
        rows = zip(batch, embeddings.vectors, strict=True)
        return [replace(chunk, embedding=row) for chunk, row in rows]

    context.progress.expect("embeddings", len(batches))
    done = context.job.each(EMBEDDING_PRIORITY, embed, batches)
    places = {c.text.strip(): f"{title}: passage {c.index + 1:,}" for c in missing}
    warn_of_cut_texts(cut, embedder.model, places)
    embedded = {chunk.id: chunk for batch in done for chunk in batch}
    return [embedded.get(chunk.id, chunk) for chunk in chunks]


def _make_graph(
    step: GraphPlan, text: BuildText, context: _Context, listener: PartListener | None
) -> Part:
    graph: Graph[Any] = installed_graph(step.name)
    meter = Meter(context.meter)
    models = context.models.models(meter, dry=context.dry)
    pieces = _pass_on(listener, graph, text) if listener and not graph.inherits else None
    limit = context.limit(graph, text.document.title)

    work = BuildWork(limit, pieces)

    def build() -> Built:
        assert graph.build
        wanted = graph.build(text, step.options, models, step.known, work)
        # Where it fails, its own calls end with it, and not those of the graphs after it.
        with TaskGroup(context.models.workers, within=context.job) as job:
            return run(wanted, work, models, job, context.progress)

    built = limit.catch_fault(build)
    if isinstance(built, Missing):
        rests_on = dict.fromkeys((chunk.id for chunk in text.chunks), 1.0)
        gap = Gap(RULES, built.why, (*rests_on,), rests_on)
        built = Built((), (), gaps=(gap,), kept=work.kept)
    return part_of(graph, text, built, step.recipe, meter.usage())


def _pass_on(listener: PartListener, graph: Graph[Any], text: BuildText) -> PieceListener:
    """Return what gives the listener the pieces of a graph's part."""
    dimensions = len(text.chunks[0].embedding)

    def give(nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        listener(piece_of(graph, text.document, nodes, edges), dimensions)

    return give
