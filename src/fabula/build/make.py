"""The second step of a build: make the parts that a plan asks for.

It needs models and no database. A plan and the parts that are made from it can be pickled, so a
worker on another machine can do this step with models of its own:

    built = make(plan, ModelFactory(settings), SilentProgress(), Meter())
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabula.build.values import BuiltParts, CollectionPlan, DocumentPlan, GraphPlan
from fabula.config.model_factory import ModelFactory
from fabula.graph import Part
from fabula.graph.gaps import GapLimit
from fabula.graph.installed import graph as installed_graph
from fabula.graph.method import BuildText, BuildWork, Graph
from fabula.graph.parts import part_of, text_part
from fabula.models.batching import warn_of_cut_texts
from fabula.models.counted import Meter
from fabula.models.parallel import Job
from fabula.models.progress import Progress
from fabula.text.chunk import split
from fabula.text.document import Chunk

EMBEDDING_PRIORITY = 0
"""The priority of chunks' embeddings, the highest: everything else depends on them."""


@dataclass(frozen=True, slots=True)
class _Context:
    """What the parts of one owner are made with."""

    models: ModelFactory
    job: Job
    progress: Progress
    meter: Meter
    strict: bool
    dry: bool

    def work(self) -> BuildWork:
        """Return how a graph makes its calls, with a count of gaps of its own."""
        return BuildWork(self.job, self.progress, GapLimit(strict=self.strict))


def make(
    plan: DocumentPlan,
    models: ModelFactory,
    progress: Progress,
    meter: Meter,
    within: Job | None = None,
) -> BuiltParts:
    """Make the parts of a document: its chunks, if they are new, and then graph after graph.

    Args:
        plan: What to make, and from what.
        models: The models that are asked.
        progress: Told of each step.
        meter: Counts what models are asked.
        within: The job of the run that this is part of; it fails with it.

    Raises:
        BadReply: A model did not give more pieces of a graph than may be missing.
        ModelError: A model can't be asked.
        Stopped: The run was stopped.

    """
    with Job(models.workers, within=within) as job:
        context = _Context(models, job, progress, meter, plan.strict, plan.dry)
        parts: list[Part] = []
        chunks = plan.chunks
        if plan.text_recipe is not None:
            text_of_document, chunks = _make_text(plan, context)
            parts.append(text_of_document)
        built: dict[str, Part] = {}
        for step in plan.graphs:
            below = {name: built.get(name) or plan.unchanged[name] for name in step.below}
            text = BuildText(plan.document, chunks, below, step.decisions)
            built[step.name] = _make_graph(step, text, context)
    return BuiltParts((*parts, *built.values()), len(chunks[0].embedding))


def make_collection(
    plan: CollectionPlan,
    models: ModelFactory,
    progress: Progress,
    meter: Meter,
    within: Job | None = None,
) -> BuiltParts:
    """Make the part of a collection's own graph; the arguments are those of `make`."""
    with Job(models.workers, within=within) as job:
        context = _Context(models, job, progress, meter, plan.strict, plan.dry)
        build_models = models.models(meter, dry=plan.dry)
        assert plan.graph.build_collection
        built = plan.graph.build_collection(
            plan.reader, plan.options, build_models, plan.known, context.work()
        )
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
        embeddings = embedder.embed([chunk.text.strip() for chunk in batch])
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


def _make_graph(step: GraphPlan, text: BuildText, context: _Context) -> Part:
    graph: Graph[Any] = installed_graph(step.name)
    meter = Meter(context.meter)
    models = context.models.models(meter, dry=context.dry)
    assert graph.build
    built = graph.build(text, step.options, models, step.known, context.work())
    return part_of(graph, text, built, step.recipe, meter.usage())
