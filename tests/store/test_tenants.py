"""No statement crosses from one collection into another, however they are called."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import neo4j
import pytest

from cases import for_each
from database import connect, cypher, wipe
from fabula.graph import Node, Part
from fabula.graph.decisions import Decision
from fabula.graph.explore import query_names, shipped_query
from fabula.graph.hits import NO_LIMIT
from fabula.graph.queries import FOLDER, for_embeddings, read_statement
from fabula.server import Address
from fabula.store import Store
from fabula.store.decisions import save_decision
from fabula.store.parts import lock_prefix, run_prefix
from fabula.store.rows import LAST_CHARACTER, encode_vector
from fabula.store.search_index import WordStatistics, search_query
from fabula.store.user_query import run_user_query
from graphs import (
    DIMENSIONS,
    MODEL,
    begin_collection,
    names_of,
    nodes,
    put,
    settled_of,
    small_cast,
    small_communities,
    small_graph,
    vector,
)
from small_discourses import small_discourse

BEYOND = {
    "core/clear_retired": "sweeps the whole graph",
    "core/clear_staged": "sweeps the whole graph",
    "core/clear_staging": "sweeps the whole graph",
    "core/count_run": "a run's name is its own",
    "core/count_words": "its queries and its locks are those of one collection's token",
    "core/find_constraint_makers": "tells of the server",
    "core/find_indexes": "tells of the server",
    "core/find_runs": "sweeps the whole graph",
    "core/find_schema": "tells of the whole graph",
    "core/find_spaces": "lists the collections",
    "core/find_time": "tells of the server",
    "core/find_turns": "tells of the server",
    "core/find_version": "tells of the server",
    "core/find_written": "lists the collections",
    "core/save_schema": "tells of the whole graph",
    "core/stage_edges": "a run's name is its own",
    "core/stage_nodes": "a run's name is its own",
    "core/stage_passages": "a run's name is its own",
    "core/switch_in": "a run's name is its own",
    "core/take_locks": "takes locks",
    "core/terminate_query": "a query's tag is its own",
}
"""Statements that name no collection, and why that is right; the schema's are all such."""
ROOMS = (
    *("core", "aspects", "collection_communities", "communities", "discourse", "entities"),
    *("episodes", "facts", "identities", "speech"),
)
STATEMENTS = [
    path.relative_to(FOLDER).with_suffix("").as_posix()
    for path in sorted(FOLDER.rglob("*.cypher"))
    if path.parent.name in ROOMS and not path.stem.startswith("schema_")
]
WITHIN = [name for name in STATEMENTS if name not in BEYOND]

pytestmark = pytest.mark.long

