"""Nodes a second of `Store.apply`, at 256 dimensions, all indexes present.

A document of about 8,000 passages is written, written again (a replacement) and removed, several
times over, and the steps of a replacement are timed apart: staging, the switch that puts all of it
in the indexes, and the sweep of what was replaced, which no reader waits for. The first round
meets a server that has just started, whose Java is not compiled yet; it is told apart.
"""

from __future__ import annotations

import statistics
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabula.config.model_factory import ModelFactory
from fabula.graph import Edge, Part
from fabula.store import Store
from fabula.store.embedding_space import Space
from fabula.store.parts import stage, switch
from fabula_bench.speed.graphs import Library, offline, passages
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import connected, running
from fabula_bench.speed.startup import seconds

NODES = 8_000
ROUNDS = 5
GOAL = 2_000.0


@dataclass(frozen=True, slots=True)
class Written:
    """Seconds of one replacement."""

    stage: float
    switch: float
    sweep: float

    @property
    def all(self) -> float:
        return self.stage + self.switch + self.sweep


def measure(books: Path | None) -> list[Figure]:
    """Seconds and nodes a second: cold, of new documents, and of replacements."""
    kit = ModelFactory(offline())
    parts = Library(kit, books).graph(NODES, "bench", 0)
    nodes = len(passages(parts))
    rounds: list[tuple[Written, Written]] = []
    with running() as address, connected(address) as store:
        space = store.prepare("bench", kit.embedder.model, kit.embedder.embed(["?"]).vectors.size)
        for _ in range(1 + ROUNDS):
            rounds.append((_write(store, parts, space), _write(store, parts, space)))
            store.remove("bench", parts[0].owner.document)
    kit.close()
    cold, warm = rounds[0], rounds[1:]
    first = _median([single for single, _ in warm])
    again = _median([single for _, single in warm])
    return [
        Figure("passages", nodes, "nodes"),
        *_figures("new, server just started", cold[0], nodes),
        *_figures("new", first, nodes, GOAL),
        *_figures("replacement", again, nodes),
        Figure("new, the best round", nodes / min(single.all for single, _ in warm), "nodes/s"),
    ]


def _figures(name: str, written: Written, nodes: int, goal: float | None = None) -> list[Figure]:
    return [
        Figure(f"{name}: stage", written.stage),
        Figure(f"{name}: switch", written.switch),
        Figure(f"{name}: sweep", written.sweep),
        Figure(f"{name}: all", nodes / written.all, "nodes/s", goal, at_least=True),
    ]


def _write(store: Store, parts: Sequence[Part], space: Space) -> Written:
    """What `Store.apply` does, its steps timed."""
    run = uuid.uuid4().hex
    out: list[Edge] = []
    with store.session() as session:
        return Written(
            seconds(lambda: out.extend(stage(session, run, parts, space, lambda count: None))),
            seconds(lambda: session.execute_write(switch, run, parts, out, space)),
            seconds(store._sweep),
        )


def _median(rounds: list[Written]) -> Written:
    return Written(
        statistics.median(run.stage for run in rounds),
        statistics.median(run.switch for run in rounds),
        statistics.median(run.sweep for run in rounds),
    )
