"""Nodes a second of `Store.replace`, at 256 dimensions, all indexes present.

A document of about 8,000 passages is written, written again (a replacement) and removed, several
times over, and the parts of a replacement are timed apart: staging, the switch that puts all of it
in the indexes, and the sweep of what was replaced, which no reader waits for. The first round
meets a server that has just started, whose Java is not compiled yet; it is told apart.
"""

from __future__ import annotations

import statistics
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from bench.graphs import Library, offline
from bench.report import Figure
from bench.server import connected, running
from bench.startup import seconds
from fabula.kit import Kit
from fabula.model import DocumentGraph
from fabula.store import Store
from fabula.store.staging import stage, switch

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
    kit = Kit(offline())
    graph = Library(kit, books).graph(NODES, "bench", 0)
    nodes = len(graph.chunks) + len(graph.summaries) + len(graph.details)
    rounds: list[tuple[Written, Written]] = []
    with running() as address, connected(address) as store:
        store.prepare(kit.embedder.model, len(graph.chunks[0].embedding))
        for _ in range(1 + ROUNDS):
            rounds.append(
                (
                    _written(store, graph, kit.embedder.model),
                    _written(store, graph, kit.embedder.model),
                )
            )
            store.remove(graph.document.id)
    kit.close()
    cold, warm = rounds[0], rounds[1:]
    first = _median([one for one, _ in warm])
    again = _median([one for _, one in warm])
    return [
        Figure("passages", nodes, "nodes"),
        *_figures("new, server just started", cold[0], nodes),
        *_figures("new", first, nodes, GOAL),
        *_figures("replacement", again, nodes),
        Figure("new, the best round", nodes / min(one.all for one, _ in warm), "nodes/s"),
    ]


def _figures(name: str, written: Written, nodes: int, goal: float | None = None) -> list[Figure]:
    return [
        Figure(f"{name}: stage", written.stage),
        Figure(f"{name}: switch", written.switch),
        Figure(f"{name}: sweep", written.sweep),
        Figure(f"{name}: all", nodes / written.all, "nodes/s", goal, at_least=True),
    ]


def _written(store: Store, graph: DocumentGraph, model: str) -> Written:
    """What `Store.replace` does, its parts timed."""
    run = f"{int(time.time() * 1000):015d}-{uuid.uuid4().hex}"
    settings = {"embedding_model": model}
    with store.session() as session:
        return Written(
            seconds(lambda: stage(session, run, graph, settings, lambda count: None)),
            seconds(lambda: session.execute_write(switch, run, graph, settings)),
            seconds(store._sweep),
        )


def _median(rounds: list[Written]) -> Written:
    return Written(
        statistics.median(one.stage for one in rounds),
        statistics.median(one.switch for one in rounds),
        statistics.median(one.sweep for one in rounds),
    )
