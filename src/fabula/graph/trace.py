"""Record the steps of a retrieval: what each found, what it passed on, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from fabula.graph.hits import Hit


@dataclass(slots=True)
class TraceStep:
    """A step of a retrieval.

    Attributes:
        name: What it is called in the output of `--explain`.
        note: What the step decided by.
        seconds: How long it took.
        hits: What it found.
        kept: The ids of the hits that went on.
        walked: The ids of the elements of a graph that it went through, best first.
        steps: The steps within it.
    """

    name: str
    note: str = ""
    seconds: float = 0.0
    hits: tuple[Hit, ...] = ()
    passed_on: frozenset[str] = frozenset()
    walked: tuple[str, ...] = ()
    steps: list[TraceStep] = field(default_factory=list)

    def record(self, hits: Sequence[Hit], kept: Sequence[Hit] | None = None) -> None:
        """Record what was found, and which hits go on: all, unless `kept` says otherwise."""
        self.hits = tuple(hits)
        self.passed_on = frozenset(hit.id for hit in (hits if kept is None else kept))


class Trace:
    """The steps of one question, each within the step that is under way; not thread-safe."""

    def __init__(self) -> None:
        self.root = TraceStep("question")
        self._open = [self.root]

    @contextmanager
    def step(self, name: str, note: str = "") -> Iterator[TraceStep]:
        """Record a step and time it."""
        step = TraceStep(name, note)
        self._open[-1].steps.append(step)
        self._open.append(step)
        began = time.perf_counter()
        try:
            yield step
        finally:
            step.seconds = time.perf_counter() - began
            self._open.pop()
