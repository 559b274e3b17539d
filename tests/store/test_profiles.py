"""Retrieval reads by indexes: each of its statements, profiled on 1,000 and on 20,000 nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from cases import for_each
from database import connect, cypher, wipe
from fabula.graph import Part
from fabula.graph.explore import query_names, shipped_query
from fabula.graph.hits import NO_LIMIT, Filters
from fabula.graph.queries import for_embeddings, read_statement
from fabula.graphs.aspects.ids import detail_id, summary_id
from fabula.graphs.aspects.values import ClusterMember, Detail, Summary
from fabula.server import Address
from fabula.store import Store
from fabula.store.parts import lock_prefix, make_run_name, run_prefix
from fabula.store.rows import encode_vector, filter_parameters
from fabula.store.search_index import WordStatistics, search_query
from fabula.text.document import Chunk
from fabula.text.ids import chunk_id
from graphs import (
    DIMENSIONS,
    MODEL,
    document_id,
    names_of,
    nodes,
    parts_of,
    put,
    small_document,
    vector,
)

pytestmark = pytest.mark.replans

CHUNKS = (256, 1424, 1424, 1424, 1424)
"""Of each document; with details and summaries 20,000 nodes."""
CLUSTER = 8
SEEDS = 10_000
NAMES = 100
"""Embedded elements of each document."""
ASPECTS = ("plot", "setting", "theme")
LIMIT, WIDTH, DEPTH, STARTS = 5, 5, 6, 20
WORDS = ("harbour", "mill", "church", "forest", "winter", "lamp", "ledger", "storm", "mirror")
SEEKS = (
    "NodeUniqueIndexSeek",
    "NodeIndexSeek",
    "NodeIndexSeekByRange",
    "NodeVectorIndexSearch",
    "ProcedureCall",
)
"""Beginnings in an index; the full-text index is a procedure."""
BEGINNINGS = (*SEEKS, "Argument", "Unwind")
"""What a branch of a plan may begin with: an index, what the outer branch has, ids that came."""
SCANS = ("Scan", "CartesianProduct")
BY_NAME = ("NodeUniqueIndexSeekByRange", "NodeIndexContainsScan")
"""How a document is found by the beginning of its id, and by a part of its title: in an index."""
BY_LOCKS = ("NodeUniqueIndexSeekByRange",)
"""How a collection's at most 64 locks are found, by the beginning of their ids: in an index."""
BOUNDED = (
    "core/find_nearest",
    "core/find_nearest_filtered",
    "core/find_nearest_in_document",
    "core/find_nearest_elements",
    "core/find_near_or_alike",
    "core/find_near_or_alike_filtered",
    "core/find_named",
    "core/find_same",
    "core/find_vectors",
    "core/find_chunks",
    "core/find_neighbours",
    "core/find_sources",
    "aspects/find_bottom_up",
    "aspects/find_parents",
    "core/find_nearest_filtered in one document",
    "core/find_nearest_elements in one document",
    "aspects/find_bottom_up in one document",
    "aspects/find_top_down in one document",
    "aspects/find_tops",
    "aspects/find_down",
)
"""The full-text index can't filter: with a document, words that others share are read past."""
OVER_DOCUMENTS = "core/find_documents"
OTHERS = "others"
"""A collection that nothing is asked of, as large as the one that is."""
EVERY = (
    *BOUNDED,
    OVER_DOCUMENTS,
    "core/find_near_or_alike_filtered in one document",
)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a statement did: operators, those that branches begin with, and what it read."""

    operators: tuple[str, ...]
    leaves: tuple[str, ...]
    hits: int
    rows: int
    work: int
    """Rows that all its operators gave: pairs of nodes count, though they are not read again."""


@dataclass(frozen=True, slots=True)
class Profiles:
    """Profiles by statement, with a graph of all documents; and how many nodes."""

    large: dict[str, Profile]
    analysts: dict[str, tuple[Profile, Profile]]
    passages: int


@pytest.fixture(scope="module")
def small(address: Address) -> Iterator[dict[str, Profile]]:
    """Profiles by statement, with a graph of one document."""
    with connect(address) as store:
        wipe(store)
        for collection in ("default", OTHERS):
            store.prepare(collection, MODEL, DIMENSIONS)
        graph = made(0, CHUNKS[0])
        put(store, graph)
        yield profiled(store, graph)


@pytest.fixture(scope="module")
def profiles(address: Address, small: dict[str, Profile]) -> Profiles:
    graphs = [made(number, chunks) for number, chunks in enumerate(CHUNKS)]
    with connect(address) as store:
        for graph in graphs[1:]:
            put(store, graph)
        return Profiles(
            profiled(store, graphs[0]),
            {name: explored(store, name, graphs) for name in query_names()},
            sum(len(part.nodes) - 1 for graph in graphs for part in graph[:2]),
        )


def made(number: int, size: int) -> list[Part]:
    """A document of `size` chunks with two details each, in clusters of 8 up to its tops.

    The last two are in a collection of their own.
    """
    collection = OTHERS if number >= len(CHUNKS) - 2 else "default"
    document = small_document(f"{number}.txt", collection=collection)
    seeds = iter(range(number * SEEDS, (number + 1) * SEEDS))  # equal vectors clog the index
    chunks = []
    for at in range(size):
        id = chunk_id(document.id, said(at), at)
        chunks.append(Chunk(id, at, "I", at, at + 1, said(at), 3, vector(next(seeds))))
    details = [
        Detail(detail_id(chunk.id, n), chunk.id, n, "I", 0, 1, chunk.text, 3, vector(next(seeds)))
        for chunk in chunks
        for n in range(2)
    ]
    summaries = [
        summary for aspect in ASPECTS for summary in tree(document.id, aspect, chunks, seeds)
    ]
    parts = parts_of(document, chunks, summaries, details)
    return [*parts, names_of(parts, NAMES, next(seeds))]


def tree(
    document: str, aspect: str, chunks: Sequence[Chunk], seeds: Iterator[int]
) -> Iterator[Summary]:
    below, level = [chunk.id for chunk in chunks], 0
    while len(below) > 1:
        level += 1
        clusters = [below[at : at + CLUSTER] for at in range(0, len(below), CLUSTER)]
        below = [summary_id(document, aspect, level, members) for members in clusters]
        for id, members in zip(below, clusters, strict=True):
            inside = tuple(ClusterMember(member, 1.0) for member in members)
            text, own = f"{aspect} at level {level}", vector(next(seeds))
            yield Summary(id, aspect, level, "I", 0, 9, text, 4, inside, own)


def said(number: int) -> str:
    return " ".join(WORDS[(number * step + step) % len(WORDS)] for step in (1, 2, 5))


def profiled(store: Store, graph: Sequence[Part]) -> dict[str, Profile]:
    # The server counts what is in an index by itself, some time after it has grown.
    cypher(store, "CALL db.prepareForReplanning()")
    document, filters = document_id(graph), Filters("default")
    space = {"model": MODEL, "slot": 1, "embedding": "embedding", "dimensions": DIMENSIONS}
    everywhere = filter_parameters(filters) | space | {"vector": encode_vector(vector(1))}
    chunks = {"passages": [node.id for node in nodes(graph, "Chunk")[:LIMIT]]}
    chunks |= {"nodes": chunks["passages"]}
    tops = [node.id for node in nodes(graph, "Summary") if node.properties["level"] > 1][:WIDTH]
    nearest = everywhere | {"limit": LIMIT, "depth": 50, "document": document}
    page = {"after_title": "", "after": "", "limit": LIMIT}
    named = {"id": document[:6], "sources": ["0.txt"], "key": "0", "part": "0", "limit": LIMIT}
    words = search_query("default", WordStatistics({"harbour": 1, "lamp": 1}, 2, 5.0))
    by_words = nearest | {"words": words, "pool": 2 * LIMIT, "reach": 2 * LIMIT}
    by_words |= {"locks": lock_prefix("default")}
    parameters: dict[str, dict[str, Any]] = {
        "core/find_nearest": nearest,
        "core/find_nearest_filtered": nearest | {"kinds": ["chunk", "detail"]},
        "core/find_nearest_in_document": nearest,
        "core/find_nearest_elements": nearest | {"kinds": ["name"]},
        "core/find_near_or_alike": by_words,
        "core/find_near_or_alike_filtered": by_words,
        "core/find_named": everywhere | named,
        "core/find_documents": everywhere | page,
        "core/find_same": everywhere | {"ids": [document], "sha256": ["none"]},
        "core/find_vectors": everywhere | chunks,
        "core/find_chunks": everywhere | chunks,
        "core/find_neighbours": everywhere | chunks,
        "core/find_sources": everywhere | chunks,
        "core/find_text": nearest | {"spans": [[0, 1000], [5000, 5001]]},
        "core/find_place": nearest | {"at": "i", "index": -1},
        "core/find_passages_on_chunks": nearest | chunks,
        "aspects/find_bottom_up": everywhere | {"limit": STARTS, "depth": STARTS, "covering": 0.1},
        "aspects/find_tops": everywhere | {"width": WIDTH, "reach": 50},
        "aspects/find_down": everywhere | {"width": WIDTH, "depth": DEPTH, "tops": tops},
        "aspects/find_parents": everywhere | chunks,
    }
    within = filter_parameters(replace(filters, document=document))
    for name in (
        "core/find_nearest_filtered",
        "core/find_nearest_elements",
        "core/find_near_or_alike_filtered",
        "aspects/find_bottom_up",
    ):
        parameters[f"{name} in one document"] = parameters[name] | within
    down = everywhere | {"width": WIDTH, "depth": DEPTH} | within
    parameters["aspects/find_top_down in one document"] = down
    return {name: profile(store, name.split()[0], own) for name, own in parameters.items()}


def profile(store: Store, name: str, parameters: dict[str, Any]) -> Profile:
    return profile_text(store, read_statement(name), parameters)


def profile_text(store: Store, statement: str, parameters: dict[str, Any]) -> Profile:
    with store.session() as session:
        given = {"until": NO_LIMIT, **parameters}
        result = session.run(f"PROFILE {for_embeddings(statement, DIMENSIONS, 1)}", given)
        rows = len(list(result))
        steps = list(walked(result.consume().profile))
    return Profile(
        tuple(operator(step) for step in steps),
        tuple(operator(step) for step in steps if not step.get("children")),
        sum(step["args"].get("DbHits", 0) for step in steps),
        rows,
        sum(step["args"].get("Rows", 0) for step in steps),
    )


def explored(store: Store, name: str, graphs: Sequence[Sequence[Part]]) -> tuple[Profile, Profile]:
    """A query for analysts, on the short document of a collection and on a long one."""
    query = shipped_query(name)
    short, long = (
        profile_text(store, query.statement, query.fill({}) | {"document": document_id(graph)})
        for graph in graphs[:2]
    )
    return short, long


def walked(step: Any) -> Iterator[Any]:
    yield step
    for child in step.get("children", []):
        yield from walked(child)


def operator(step: Any) -> str:
    return str(step["operatorType"]).split("@")[0]


def assert_indexed(name: str, profile: Profile) -> None:
    """Assert that a statement begins with an index and scans nothing."""
    known = BY_NAME if name == "core/find_named" else BY_LOCKS if "alike" in name else ()
    assert [leaf for leaf in profile.leaves if leaf not in (*BEGINNINGS, *known)] == []
    scans = [step for step in profile.operators if step.endswith(SCANS)]
    assert [step for step in scans if step not in known] == []
    assert {*profile.leaves} & {*SEEKS}
    assert profile.rows > 0


# Of a small graph the planner likes to scan more than of a large one.
@pytest.mark.statement
@for_each("name", EVERY)
def test_a_statement_begins_with_an_index(name: str, small: dict[str, Profile]) -> None:
    assert_indexed(name, small[name])


@for_each("name", EVERY)
def test_a_statement_begins_with_an_index_in_a_large_graph(name: str, profiles: Profiles) -> None:
    assert_indexed(name, profiles.large[name])


@for_each("name", BOUNDED)
def test_a_statement_reads_no_more_of_a_larger_graph(
    name: str, small: dict[str, Profile], profiles: Profiles
) -> None:
    within = 1 if "in one document" in name else 2  # another 20 starts have other summaries above
    assert 0 < profiles.large[name].hits <= within * small[name].hits


@for_each("name", query_names())
def test_the_work_of_an_analysts_query_grows_with_the_book_and_not_with_its_square(
    name: str, profiles: Profiles
) -> None:
    """With twice the chunks it is at most 2.2 times as much: paths up a tree grow a little more."""
    short, long = profiles.analysts[name]
    growth = 2.2 ** math.log2(CHUNKS[1] / CHUNKS[0])
    assert 0 < long.hits <= growth * short.hits
    assert long.work <= growth * max(short.work, 1)


def test_the_graph_is_as_large_as_it_is_said_to_be(profiles: Profiles) -> None:
    assert profiles.passages >= 20_000


OWN = (
    "core/find_part_ids",
    "core/switch_out",
    "core/switch_out_collection_part",
    "core/find_nodes",
    "core/sum_passages",
)
"""Statements that are also asked of what belongs to a collection itself, and to no document."""


@pytest.mark.parametrize("name", OWN)
def test_what_belongs_to_a_collection_itself_is_found_without_reading_other_collections(
    name: str, address: Address
) -> None:
    own = {
        "collection": "default",
        "document": "0" * 20 if name == "core/switch_out_collection_part" else "",
        "graph": "identities",
        "replies": True,
        "after": "",
        "limit": 100,
        "embedding": "",
    }
    with connect(address) as store:
        wipe(store)
        store.prepare("default", MODEL, DIMENSIONS)
        add_own_nodes(store, "default", 10)
        alone = profile(store, name, own).hits
        wipe(store)
        store.prepare("default", MODEL, DIMENSIONS)
        add_own_nodes(store, "default", 10)
        add_own_nodes(store, OTHERS, 3000)
        cypher(store, "CALL db.prepareForReplanning()")
        assert 0 < profile(store, name, own).hits <= alone + 10
        wipe(store)


def test_what_other_collections_stage_replace_and_list_is_not_read(address: Address) -> None:
    """While 13,600 nodes of another collection were staged, each question read on among them."""
    run = make_run_name("default")
    of_run, runs = {"run": run, "collection": "default"}, {"runs": [run]}
    parameters: dict[str, dict[str, Any]] = {
        "core/count_hidden": {"collection": "default", "run_prefix": run_prefix("default")},
        "core/find_runs": {"run_prefix": run_prefix("default")},
        "core/count_run": of_run,
        "core/count_ties": of_run,
        "core/switch_in": of_run | {"created": {}, "kept": {}, "whole": True},
        "core/clear_staging": runs,
        "core/clear_retired": dict.fromkeys(("first_collection", "last_collection"), "default"),
        "core/clear_staged": runs,
        "core/find_space": {"collection": "default"},
        "core/find_spaces": {},
        "core/count_documents": {"collection": "default", "limit": 1},
        "core/find_written": {},
    }
    with connect(address) as store:
        wipe(store)
        for collection in ("default", OTHERS):
            store.prepare(collection, MODEL, DIMENSIONS)
        add_staged_nodes(store, "default", 10)
        add_documents(store, "default", 10)
        add_documents(store, OTHERS, 10)
        alone = {name: profile(store, name, given).hits for name, given in parameters.items()}
        add_staged_nodes(store, OTHERS, 3000)
        add_documents(store, "default", 1000)
        add_documents(store, OTHERS, 1000)
        cypher(store, "CALL db.prepareForReplanning()")
        beside = {name: profile(store, name, given).hits for name, given in parameters.items()}
        assert {name: hits for name, hits in beside.items() if hits > alone[name] + 10} == {}
        wipe(store)


def add_staged_nodes(store: Store, collection: str, count: int) -> None:
    """Write nodes that a run has staged, and as many that a switch has hidden."""
    cypher(
        store,
        "UNWIND range(1, $count) AS n CREATE (:Staged {run: $run, id: 's' + n, "
        "collection: $collection}), (:Retired {id: 'r' + n, collection: $collection})",
        count=count,
        run=make_run_name(collection),
        collection=collection,
    )


def add_documents(store: Store, collection: str, count: int) -> None:
    cypher(
        store,
        "UNWIND range(1, $count) AS n CREATE (:Document {id: randomUUID(), title_key: 't' + n, "
        "collection: $collection, updated_at: datetime()})",
        count=count,
        collection=collection,
    )


def add_own_nodes(store: Store, collection: str, count: int) -> None:
    """Write elements, passages and parts that belong to the collection itself."""
    cypher(
        store,
        "UNWIND range(1, $count) AS n "
        "WITH n, {collection: $collection, document: '', graph: 'identities'} AS own "
        "CREATE (element:Element:Identity {id: $collection + n, kind: 'identity'}) "
        "CREATE (passage:Passage {id: $collection + 'p' + n, kind: 'report'}) "
        "CREATE (part:Part {id: $collection + '/identities/' + n}) "
        "SET element += own, passage += own, part += own",
        count=count,
        collection=collection,
    )
