"""A collection given the embeddings of another model, while questions go on being answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from fabula.errors import ModelError, NotFound
from fabula.models import Embedder
from fabula.models.counted import Meter
from fabula.models.parallel import Job, Workers
from fabula.models.progress import Progress
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store import Store, reembedding
from fabula.store.reembedding import Unembedded
from fabula.store.space import Space, refuse_dimensions

PAGE = 4096
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
class Reembed:
    """One run; `embedder` is what the collection will be embedded with, its usage in `meter`.

    `asked` is the same without its cache, which would answer for a model that is gone. Once `stop`
    is set, it ends with Stopped.
    """

    store: Store
    collection: str
    embedder: Embedder
    asked: Embedder
    workers: Workers
    meter: Meter
    progress: Progress
    stop: Stop = field(default_factory=Stop)

    def run(self) -> Reembedded:
        """Brings the collection into the embedder's space, from wherever another run has left it.

        A run with another model that was stopped before it was the collection's is given up.
        Raises NotFound where there is nothing to embed, StoreError while another run is at work,
        and ModelError; after any, and after a crash, the same run goes on where this one was.
        """
        began = time.monotonic()
        # A model that can't be asked is found out before the graph is told of it.
        wanted = (self.asked.model, self.asked.embed(["dimensions"]).vectors.shape[1])
        refuse_dimensions(*wanted)
        self.store.make_schema()
        passages = 0
        with reembedding.turn(self.store, self.collection) as now:
            while not _is_done(space := self._there(now()), wanted):
                self.stop.check()
                if space.phase == "clearing":
                    self._step("clear", reembedding.clear, space)
                elif not space.phase:
                    reembedding.begin(self.store, self.collection, *wanted)
                elif (space.next_model, space.next_dimensions) != wanted:
                    reembedding.give_up(self.store, space)
                else:
                    passages += self._write(space, now)
                    self._step("index", reembedding.index, space)
                    now()
                    reembedding.flip(self.store, space)
        seconds = time.monotonic() - began
        return Reembedded(*wanted, passages, self.meter.total(), seconds)

    def _there(self, space: Space | None) -> Space:
        if space is None or not (space.documents or space.phase):
            raise NotFound(
                f"Nothing has been ingested into collection {self.collection!r} yet, so there is "
                "nothing to embed again: its first `fabula ingest` takes the model that "
                "FABULA_EMBEDDING_MODEL names."
            )
        return space

    def _write(self, space: Space, now: Callable[[], Space | None]) -> int:
        """Embeds what has no embedding of the next space yet; how many that were."""
        if space.kind == (space.next_model, space.next_dimensions):
            # A compaction that was stopped: the vectors are there.
            reembedding.copy(self.store, space)
            return 0
        nodes, embedded = reembedding.count(self.store, space)
        self.progress.expect("embed", nodes - embedded)
        written = 0
        for page in reembedding.unembedded(self.store, space, PAGE):
            now()
            with Job(self.workers, stop=self.stop) as job:
                size = self.embedder.batch
                batches = [page[start : start + size] for start in range(0, len(page), size)]
                written += sum(job.each(0, partial(self._batch, space), batches))
        return written

    def _batch(self, space: Space, nodes: Sequence[Unembedded]) -> int:
        # A chunk's text has the white space around it, and a build embeds it without.
        vectors = self.embedder.embed([node.text.strip() for node in nodes]).vectors
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


def _is_done(space: Space, wanted: tuple[str, int]) -> bool:
    return not space.phase and space.kind == wanted
