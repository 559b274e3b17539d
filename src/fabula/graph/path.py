"""The path of a retrieval: what each step found, kept and took, for whoever asks why."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from fabula.graph.hits import Hit


@dataclass(slots=True)
class Step:
    """A step of a retrieval: seconds it took, what it found, and how many it kept of that.

    `note` says what the step went by; `steps` are those inside it.
    """

    name: str
    note: str = ""
    seconds: float = 0.0
    hits: tuple[Hit, ...] = ()
    kept: frozenset[str] = frozenset()
    """Ids of the hits that went on."""
    walked: tuple[str, ...] = ()
    """Ids of the elements of a graph that the step went through, best first."""
    steps: list[Step] = field(default_factory=list)

    def found(self, hits: Sequence[Hit], kept: Sequence[Hit] | None = None) -> None:
        """What was found, and what of it was kept: all, unless it is told."""
        self.hits = tuple(hits)
        self.kept = frozenset(hit.id for hit in (hits if kept is None else kept))


class Path:
    """The steps of one question, each begun inside the one that is under way; of one thread."""

    def __init__(self) -> None:
        self.root = Step("question")
        self._under_way = [self.root]

    @contextmanager
    def step(self, name: str, note: str = "") -> Iterator[Step]:
        """A step, timed."""
        step = Step(name, note)
        self._under_way[-1].steps.append(step)
        self._under_way.append(step)
        began = time.perf_counter()
        try:
            yield step
        finally:
            step.seconds = time.perf_counter() - began
            self._under_way.pop()