HOSTILE = (
    "default",
    'it\'s "quoted" \\',
    "x\\' OR 1=1 //",
    "$collection 默认\u200b\U0001f4d6",
    " ",
)
"""Names of collections. Each has the same two books; the text of each bears a mark of its own."""
TWO = HOSTILE[1:3]
"""Those that are tried at each change; all are tried by night."""
WITHOUT_PLACE = {
    "core/count_checked": "counts for `fabula check`",
    "core/count_kinds": "counts for `fabula list` and `fabula show`",
    "core/count_left_over": "counts for `fabula check`",
    "core/count_passages": "counts for `fabula list` and `fabula show`",
    "core/find_annotations": "is read whole; `read_annotated` leaves out what comes after a place",
    "core/find_layers": "counts layers, and shows no annotation",
    "core/find_ends": "is read by a writer",
    "core/find_fingerprints": "is read by a writer",
    "core/find_gaps": "is read by a writer, and for `fabula show`",
    "core/find_length": "says how long a text is",
    "core/find_nearest_in_document": "is asked without a place; with one, find_nearest_filtered is",
    "core/find_nodes": "is read for whole exports; with a place, parts are restricted",
    "core/find_part": "is read for whole parts, which `restrict_parts` restricts",
    "core/find_part_ids": "is read for whole parts, which `restrict_parts` restricts",
    "core/find_passages": "shows a passage by its id",
    "core/find_place": "finds the place that a reader names",
    "core/find_properties": "is read for whole exports",
    "core/find_relationships": "is read for whole exports",
    "core/find_same": "finds documents",
    "core/find_section_names": "is read by a writer",
    "core/find_sections": "lists the sections of a text",
    "core/find_structures": "is cut by `TextStructure.up_to`",
    "core/find_text": "reads the text, which `reading.read` cuts at the place",
    "core/find_whole_nodes": "is read for whole exports",
    "core/find_triples": "is compared with gold annotations",
    "core/find_vectors": "returns no text",
    "core/find_versions": "returns no text",
    "entities/find_named": "is shown where entities are corrected",
    "fabula_graphs/facts/find_sources": "returns ids of chunks, which are read with the place",
    "fabula_graphs/identities/find_others": "is of several documents: it is not asked with a place",
}
"""Statements about a document that take no place of a reader, and why that is right."""
OF_DOCUMENTS = {"document", "first_document", "documents", "passages", "nodes", "ids"}
TAKES_IDS = {
    *("document", "passages", "summaries", "tops", "nodes", "ids", "id", "first_document", "rows")
}
WIDE = {"limit": 500, "distance": 1}
CAST = {"name": "Anna", "first": "Anna", "second": "Boris"}
"""What lets a query find something in books of four chunks, and who is in them."""
OF_OTHER_TEXTS = {
    *("annotated", "concordance", "conversations", "episodes", "facts", "merged"),
    *("missing_aspects", "names", "places", "recap", "said_about", "section_words", "subjects"),
    "uncovered",
}
"""Queries that find nothing in these books: the tests of their graphs and test_explore ask them."""
BY_ITSELF = ("core/reembed_clear", "core/reembed_copy")
"""They commit as they go, and nothing but a collection's name is given to them."""


def mark(collection: str) -> str:
    """What every text of a collection has in it, and no other's."""
    return f"mark{HOSTILE.index(collection)}x"


def marked(parts: list[Part], collection: str) -> list[Part]:
    def mark_node(node: Node) -> Node:
        properties = dict(node.properties)
        texts = {"text", "embedded_text", "title", "title_key", "author", "author_key", "name"}
        texts |= {"sha256"}
        for name in texts & properties.keys():
            properties[name] = f"{properties[name]} {mark(collection)}."
        return replace(node, properties=properties)

    return [replace(part, nodes=tuple(map(mark_node, part.nodes))) for part in parts]


@pytest.fixture(
    scope="module", params=[TWO, pytest.param(HOSTILE, marks=pytest.mark.nightly)], ids=["2", "5"]
)
def collections(request: pytest.FixtureRequest) -> tuple[str, ...]:
    names: tuple[str, ...] = request.param
    return names


