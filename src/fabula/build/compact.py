"""Vector indexes made anew, for servers whose own merging leaves them in too many segments.

An index that is written bit by bit is kept in segments, each searched on its own; one that is made
over what is there already has few. So the embeddings are copied into the other slot, an index is
made over them, and questions go there: a re-embedding without a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.store import Store, reembedding
from fabula.store.space import Space, refuse_reembedding


@dataclass(frozen=True, slots=True)
class Compact:
    """One run over all collections: questions go on, and documents wait until it has ended."""

    store: Store
    progress: Progress

    def run(self) -> list[Space]:
        """Gives every collection's embeddings an index that was just made; how they are then.

        Stopped anywhere, nothing is lost, and the same run goes on. Raises StoreError while a
        collection is re-embedded, and SpaceError where that was stopped half way.
        """
        self.store.make_schema()
        names = [space.collection for space in self.store.spaces() if space.documents]
        if not names:
            return []
        with reembedding.turn(self.store, *names) as now:
            # As they are now that nobody else changes them.
            spaces = [space for space in self.store.spaces() if space.collection in names]
            begun = [self._begin(space) for space in self._left(spaces)]
            for space in begun:
                self._step("copy", reembedding.copy, space)
            for space in begun:
                self._step("index", reembedding.index, space)
            for space in begun:
                now()
                reembedding.flip(self.store, space)
                self._step("clear", reembedding.clear, self._now(space))
            return [self._now(space) for space in spaces]

    def _left(self, spaces: Sequence[Space]) -> list[Space]:
        """Those that a run that was stopped has not moved yet; all, where none was."""
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
        """The space, about to move into its other slot, whose index is made when all is there."""
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
