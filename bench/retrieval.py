"""Retrieval from 20,000 passages: time from the embedded question to hits, and what it finds.

Five documents in two collections, made by Fabula without a model, so that vectors and texts are
those of real chunks, summaries and details. The questions are sentences of one of them with a third
of their words gone. Truth is numpy's exact cosine over all that the filter lets through.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import neo4j
import numpy as np
from numpy.typing import NDArray

from bench.books import questions
from bench.graphs import Library, offline
from bench.report import Figure
from bench.server import connected, environment, running
from bench.startup import seconds
from fabula.kit import Kit
from fabula.model import DocumentGraph, Filters, Hit, Vector, Vectors
from fabula.providers.counted import Meter
from fabula.retrieve.modes import mode, mode_names
from fabula.retrieve.path import Path as Steps
from fabula.search import gathered
from fabula.server import Address
from fabula.settings import STATIC
from fabula.store import Store

NODES = 20_000
COLLECTIONS = ("one", "one", "one", "two", "two")
"""Of each document."""
QUESTIONS = 200
K = 5
EQUAL = 1e-6
"""Cosines that differ by less are the same to float32: the same text twice, mostly."""
MILLISECONDS = 15.0
RECALL = 0.98
QUERIES = 5

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Shelf:
    """All passages of the graph as columns, one row each."""

    ids: tuple[str, ...]
    vectors: Vectors
    documents: tuple[str, ...]
    collections: tuple[str, ...]
    kinds: tuple[str, ...]
    aspects: tuple[str, ...]
    levels: tuple[int, ...]

    def best(self, question: Vector, within: Rows) -> set[str]:
        """The ids of the K passages of highest cosine, and of all that are as near as the last."""
        cosines = np.where(within, self.vectors @ question, -2)
        last = np.partition(cosines, -K)[-K]
        return {self.ids[row] for row in np.flatnonzero(cosines >= last - EQUAL)}

    def within(self, filters: Filters) -> Rows:
        """Which rows `filters` let through."""
        rows = zip(
            self.documents, self.collections, self.kinds, self.aspects, self.levels, strict=True
        )
        return np.array(
            [
                collection == filters.collection
                and filters.document in ("", document)
                and kind in filters.kinds
                and (not filters.aspects or aspect in filters.aspects)
                and filters.lowest <= level <= filters.highest
                for document, collection, kind, aspect, level in rows
            ]
        )


class _Counted:
    """A driver whose statements are counted."""

    def __init__(self, driver: neo4j.Driver) -> None:
        self.driver, self.statements = driver, 0

    def execute_query(self, *given: Any, **named: Any) -> Any:
        self.statements += 1
        return self.driver.execute_query(*given, **named)


def measure(books: Path | None) -> list[Figure]:
    """Milliseconds and recall of `Store.nearest`, and times of hybrid ranking and of a command."""
    kit = Kit(offline())
    library = Library(kit, books)
    size = NODES // len(COLLECTIONS)
    graphs = [library.graph(size, name, seed) for seed, name in enumerate(COLLECTIONS)]
    asked = questions(QUESTIONS, books)
    vectors = list(kit.embedder.embed(asked).vectors)
    shelf = _shelf(graphs)
    with running() as address, connected(address) as store:
        store.prepare(kit.embedder.model, len(vectors[0]))
        for graph in graphs:
            store.replace(graph, kit.built_with)
        everything = Filters(collection=COLLECTIONS[0])
        figures = [
            Figure("passages", len(shelf.ids), "nodes"),
            Figure("statements a question", _statements(store, vectors[0]), "", goal=1.0),
            *_nearest(store, vectors, shelf),
            *_modes(store, kit, asked, everything),
            Figure("fabula query --no-answer, a process", _command(address, asked)),
        ]
    kit.close()
    return figures


def _modes(store: Store, kit: Kit, questions: Sequence[str], filters: Filters) -> list[Figure]:
    """Time from a question to its hits, by mode."""
    figures: list[Figure] = []
    for name in mode_names():
        tools = gathered(store, kit, offline(), Meter(), Steps())
        ask = partial(mode(name), filters=filters, tools=tools)
        figures += _times(f"mode {name}", ask, questions, None)
    return figures


def _nearest(store: Store, questions: Sequence[Vector], shelf: Shelf) -> list[Figure]:
    filters = Filters(collection=COLLECTIONS[0])
    named = {
        "collection": filters,
        "one document": replace(filters, document=shelf.documents[0]),
        "two aspects": replace(filters, aspects=("plot", "theme")),
        "levels 1 to 2": replace(filters, lowest=1, highest=2),
        "details": replace(filters, kinds=("detail",)),
        "the other collection": Filters(collection=COLLECTIONS[-1]),
    }
    figures: list[Figure] = []
    for name, one in named.items():
        ask = partial(_ask, store, one)
        figures += _times(f"nearest, {name}", ask, questions, MILLISECONDS)
        within = shelf.within(one)
        recall = statistics.fmean(
            len(shelf.best(question, within) & {hit.id for hit in ask(question)}) / K
            for question in questions
        )
        figures.append(Figure(f"nearest, {name}: recall@{K}", recall, "", RECALL, at_least=True))
    return figures


def _ask(store: Store, filters: Filters, question: Vector) -> list[Hit]:
    return store.nearest(question, K, filters, STATIC)


def _times(
    name: str, ask: Callable[[Any], object], questions: Sequence[Any], goal: float | None
) -> list[Figure]:
    """Median and 95th percentile over all questions, after as many to warm up."""
    for question in questions:
        ask(question)
    taken = sorted(1000 * seconds(partial(ask, question)) for question in questions)
    return [
        Figure(f"{name}: median", statistics.median(taken), "ms", goal),
        Figure(f"{name}: p95", taken[round(0.95 * (len(taken) - 1))], "ms"),
    ]


def _statements(store: Store, question: Vector) -> int:
    """How many statements one question sends."""
    counted = _Counted(store._driver)
    _ask(Store(cast(neo4j.Driver, counted), "neo4j"), Filters(COLLECTIONS[0]), question)
    return counted.statements


def _command(address: Address, asked: Sequence[str]) -> float:
    """The wall time of the command, from a shell, for other questions each time."""
    fabula = Path(sys.executable).with_name("fabula")
    known = environment(address) | {"FABULA_COLLECTION": COLLECTIONS[0]}

    def query(question: str) -> None:
        command = [str(fabula), "query", "--no-answer", question]
        subprocess.run(command, env=known, capture_output=True, check=True)

    return statistics.median(seconds(partial(query, one)) for one in asked[:QUERIES])


def _shelf(graphs: Sequence[DocumentGraph]) -> Shelf:
    rows = [
        (one, graph.document, kind, getattr(one, "aspect", ""), getattr(one, "level", 0))
        for graph in graphs
        for kind, passages in (
            ("chunk", graph.chunks),
            ("summary", graph.summaries),
            ("detail", graph.details),
        )
        for one in passages
    ]
    passages, documents, kinds, aspects, levels = zip(*rows, strict=True)
    return Shelf(
        ids=tuple(one.id for one in passages),
        vectors=np.stack([one.embedding for one in passages]),
        documents=tuple(one.id for one in documents),
        collections=tuple(one.collection for one in documents),
        kinds=kinds,
        aspects=aspects,
        levels=levels,
    )
