"""What a condition on metadata costs a question, and whether it loses passages.

Documents of ten passages with random embeddings are written into a private server, each with four
fields. Conditions on one to four of them let 0.1 to 90 % of the documents through. What is found is
compared with an exact search among their passages.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.ask.where import read_condition
from fabula.graph import Part
from fabula.graph.hits import Filters
from fabula.graph.queries import read_statement
from fabula.store import Store
from fabula.store.parts import lock_prefix
from fabula.text.document import Vectors
from fabula.text.metadata import Metadata, to_properties
from fabula_bench.speed.documents import DIMENSIONS, MODEL, documents, to_unit
from fabula_bench.speed.report import Figure, seconds
from fabula_bench.speed.server import connected, private

COLLECTION = "library"
PASSAGES = 10
"""Of a document."""
AT_ONCE = 100
"""Documents that are written together."""
QUESTIONS = 40
K = 5
GENRES, PLACES, YEARS = 10, 7, 200
MAX_RATIO = 1.3
"""The goal for the time of a question with a condition, as a multiple of that without one."""
CONDITIONS = (
    "rank < 1",
    "rank < 10",
    "rank < 100",
    "rank < 500",
    "rank < 900",
    "genre = g3",
    "genre = g3 and year < 1850",
    "genre in (g3, g4) and not (year < 1850 or place = p2)",
    "rank < 900 and genre != g3 and year >= 1800 and place in (p1, p2, p3)",
)


def describe(number: int) -> Metadata:
    """The fields of a document; `rank` is from 0 to 999."""
    draw = np.random.default_rng([7, number]).integers
    year = 1750 + int(draw(YEARS))
    place = {"genre": f"g{draw(GENRES)}", "place": f"p{draw(PLACES)}"}
    return {**place, "year": year, "rank": number * 617 % 1000}


def measure(books: Path | None, passages: int = 20_000) -> list[Figure]:
    """The recall of each condition, and what it costs."""
    with private("1g", "512m") as server, connected(server.start()) as store:
        return list(_measure(store, passages // PASSAGES))


def _measure(store: Store, count: int) -> Iterator[Figure]:
    store.prepare(COLLECTION, MODEL, DIMENSIONS)
    parts = [_with_fields(part, number) for number, part in enumerate(_texts(count))]
    batches = [parts[at : at + AT_ONCE] for at in range(0, count, AT_ONCE)]

    def write() -> None:
        for batch in batches:
            store.apply(batch, MODEL)

    yield Figure("written", seconds(write))
    chunks = [[node for node in part.nodes if node.label == "Chunk"] for part in parts]
    embeddings = np.array([node.embedding for each in chunks for node in each])
    ids = np.array([node.id for each in chunks for node in each])
    owners = np.array([part.owner.document for part in parts for _ in range(PASSAGES)])
    questions = to_unit(np.random.default_rng(5).standard_normal((QUESTIONS, DIMENSIONS)))
    _, usual = _ask(store, questions, Filters(COLLECTION))
    yield Figure("without a condition, p50", 1000 * usual, "ms")
    for where in CONDITIONS:
        chosen, _ = store.find_chosen(COLLECTION, read_condition(where))
        among = np.flatnonzero(np.isin(owners, chosen))
        exact = among[np.argsort(-(questions @ embeddings[among].T), axis=1)[:, :K]]
        found, took = _ask(store, questions, Filters(COLLECTION, documents=chosen), where)
        pairs = zip(exact, found, strict=True)
        shares = [len({*ids[row]} & {*hits}) / len(row) for row, hits in pairs]
        share = f"{100 * len(chosen) / count:.1f} % of {count:,} documents"
        name = f"{where} ({share})"
        yield Figure(f"{name}: recall@{K}", float(np.mean(shares)), "", 1.0, at_least=True)
        yield Figure(f"{name}: p50, times that without", took / usual, "x", MAX_RATIO)
        hits = _count_hits(store, where) / count
        yield Figure(f"{name}: database hits of the look-up, a document", hits, "")


def _texts(count: int) -> Iterator[Part]:
    return documents(COLLECTION, range(count), PASSAGES)


def _with_fields(part: Part, number: int) -> Part:
    properties = to_properties(describe(number))
    first, *others = part.nodes
    return replace(
        part, nodes=(replace(first, properties={**first.properties, **properties}), *others)
    )


def _ask(
    store: Store, questions: Vectors, filters: Filters, where: str = ""
) -> tuple[list[list[str]], float]:
    """The ids that each question finds, and the median of the seconds that it takes."""
    found, took = [], []
    for vector in [*questions[:5], *questions]:
        began = time.perf_counter()
        if where:
            store.find_chosen(COLLECTION, read_condition(where))
        found.append([hit.id for hit in store.nearest(vector, K, filters, MODEL)])
        took.append(time.perf_counter() - began)
    return found[5:], statistics.median(took[5:])


def _count_hits(store: Store, where: str) -> int:
    """How often the look-up of a condition reads the store, where it is not in memory."""
    steps = read_condition(where)
    parameters: dict[str, Any] = {
        "collection": COLLECTION,
        "steps": [asdict(step) for step in steps],
        "fields": sorted({name for step in steps for name in step.properties}),
        "locks": lock_prefix(COLLECTION),
        "revision": "",
    }
    with store.session() as session:
        statement = f"PROFILE {read_statement('core/find_chosen')}"
        profile = session.run(statement, parameters).consume().profile
    return _sum_hits(profile)


def _sum_hits(step: Any) -> int:
    return int(step.get("dbHits", 0)) + sum(map(_sum_hits, step.get("children", [])))
