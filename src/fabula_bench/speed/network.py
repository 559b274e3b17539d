"""The network of entities: read and made, walked, and asked by each mode.

10,000 nodes, 3 entities to 7 chunks, and 50,000 edges, 4 mentions to a relation, in ten documents
of one collection; all are drawn, a few entities being in most chunks, as in novels. Modes are asked
there, and once more among 20,000 passages and as many elements, half of them relations. A network
of 1,000,000 edges is made of the same columns as a server returns them, and walked, without a
server.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fabula.ask.mode_runs import prepare_modes
from fabula.ask.modes import modes
from fabula.ask.query import Query
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import STATIC
from fabula.graph import Edge, Part
from fabula.graph.hits import Filters
from fabula.graph.mode import Tools
from fabula.graph.trace import Trace as Steps
from fabula.graphs.entities.modes import MODES
from fabula.graphs.entities.network import Network, make_network, pagerank
from fabula.graphs.entities.retrieval import read_network
from fabula.models.counted import Meter
from fabula.store import Store
from fabula_bench.speed.documents import DIMENSIONS, WORDS, documents, make_node, make_part, to_unit
from fabula_bench.speed.report import Figure, p95, seconds
from fabula_bench.speed.server import connected, offline_settings, running

DOCUMENTS = 10
LARGE = 200
"""Documents of 1,000,000 edges."""
QUESTIONS, WALKS = 50, 20
LOAD, WALK = 300.0, 20.0
COLLECTION = "network"
BASELINE = "hybrid"
"""The mode that knows no network, to be compared with."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many there are of each in a document."""

    entities: int
    chunks: int
    mentions: int
    relations: int


