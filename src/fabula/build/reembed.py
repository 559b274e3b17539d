"""A collection given the embeddings of another model, while questions go on being answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from fabula.errors import ModelError, NotFound
from fabula.models import Embedder
from fabula.models.batching import warn_of_cut_texts
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.progress import Progress
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store import Store, reembedding
from fabula.store.embedding_space import Space, refuse_dimensions, refuse_importing
from fabula.store.reembedding import Unembedded

NODES_PER_PAGE = 4096
"""Passages and elements whose texts are held at a time."""


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What a run did: passages embedded, dimensions, what models were asked, and seconds.

    `passages` counts embedded elements, too, and leaves out what a run before, which was stopped,
    has embedded; where the collection had the model already it is 0.
    """

    model: str
    dimensions: int
    passages: int
    usage: Usage
    seconds: float


@dataclass(frozen=True, slots=True)
class ReembedRun:
    """One run.

    Attributes:
        store: The graph.
        collection: The collection to re-embed.
        embedder: What it will be embedded with.
        uncached_embedder: The same without a cache, which would answer for a model that is gone.
        workers: The threads for calls to the model.
        meter: Counts what the embedder is asked.
        progress: Told of each step.
        stop: Once it is set, the run ends with Stopped.
    """

    store: Store
    collection: str
    embedder: Embedder
    uncached_embedder: Embedder
    workers: Workers
    meter: Meter
    progress: Progress
    stop: Stop = field(default_factory=Stop)

    def run(self) -> Reembedded:
        """Bring the collection into the embedder's space, from wherever another run has left it.

        What a run with another model has written, if it was stopped, is given up. After an error
        or a crash the same run continues.

        Raises:
            ModelError: The model can't be asked.
            NotFound: There is nothing to embed.
            StoreError: Another run is at work on the collection.
        """
        began = time.monotonic()
        # The model is asked first, so that nothing is recorded for one that does not answer.
        target = (
            self.uncached_embedder.model,
            self.uncached_embedder.embed(["dimensions"], "passage").vectors.shape[1],
        )
        refuse_dimensions(*target)
        self.store.make_schema()
        passages = 0
        with reembedding.lock_space(self.store, self.collection) as check:
            while not _is_done(space := self._require(check()), target):
                self.stop.check()
                if space.phase == "clearing":
                    self._step("clear", reembedding.clear, space)
                elif not space.phase:
                    reembedding.begin(self.store, self.collection, *target)
                elif (space.next_model, space.next_dimensions) != target:
                    reembedding.give_up(self.store, space)
                else:
                    passages += self._write(space, check)
                    self._step("index", reembedding.index, space)
                    check()
                    reembedding.flip(self.store, space)
        seconds = time.monotonic() - began
        return Reembedded(*target, passages, self.meter.total(), seconds)

    def _require(self, space: Space | None) -> Space:
        if space is None or not (space.has_documents or space.phase):
            raise NotFound(
                f"Nothing has been ingested into collection {self.collection!r} yet, so there is "
                "nothing to embed again: its first `fabula ingest` takes the model that "
                "FABULA_EMBEDDING_MODEL names."
            )
        refuse_importing(space)
        return space

    def _write(self, space: Space, check: Callable[[], Space | None]) -> int:
        """Embed what has no embedding of the next space yet; return how much that was."""
        nodes, embedded = reembedding.count_embedded(self.store, space)
        self.progress.expect("embed", nodes - embedded)
        written = 0
        for page in reembedding.find_unembedded(self.store, space, NODES_PER_PAGE):
            check()
            with TaskGroup(self.workers, stop=self.stop) as job:
                size = self.embedder.batch
                batches = [page[start : start + size] for start in range(0, len(page), size)]
                written += sum(job.each(0, partial(self._batch, space), batches))
        return written

    def _batch(self, space: Space, nodes: Sequence[Unembedded]) -> int:
        # A chunk's text includes the white space around it, and a build embeds it without.
        embeddings = self.embedder.embed([node.text.strip() for node in nodes], "passage")
        vectors = embeddings.vectors
        places = {node.text.strip(): f"the passage or element {node.id}" for node in nodes}
        warn_of_cut_texts(embeddings.cut, self.embedder.model, places)
        if vectors.shape[1] != space.next_dimensions:
            raise ModelError(
                f"{self.embedder.model} gave {vectors.shape[1]} dimensions after "
                f"{space.next_dimensions}: see that the endpoint always serves the same model, and "
                "try again."
            )
        reembedding.save(self.store, space, nodes, vectors)
        for _ in nodes:
            self.progress.done("embed", self.meter.total())
        return len(nodes)

    def _step(self, name: str, step: Callable[[Store, Space], None], space: Space) -> None:
        self.progress.expect(name, 1)
        step(self.store, space)
        self.progress.done(name, self.meter.total())


def _is_done(space: Space, target: tuple[str, int]) -> bool:
    return not space.phase and space.kind == target
