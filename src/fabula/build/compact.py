"""Make vector indexes anew, for servers whose own merging leaves them in too many segments.

An index that is written bit by bit consists of segments, each of which is searched on its own; an
index that is made over existing embeddings has few. So the embeddings are copied into the other
slot, an index is made over them, and questions go there: a re-embedding without a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.store import Store, reembedding
from fabula.store.embedding_space import Space, refuse_reembedding


@dataclass(frozen=True, slots=True)
class CompactRun:
    """One run over all collections. Questions are answered meanwhile; documents are refused."""

    store: Store
    progress: Progress

    def run(self) -> list[Space]:
        """Make the index of every collection anew; return their spaces as they are then.

        If the run is stopped, nothing is lost, and the same run continues it.

        Raises:
            SpaceError: The re-embedding of a collection was stopped half way.
            StoreError: Another process is re-embedding a collection.
        """
        self.store.make_schema()
        names = [space.collection for space in self.store.spaces() if space.has_documents]
        if not names:
            return []
        with reembedding.lock_collections(self.store, *names) as check:
            # Read again, because nobody else changes them from now on.
            spaces = [space for space in self.store.spaces() if space.collection in names]
            moving = [self._begin(space) for space in self._remaining(spaces)]
            for space in moving:
                self._step("copy", reembedding.copy, space)
            for space in moving:
                self._step("index", reembedding.index, space)
            for space in moving:
                check()
                reembedding.flip(self.store, space)
                self._step("clear", reembedding.clear, self._now(space))
            return [self._now(space) for space in spaces]

    def _remaining(self, spaces: Sequence[Space]) -> list[Space]:
        """Return the spaces that a stopped run has not moved yet; all if no run was stopped."""
        for space in spaces:
            if space.phase == "clearing":
                self._step("clear", reembedding.clear, space)
            elif space.phase and (space.next_model, space.next_dimensions) != space.kind:
                refuse_reembedding(space)
        if not any(space.phase for space in spaces):
            return list(spaces)
        unmoved = {space.index for space in spaces if space.phase == "writing"}
        return [space for space in spaces if space.index in unmoved and space.phase != "clearing"]

    def _begin(self, space: Space) -> Space:
        """Begin to move a space into its other slot; drop the index there, which is made later."""
        reembedding.begin(self.store, space.collection, *space.kind)
        reembedding.drop_unused(self.store, self._now(space))
        return self._now(space)

    def _now(self, space: Space) -> Space:
        now = self.store.space(space.collection)
        return now or space

    def _step(self, name: str, step: Callable[[Store, Space], None], space: Space) -> None:
        self.progress.expect(name, 1)
        step(self.store, space)
        self.progress.done(name, Usage())