WALKED = Size(300, 700, 4_000, 1_000)
ASKED = Size(1_000, 2_000, 12_000, 1_000)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The cast of one document: names, and rows of what is mentioned and related where."""

    names: tuple[str, ...]
    mentions: tuple[tuple[int, ...], ...]
    """Rows of chunks, of each entity."""
    relations: tuple[tuple[int, int, tuple[int, ...]], ...]
    """Two entities and rows of chunks."""


def measure(books: Path | None) -> list[Figure]:
    """Times of a network of 50,000 edges, through a server, and of one of 1,000,000."""
    del books
    figures = [*_large()]
    with closing(ModelFactory(offline_settings())) as models:
        for size in (WALKED, ASKED):
            with running() as address, connected(address) as store:
                figures += _asked(models, store, size)
    return figures


def draw(number: int, size: Size) -> Drawn:
    """The cast of a document, the same for the same number."""
    dice = np.random.default_rng(number)
    words = random.Random(number)
    many = size.entities
    names = tuple(f"{words.choice(WORDS).title()} {number}x{source}" for source in range(many))
    weights = 1 / np.arange(1, many + 1)
    who = dice.choice(many, size.mentions, p=weights / weights.sum())
    where = dice.integers(0, size.chunks, size.mentions)
    mentions: list[set[int]] = [{source % size.chunks} for source in range(many)]
    for entity, chunk in zip(who.tolist(), where.tolist(), strict=True):
        mentions[entity].add(chunk)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < size.relations:
        source, target = sorted(dice.choice(many, 2, p=weights / weights.sum()).tolist())
        if source != target:
            pairs.add((source, target))
    related = tuple(
        (source, target, tuple(sorted(mentions[target])[: 1 + (source + target) % 3]))
        for source, target in sorted(pairs)
    )
    return Drawn(names, tuple(tuple(sorted(mention)) for mention in mentions), related)


def _asked(models: ModelFactory, store: Store, size: Size) -> Iterator[Figure]:
    names = _write(store, size)
    filters = Filters(collection=COLLECTION)
    query = Query.of("?", offline_settings(), mode="hybrid")
    [way] = prepare_modes(query, filters, store, models, Meter(), Steps())
    tools = way.tools
    # Once before, so that the server has planned its statements.
    read_network(filters, tools)
    loads = []
    for _ in range(5):
        with_nothing_kept = replace(tools, store=Store(store._driver, "neo4j"))
        loads.append(1000 * seconds(partial(read_network, filters, with_nothing_kept)))
    network = read_network(filters, tools)
    assert network is not None
    passages, elements = len(network.chunks), len(network.entities) + len(network.relations.ids)
    where = f"{passages:,} passages, {elements:,} elements: "
    is_walked = size == WALKED
    yield Figure(f"{where}nodes", len(network.entities) + passages, "")
    yield Figure(f"{where}edges", network.mentions.nnz + len(network.relations.ids), "")
    goal = LOAD if is_walked else None
    yield Figure(f"{where}read and made", statistics.median(loads), "ms", goal=goal)
    again = [1000 * seconds(partial(read_network, filters, tools)) for _ in range(WALKS)]
    yield Figure(f"{where}found as it was kept", statistics.median(again), "ms")
    yield from _walks(network, where, WALK if is_walked else None)
    dice = random.Random(0)
    words = (dice.choices(choices, k=QUESTIONS) for choices in (names, names, WORDS))
    questions = [
        f"What did {choice} tell {other} of the {word}?"
        for choice, other, word in zip(*words, strict=True)
    ]
    for name in (*MODES, BASELINE):
        yield from _mode(name, where, questions, filters, tools)


def _walks(network: Network, size: str, goal: float | None) -> Iterator[Figure]:
    dice = np.random.default_rng(0)
    nodes = len(network.entities) + len(network.chunks)
    for what, weights, damping in (
        ("entities and chunks, damping 0.5", network.walk, 0.5),
        ("entities, damping 0.85", network.ties, 0.85),
    ):
        taken = []
        for _ in range(WALKS):
            seeds = np.zeros(nodes if weights is network.walk else len(network.entities))
            seeds[dice.integers(0, len(seeds), 25)] = dice.random(25)
            taken.append(1000 * seconds(partial(pagerank, weights, seeds, damping)))
        yield Figure(f"{size}a walk over {what}", statistics.median(taken), "ms", goal=goal)


def _mode(
    name: str, where: str, questions: Sequence[str], filters: Filters, tools: Tools
) -> Iterator[Figure]:
    mode = modes()[name]
    own = replace(tools, options=mode.options(), k=50)

    def ask(question: str) -> None:
        assert mode.retrieve(question, filters, replace(own, trace=Steps()))

    for question in questions:
        ask(question)
    taken = [1000 * seconds(partial(ask, question)) for question in questions]
    yield Figure(f"{where}mode {name}: median", statistics.median(taken), "ms")
    yield Figure(f"{where}mode {name}: p95", p95(taken), "ms")


def _large() -> Iterator[Figure]:
    """1,000,000 edges, from columns as the server returns them."""
    made: list[Network] = []
    columns = _columns(LARGE)
    taken = seconds(lambda: made.append(make_network(*columns, language="en")))
    [network] = made
    size = f"{network.mentions.nnz + len(network.relations.ids):,} edges: "
    yield Figure(f"{size}made of columns", 1000 * taken, "ms")
    yield from _walks(network, size, None)


def _columns(
    count: int,
) -> tuple[Mapping[str, Any], list[str], Mapping[str, Any], Mapping[str, Any]]:
    cast, links, chunks = [], [], []
    for number in range(count):
        drawn = draw(number, WALKED)
        own = [f"chunk{number:08}{row:08}" for row in range(WALKED.chunks)]
        ids = [f"entity{number:08}{row:08}" for row in range(WALKED.entities)]
        chunks += own
        for id, name, mentions in zip(ids, drawn.names, drawn.mentions, strict=True):
            sources = [own[chunk] for chunk in mentions]
            cast.append((id, name.casefold(), [name], [len(sources)], "person", sources))
        for source, target, where in drawn.relations:
            sources = [own[chunk] for chunk in where]
            id = f"relation{number:08}{source:04}{target:04}"
            links.append((id, ids[source], ids[target], len(where), sources, ["word"]))

    def columns(names: str, rows: list[Any]) -> dict[str, list[Any]]:
        values = zip(*rows, strict=True) if rows else [()] * len(names.split())
        return dict(zip(names.split(), map(list, values), strict=True))

    of_links = "ids starts ends counts sources keywords"
    of_cast = "ids keys names counts types sources"
    return columns(of_cast, cast), chunks, columns(of_links, links), columns(of_links, [])


def _write(store: Store, size: Size) -> list[str]:
    """The documents and their casts, and all names."""
    store.prepare(COLLECTION, STATIC, DIMENSIONS)
    names: list[str] = []
    for number, text in enumerate(documents(COLLECTION, range(DOCUMENTS), size.chunks)):
        drawn = draw(number, size)
        names += drawn.names
        store.apply([text, _part(text, drawn)], STATIC)
    return names


def _part(text: Part, drawn: Drawn) -> Part:
    chunks = [node for node in text.nodes if node.label == "Chunk"]
    count = len(drawn.names) + len(drawn.relations)
    dice = np.random.default_rng(sum(drawn.mentions[0]))
    vectors = iter(to_unit(dice.standard_normal((count, DIMENSIONS))))
    ids = [f"{text.owner.document}-{row:04}" for row in range(len(drawn.names))]
    nodes = [
        make_node(
            id,
            "Entity",
            f"{name} is told of.",
            [chunks[chunk] for chunk in mentions],
            next(vectors),
            name=name,
            key=name.casefold(),
            type="person",
            names=[name],
            counts=[len(mentions)],
        )
        for id, name, mentions in zip(ids, drawn.names, drawn.mentions, strict=True)
    ]
    edges = []
    for source, target, where in drawn.relations:
        id = f"{ids[source]}-{target:04}"
        ends = {"source": drawn.names[source], "target": drawn.names[target]}
        below = [chunks[chunk] for chunk in where]
        nodes.append(
            make_node(
                id,
                "Relation",
                "One knows the other.",
                below,
                next(vectors),
                count=len(where),
                **ends,
            )
        )
        edges += [Edge("SOURCE", id, ids[source]), Edge("TARGET", id, ids[target])]
    return make_part(text, "entities", nodes, edges, "Entity", "Relation")