def pairs(collections: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each of the collections, and the next one."""
    return zip(collections, (*collections[1:], collections[0]), strict=True)


@pytest.fixture(scope="module")
def tenants(address: Address, collections: tuple[str, ...]) -> Iterator[Store]:
    """All collections, and ties between each two that are next to each other, which are wrong."""
    with connect(address) as store:
        wipe(store)
        for name in collections:
            begin_collection(store, name)
            for source in ("a.txt", "b.txt"):
                parts = small_graph(source, collection=name)
                cast = small_cast(parts)
                communities = small_communities(cast, [node.id for node in nodes(parts, "Chunk")])
                own = [*parts, names_of(parts), cast, communities, small_discourse(parts)]
                put(store, marked(own, name))
            put(store, marked([settled_of(names_of(parts))], name))
            renamed = Decision(1, "entities", "rename", (mark(name), mark(name)), by=mark(name))
            save_decision(store, name, renamed, 0)
        for one, other in pairs(collections):
            for start, tie, end in (
                ("Summary", "SUMMARIZES {weight: 1.0}", "Chunk"),
                ("Summary", "SUMMARIZES {weight: 1.0}", "Summary"),
                ("Detail", "DETAILS", "Chunk"),
                ("Chunk", "NEXT_CHUNK", "Chunk"),
                ("Chunk", "FROM_DOCUMENT", "Document"),
                ("Part", "PART_OF", "Document"),
                ("Element", "FROM_CHUNK", "Chunk"),
                ("Relation", "SOURCE", "Entity"),
                ("Triple", "OBJECT", "Entity"),
                ("Relation", "TARGET", "Entity"),
                ("Entity", "RELATES_TO {count: 5}", "Entity"),
                ("Event", "WHO", "Term"),
                ("Term", "IS", "Entity"),
                ("Link", "ARG1", "Chunk"),
                ("Link", "ARG2", "Chunk"),
                ("Community", "HAS_MEMBER", "Entity"),
                ("Community", "PARENT_COMMUNITY", "Community"),
                ("Report", "REPORTS", "Community"),
                ("Report", "CITES", "Entity"),
            ):
                cypher(
                    store,
                    f"MATCH (a:{start} {{collection: $one}}), (b:{end} {{collection: $other}}) "
                    f"WITH a, b LIMIT 20 CREATE (a)-[:{tie}]->(b)",
                    one=one,
                    other=other,
                )
        yield store


@pytest.fixture(scope="module")
def foreign(tenants: Store, collections: tuple[str, ...]) -> dict[str, list[str]]:
    """What must not be seen from each collection: the others' ids and marks."""
    ids: dict[str, list[str]] = {}
    for row in cypher(
        tenants,
        "MATCH (n:Document|Passage|Element) RETURN n.collection AS name, collect(n.id) AS ids",
    ):
        ids[row["name"]] = row["ids"]
    return {
        name: [text for other in ids if other != name for text in (*ids[other], mark(other))]
        for name in collections
    }


def test_each_collection_is_there_with_its_own(
    tenants: Store, collections: tuple[str, ...]
) -> None:
    assert [space.collection for space in tenants.spaces()] == sorted(collections)
    for name in collections:
        assert [document.collection for document in tenants.documents(name)] == [name] * 2


@pytest.mark.statement
@for_each("name", query_names())
def test_a_query_for_analysts_stays_in_its_collection(
    name: str, tenants: Store, foreign: dict[str, list[str]]
) -> None:
    query = shipped_query(name)
    assert query.parameters[0].name == "collection"
    known = {parameter.name for parameter in query.parameters}
    given = WIDE | (CAST if name in ("appearances", "between") else {})
    for collection, hidden in foreign.items():
        values = query.values({"collection": json.dumps(collection)})
        values |= {key: value for key, value in given.items() if key in known}
        table = run_user_query(tenants, query.statement, values)
        assert table.rows or name in OF_OTHER_TEXTS
        assert table.changes == {}
        assert len(set(table.columns)) == len(table.columns)
        assert max(len(json.dumps(row)) for row in (*table.rows, ())) < 20_000
        shown = json.dumps(table.rows, ensure_ascii=False)
        assert [text for text in hidden if text in shown] == []


@pytest.mark.statement
@for_each("name", query_names())
def test_a_query_for_analysts_finds_nothing_by_anothers_ids(
    name: str, tenants: Store, collections: tuple[str, ...]
) -> None:
    query = shipped_query(name)
    mine, other, *_ = collections
    for parameter, label in (
        ("document", "Document"),
        ("first", "Document"),
        ("summary", "Summary"),
        ("report", "Report"),
    ):
        defaults = {each.name: each.default for each in query.parameters}
        if defaults.get(parameter) != "":
            continue
        [row] = cypher(
            tenants,
            f"MATCH (n:{label} {{collection: $name}}) RETURN n.id AS id LIMIT 1",
            name=other,
        )
        values = query.values({"collection": json.dumps(mine), parameter: row["id"]})
        assert run_user_query(tenants, query.statement, values).rows == ()


def test_a_statement_names_its_collection_or_is_on_the_list_of_those_that_need_none() -> None:
    without = {name for name in STATEMENTS if "$collection" not in read_statement(name)}
    assert without == set(BEYOND)


def test_a_statement_about_a_document_takes_its_readers_place_or_is_on_a_list() -> None:
    reading = [name for name in STATEMENTS if re.search("/(find|count)_", name)]
    without = {
        name
        for name in reading
        if OF_DOCUMENTS & set(re.findall(r"\$(\w+)", read_statement(name)))
        and "$until" not in read_statement(name)
    }
    assert without == set(WITHOUT_PLACE)


@pytest.mark.statement
@for_each("name", [name for name in WITHIN if "$until" in read_statement(name)])
def test_a_reader_who_has_read_nothing_is_shown_nothing(
    name: str, tenants: Store, belongings: dict[str, dict[str, Any]]
) -> None:
    mine = next(iter(belongings))
    statement = for_embeddings(read_statement(name), DIMENSIONS, 1)
    wanted = set(re.findall(r"\$(\w+)", statement))
    own = belongings[mine]
    parameters = given(own, mine, mine, whole=False) | {"until": 0}
    with undone(tenants) as transaction:
        rows = transaction.run(statement, {key: parameters[key] for key in wanted}).data()
        shown = json.dumps(rows, ensure_ascii=False, default=str)
        # Any text of the collection bears its mark; ids of nodes tell of nodes that are there.
        assert mark(mine) not in shown
        assert [id for id in own["found"] if id and id in shown] == []
        everything = transaction.run(
            statement, {key: (parameters | {"until": NO_LIMIT})[key] for key in wanted}
        ).data()
        assert len(everything) >= len(rows)


@contextmanager
def undone(store: Store) -> Iterator[neo4j.Transaction]:
    with store.session() as session, session.begin_transaction() as transaction:
        yield transaction
        transaction.rollback()


@pytest.fixture(scope="module")
def belongings(tenants: Store, collections: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """By collection, what of a document in it a statement could be given."""
    return {
        other: cypher(
            tenants,
            "MATCH (d:Document {collection: $other}) WITH d LIMIT 1 "
            "MATCH (n:Passage|Element|Part {document: d.id}) "
            "RETURN d.id AS document, d.sha256 AS sha256, collect(n.id) AS nodes, "
            "collect(CASE WHEN NOT n:Part THEN n.id END) AS found, "
            "collect(CASE WHEN n:Passage THEN n.id END) AS passages, "
            "collect(CASE WHEN n:Summary THEN n.id END) AS summaries",
            other=other,
        )[0]
        for other in collections
    }


def given(row: dict[str, Any], mine: str, other: str, *, whole: bool) -> dict[str, Any]:
    """Parameters that name one collection, and what is in another, or where `whole` no ids."""
    document = "" if whole else row["document"]
    named = {"document": document, "id": document, "first_document": document}
    named |= {"last_document": document or LAST_CHARACTER, "ids": [row["document"]]}
    named |= {"sha256": [row["sha256"]], "sources": [], "key": mark(other), "part": mark(other)}
    # The query for words takes no collection but its tenant: even another's finds nothing.
    counts = dict.fromkeys((mark(other), "word", "detail", "plot"), 1)
    words = search_query(other, WordStatistics(counts, 2, 5.0))
    named |= {"documents": [row["document"]], "words": words, "pool": 100, "reach": 100}
    named |= {"phrases": [words], "resembling": [words], "until": 2**62}
    named |= {"locks": lock_prefix(other), "run_prefix": run_prefix(other)}
    named |= {
        "index_name": "passage_texts",
        "revision": "",
        "missing": [],
        "queries": [],
        "all": words,
    }
    named |= {"passages": row["passages"], "nodes": row["found"], "summaries": row["summaries"]}
    named |= {"tops": row["summaries"]}
    new = {"embedding": encode_vector(vector(2)), "made_from": "{}", "fingerprint": "another"}
    edge = {"type": "SUMMARIZES", "end": row["document"], "properties": {}}
    named["rows"] = [
        {"id": id, "start": id, "section": "another", **new, **edge} for id in row["nodes"]
    ]
    named["properties"] = {"edition": "another"}
    layer = {"layer": "another", "number": 0, "content": mark(other)}
    named |= {"layer": "", "slices": [{"id": f"{row['document']}/another/0", "properties": layer}]}
    named |= {"published": "1900", "run": mark(other), "slice": 0, "characters": 10_000}
    # Each collection has a decision 1.
    named |= {"number": 2, "names": [mark(other)], "by": mark(other), "began": 0}
    named |= {"from_end": True, "people": [[mark(other)]], "edges": True, "replies": True}
    space = {"model": MODEL, "dimensions": DIMENSIONS, "slot": 1, "embedding": "embedding"}
    space |= {
        "next": "embedding_2",
        "former": "embedding_2",
        "label": "",
        "element_label": "",
        "labels": [],
        "vector": encode_vector(vector(1)),
    }
    open_ = {
        "kinds": [],
        "element_kinds": [],
        "aspects": [],
        "lowest": 0,
        "highest": 99,
        "graph": "text",
    }
    open_ |= {"until": NO_LIMIT}
    open_ |= {
        "graphs": ["text"],
        "after": "",
        "after_title": "",
        "runs": [],
        "covering": 0.1,
    }
    open_ |= {"at": row["passages"][0], "index": -1, "first": 0, "last": 10_000}
    open_ |= {"spans": [[0, 10_000]], "until": 10_000}
    open_ |= {"called": "anna", "type": "", "kind": "community"}
    open_ |= {"language": "", "order": "title", "skip": 0}
    open_ |= {"speakers": [mark(other)], "speaker": "", "addressee": "", "about": []}
    open_ |= {"doubtful": True}
    open_ |= {"name": "", "relation": ""} | dict.fromkeys(
        ("title", "title_key", "author", "author_key"), "x"
    )
    open_ |= {"steps": [], "fields": ["title"], "revision": ""}
    most = {"limit": 1000, "depth": 100, "starts": 100, "width": 100, "values": 9, "sample": 9}
    most |= {"chunks_before": 3, "chunks_after": 3}
    return {"collection": mine, **named, **space, **open_, **most}


OF_OTHERS = (
    "MATCH (n) WHERE coalesce(n.collection, n.name) <> $mine "
    "RETURN labels(n) AS labels, properties(n) AS properties ORDER BY elementId(n)"
)
CLEARING = "core/clear_collection"
"""It deletes all of its collection, which the other statements are to find."""


@pytest.mark.statement
@for_each("name", [name for name in WITHIN if name != CLEARING])
def test_a_statement_sees_and_changes_nothing_of_another_collection(
    name: str,
    tenants: Store,
    collections: tuple[str, ...],
    foreign: dict[str, list[str]],
    belongings: dict[str, dict[str, Any]],
) -> None:
    statement = for_embeddings(read_statement(name), DIMENSIONS, 1)
    wanted = set(re.findall(r"\$(\w+)", statement))
    for mine, other in pairs(collections):
        for whole in (False, True) if wanted & {"document", "first_document"} else (False,):
            parameters = given(belongings[other], mine, other, whole=whole)
            values = {key: parameters[key] for key in wanted}
            if name in BY_ITSELF:
                with tenants.session() as session:
                    rows = session.run(statement, values).data()
            else:
                with undone(tenants) as transaction:
                    result = transaction.run(statement, values)
                    rows = result.data()
                    # Of a statement that only reads, the server lets nothing be written.
                    if mine == collections[0] and result.consume().query_type != "r":
                        before = cypher(tenants, OF_OTHERS, mine=mine)
                        assert transaction.run(OF_OTHERS, mine=mine).data() == before
            shown = json.dumps(rows, ensure_ascii=False, default=str)
            assert [text for text in foreign[mine] if text in shown] == []
            if not whole and wanted & TAKES_IDS:
                # The revision is of the locks of one's own collection.
                fields = [row[field] for row in rows for field in row if field != "revision"]
                assert all(field in (0, None, []) for field in fields), rows


@pytest.mark.statement
def test_a_collection_is_cleared_alone(tenants: Store, collections: tuple[str, ...]) -> None:
    """The last test of the file, as nothing of the collection is there afterwards."""
    mine = collections[-1]
    before = cypher(tenants, OF_OTHERS, mine=mine)
    with tenants.session() as session:
        session.run(read_statement(CLEARING), collection=mine).consume()
    assert cypher(tenants, OF_OTHERS, mine=mine) == before
    assert cypher(tenants, "MATCH (n {collection: $mine}) RETURN labels(n) AS l", mine=mine) == []
