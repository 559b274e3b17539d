"""The second step of a build: make the parts that a plan asks for.

It needs models and no database. A plan and the parts that are made from it can be pickled, so a
worker on another machine can do this step with models of its own:

    built = make(plan, ModelFactory(settings), SilentProgress(), Meter())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabula.build.driver import Scoped, run
from fabula.build.values import BuiltParts, CollectionPlan, DocumentPlan, GraphPlan
from fabula.config.model_factory import ModelFactory
from fabula.graph import Edge, Gap, Node, Part
from fabula.graph.builds import Build, Start, Started
from fabula.graph.calls import Calls
from fabula.graph.extraction import RULES
from fabula.graph.gaps import GapLimit
from fabula.graph.installed import graph as installed_graph
from fabula.graph.method import BuildText, BuildWork, Built, Graph, PieceListener
from fabula.graph.parts import part_of, piece_of, text_part
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.progress import Progress
from fabula.models.roles import Models
from fabula.text.chunk import split
from fabula.text.document import Chunk

PartListener = Callable[[Part, int], None]
"""Given each part as soon as it is made, and before that pieces of it where its graph gives them
(`Part.is_whole`), with the number of dimensions of an embedding; returns at once, in any thread."""


def make(
    plan: DocumentPlan | CollectionPlan,
    models: ModelFactory,
    progress: Progress,
    meter: Meter,
    within: TaskGroup | None = None,
    listener: PartListener | None = None,
) -> BuiltParts:
    """Make the parts of a document, or that of a collection's own graph.

    Args:
        plan: What to make, and from what.
        models: The models that are asked.
        progress: Told of each step.
        meter: Counts what models are asked.
        within: The job of the run that this is part of; it fails with it.
        listener: Given each part of a document as soon as it is made, and pieces of it before; None
            where all are wanted together at the end.

    Raises:
        BadReply: A model did not give more pieces of a graph than may be missing.
        ModelError: A model can't be asked.
        Stopped: The run was stopped.
    """
    with TaskGroup(models.workers, within=within) as job:
        return run(open_build(plan, models.models, meter, listener), job, progress)


def open_build(
    plan: DocumentPlan | CollectionPlan,
    models: Callable[[Meter], Models],
    meter: Meter,
    listener: PartListener | None = None,
) -> Scoped[BuiltParts]:
    """Return the build that `make` runs, for whoever answers its requests in another way.

    Args:
        plan: What to make, and from what.
        models: Returns models whose calls a meter counts.
        meter: Counts what models are asked.
        listener: As that of `make`.
    """
    own = models(meter)
    if isinstance(plan, CollectionPlan):
        return Scoped(_make_collection(plan, own), own)
    return Scoped(_DocumentBuild(plan, models, meter, listener).make(), own)


def _make_collection(plan: CollectionPlan, models: Models) -> Build[BuiltParts]:
    assert plan.graph.build_collection
    owner = f"{plan.graph.name} of {plan.reader.collection}"
    work = BuildWork(GapLimit(owner, strict=plan.strict))
    build = plan.graph.build_collection(plan.reader, plan.options, models, plan.known, work)
    [built] = yield [Scoped(build, models, work.saved)]
    part = part_of(plan.graph, plan.reader, built, plan.recipe, models.meter.usage())
    return BuiltParts((part,), plan.dimensions)


@dataclass(frozen=True, slots=True)
class _DocumentBuild:
    """The build of all parts of one document."""

    plan: DocumentPlan
    models: Callable[[Meter], Models]
    """Returns models whose calls a meter counts: each part has its own."""
    meter: Meter
    listener: PartListener | None

    def make(self) -> Build[BuiltParts]:
        """Make the chunks, if they are new, and then each graph once those below it are there."""
        plan, chunks = self.plan, self.plan.chunks
        parts: list[Part] = []
        if plan.text_recipe is not None:
            text, chunks = yield from self._make_text()
            parts.append(text)
            self._give(text, chunks)
        graphs: dict[str, Started[Part]] = {}
        for step in plan.graphs:
            below = {name: graphs[name] for name in step.below if name in graphs}
            graphs[step.name] = yield Start(self._make_graph(step, chunks, below))
        parts += yield [*graphs.values()]
        return BuiltParts((*parts,), len(chunks[0].embedding))

    def _make_text(self) -> Build[tuple[Part, tuple[Chunk, ...]]]:
        """Cut the text into chunks; those that the store has already keep their embeddings."""
        plan = self.plan
        assert plan.text_recipe is not None
        models = self.models(Meter(self.meter))
        previous = {chunk.id: chunk.embedding for chunk in plan.chunks}
        tokens = plan.text_recipe["settings"]["chunk_tokens"]
        chunks = split(plan.document, tokens, [chunk.text for chunk in plan.chunks])
        new = {chunk.text.strip(): chunk for chunk in chunks if chunk.id not in previous}
        title = plan.document.title
        places = {text: f"{title}: passage {chunk.index + 1:,}" for text, chunk in new.items()}
        embed = Calls(models, BuildWork()).embed([*new], {})
        [vectors] = yield [Scoped(embed, models, places=places)]
        embedded = tuple(
            replace(
                chunk,
                embedding=previous[chunk.id]
                if chunk.id in previous
                else vectors[chunk.text.strip()],
            )
            for chunk in chunks
        )
        return text_part(plan.document, embedded, plan.text_recipe, models.meter.usage()), embedded

    def _make_graph(
        self, step: GraphPlan, chunks: tuple[Chunk, ...], made: Mapping[str, Started[Part]]
    ) -> Build[Part]:
        parts = dict(zip(made, (yield [*made.values()]), strict=True))
        below = {name: parts.get(name) or self.plan.unchanged[name] for name in step.below}
        text = BuildText(self.plan.document, chunks, below, step.decisions, step.layers)
        graph: Graph[Any] = installed_graph(step.name)
        models = self.models(Meter(self.meter))
        limit = GapLimit(f"{graph.name} of {text.document.title}", strict=self.plan.strict)
        pieces = _pass_on(self.listener, graph, text) if self.listener else None
        work = BuildWork(limit, None if graph.inherits else pieces)
        assert graph.build
        try:
            build = graph.build(text, step.options, models, step.known, work)
            # Where it fails, its own calls end with it, and not those of the graphs beside it.
            [built] = yield [Scoped(build, models, work.saved)]
        except Exception as error:  # noqa: BLE001  those that are no fault are raised
            fault = limit.note_fault(error)
            rests_on = dict.fromkeys((chunk.id for chunk in chunks), 1.0)
            gap = Gap(RULES, fault.why, (*rests_on,), rests_on)
            built = Built((), (), gaps=(gap,), kept=work.kept)
        part = part_of(graph, text, built, step.recipe, models.meter.usage())
        self._give(part, chunks)
        return part

    def _give(self, part: Part, chunks: Sequence[Chunk]) -> None:
        if self.listener is not None:
            self.listener(part, len(chunks[0].embedding))


def _pass_on(listener: PartListener, graph: Graph[Any], text: BuildText) -> PieceListener:
    """Return what gives the listener the pieces of a graph's part."""
    dimensions = len(text.chunks[0].embedding)

    def give(nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        listener(piece_of(graph, text.document, nodes, edges), dimensions)

    return give
