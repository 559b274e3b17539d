"""Retrieval from 2,000 and from 20,000 passages: time, round trips, and what the index finds.

Five documents in two collections, made by Fabula without a model, so that vectors and texts are
those of real chunks, summaries and details. The questions are sentences of one of them with a third
of their words gone. Truth is numpy's exact cosine over all that the filter lets through.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import neo4j

from fabula.ask.mode_runs import prepare_modes
from fabula.ask.modes import modes
from fabula.ask.query import Query
from fabula.ask.retrieve import retrieve
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import STATIC
from fabula.graph.hits import Filters, Hit
from fabula.graph.trace import Trace as Steps
from fabula.models.counted import Meter
from fabula.server import Address
from fabula.store import Store
from fabula.text.document import Vector
from fabula_bench.speed.books import questions
from fabula_bench.speed.exact import Shelf
from fabula_bench.speed.graphs import Library, offline
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import connected, environment, running
from fabula_bench.speed.startup import seconds

SIZES = (2_000, 20_000)
COLLECTIONS = ("one", "one", "one", "two", "two")
"""Of each document."""
QUESTIONS = 100
K = 5
MILLISECONDS = 15.0
RECALL = 0.98
QUERIES = 5


class _Counted:
    """A driver whose statements are counted."""

    def __init__(self, driver: neo4j.Driver) -> None:
        self.driver, self.statements = driver, 0

    def execute_query(self, *given: Any, **named: Any) -> Any:
        self.statements += 1
        return self.driver.execute_query(*given, **named)


@dataclass(frozen=True, slots=True)
class Bench:
    """A filled graph, what is asked of it, and the truth about it."""

    nodes: int
    store: Store
    kit: ModelFactory
    questions: Sequence[str]
    shelf: Shelf

    def figure(self, what: str, value: float, unit: str = "", **goal: Any) -> Figure:
        """A figure of a graph of this size."""
        return Figure(f"{self.nodes:,} nodes, {what}", value, unit, **goal)


def measure(books: Path | None) -> list[Figure]:
    """Times, round trips and recall by size of the graph, and the time of a command."""
    kit = ModelFactory(offline())
    try:
        return [figure for nodes in SIZES for figure in _figures(nodes, kit, books)]
    finally:
        kit.close()


def _figures(nodes: int, kit: ModelFactory, books: Path | None) -> Iterator[Figure]:
    library = Library(kit, books)
    size = nodes // len(COLLECTIONS)
    graphs = [library.graph(size, name, seed) for seed, name in enumerate(COLLECTIONS)]
    sentences = questions(QUESTIONS, books)
    vectors = list(kit.embedder.embed(sentences).vectors)
    with running() as address, connected(address) as store:
        for name in set(COLLECTIONS):
            store.prepare(name, kit.embedder.model, len(vectors[0]))
        for parts in graphs:
            store.apply(parts, kit.embedder.model)
        shelf = Shelf.of([part for parts in graphs for part in parts])
        bench = Bench(nodes, store, kit, sentences, shelf)
        yield bench.figure("passages", len(bench.shelf.ids), "nodes")
        yield from _nearest(bench, vectors)
        yield from _modes(bench)
        yield bench.figure("fabula query --no-answer, a process", _command(address, sentences), "s")


def _nearest(bench: Bench, vectors: Sequence[Vector]) -> Iterator[Figure]:
    """Time and recall of the vector index, without a filter but the collection and with each."""
    filters = Filters(collection=COLLECTIONS[0])
    filters_by_name = {
        "collection": filters,
        "one document": replace(filters, document=bench.shelf.documents[0]),
        "two aspects": replace(filters, aspects=("plot", "theme")),
        "levels 1 to 2": replace(filters, lowest=1, highest=2),
        "details": replace(filters, kinds=("detail",)),
        "the other collection": Filters(collection=COLLECTIONS[-1]),
    }
    for name, chosen in filters_by_name.items():
        ask = partial(_ask, bench.store, chosen)
        yield from _times(bench, f"nearest, {name}", ask, vectors, MILLISECONDS)
        within = bench.shelf.within(chosen)
        recall = statistics.fmean(
            len(bench.shelf.best(vector, within, K) & {hit.id for hit in ask(vector)}) / K
            for vector in vectors
        )
        what = f"nearest, {name}: recall@{K}"
        yield bench.figure(what, recall, goal=RECALL, at_least=True)


def _ask(store: Store, filters: Filters, question: Vector) -> list[Hit]:
    return store.nearest(question, K, filters, STATIC)


def _modes(bench: Bench) -> Iterator[Figure]:
    """Time from a question to its hits, and round trips to the server, by mode."""
    counted = _Counted(bench.store._driver)
    store = Store(cast(neo4j.Driver, counted), "neo4j")
    filters = Filters(collection=COLLECTIONS[0])
    for name in modes():
        ask = partial(_search, Query.of("?", offline(), mode=name), filters, store, bench.kit)
        yield from _times(bench, f"mode {name}", ask, bench.questions, None)
        before = counted.statements
        for question in bench.questions:
            ask(question)
        trips = (counted.statements - before) / len(bench.questions)
        yield bench.figure(f"mode {name}: round trips a question", trips)


def _search(
    query: Query, filters: Filters, store: Store, kit: ModelFactory, question: str
) -> list[Hit]:
    query = replace(query, question=question)
    runs = prepare_modes(query, filters, store, kit, Meter(), Steps())
    return [*retrieve(query, filters, runs).hits]


def _times(
    bench: Bench,
    name: str,
    ask: Callable[[Any], object],
    questions: Sequence[Any],
    goal: float | None,
) -> Iterator[Figure]:
    """Median and 95th percentile over all questions, after as many to warm up."""
    for question in questions:
        ask(question)
    taken = sorted(1000 * seconds(partial(ask, question)) for question in questions)
    yield bench.figure(f"{name}: median", statistics.median(taken), "ms", goal=goal)
    yield bench.figure(f"{name}: p95", taken[round(0.95 * (len(taken) - 1))], "ms")


def _command(address: Address, questions: Sequence[str]) -> float:
    """The wall time of the command, from a shell, for other questions each time."""
    fabula = Path(sys.executable).with_name("fabula")
    known = environment(address) | {"FABULA_COLLECTION": COLLECTIONS[0]}

    def query(question: str) -> None:
        command = [str(fabula), "query", "--no-answer", question]
        subprocess.run(command, env=known, capture_output=True, check=True)

    return statistics.median(seconds(partial(query, question)) for question in questions[:QUERIES])
