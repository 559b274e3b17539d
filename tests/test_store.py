"""The graph in a real Neo4j: what is written, what is found, and what is refused."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import connect, cypher
from fabula import store as store_module
from fabula.errors import SpaceError, StoreError, TooLarge
from fabula.model import Chunk, Detail, Filters, Known, Summary
from fabula.server import Address
from fabula.store import Store, schema
from fabula.store import known as known_module
from fabula.store.known import known
from fabula.store.schema import Index
from fabula.store.wording import refuse_old
from graphs import DIMENSIONS, in_space, small_graph, vector

BUILT = {"chunk_tokens": 200, "embedding_model": "test-model"}


@pytest.fixture
def ready(store: Store) -> Store:
    store.prepare("test-model", DIMENSIONS)
    return store


def labels(store: Store) -> dict[str, int]:
    rows = cypher(store, "MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS count")
    return {row["label"]: row["count"] for row in rows if row["label"] != "EmbeddingSpace"}


# Writing


def test_a_document_that_the_heap_could_not_take_is_refused_with_the_cure(ready: Store) -> None:
    ready.refuse_too_large(20_000, 1536)
    with pytest.raises(TooLarge, match=r"^This document's 200,000 .*FABULA_NEO4J_HEAP=\d+m"):
        ready.refuse_too_large(200_000, 1536)


def test_a_document_becomes_the_schema(ready: Store) -> None:
    graph = small_graph()
    ready.replace(graph, BUILT)
    assert labels(ready) == {"Document": 1, "Chunk": 4, "Summary": 6, "Detail": 8}
    edges = cypher(
        ready,
        "MATCH (a)-[r]->(b) RETURN labels(a)[0] + ' ' + type(r) + ' ' + "
        "labels(b)[0] AS edge, count(*) AS count ORDER BY edge",
    )
    assert {row["edge"]: row["count"] for row in edges} == {
        "Chunk FROM_DOCUMENT Document": 4,
        "Chunk NEXT_CHUNK Chunk": 3,
        "Document FIRST_CHUNK Chunk": 1,
        "Detail DETAILS Chunk": 8,
        "Summary SUMMARIZES Chunk": 10,
        "Summary SUMMARIZES Summary": 4,
    }
    [chunk] = cypher(ready, "MATCH (:Document)-[:FIRST_CHUNK]->(n) RETURN properties(n) AS n")
    embedding = chunk["n"].pop("embedding")
    assert np.allclose(embedding, graph.chunks[0].embedding)
    assert chunk["n"] == {
        "id": graph.chunks[0].id,
        "document": graph.document.id,
        "collection": "default",
        "kind": "chunk",
        "aspect": "",
        "level": 0,
        "index": 0,
        "section": "I",
        "start": 0,
        "end": 10,
        "text": "word 0.",
        "tokens": 3,
    }


def test_chunks_are_linked_in_text_order(ready: Store) -> None:
    ready.replace(small_graph(chunks=7), BUILT)
    [row] = cypher(
        ready,
        "MATCH path = (:Document)-[:FIRST_CHUNK]->()-[:NEXT_CHUNK*6]->(last) "
        "RETURN [n IN nodes(path)[1..] | n.index] AS indexes",
    )
    assert row["indexes"] == [0, 1, 2, 3, 4, 5, 6]


def test_membership_probabilities_are_weights(ready: Store) -> None:
    ready.replace(small_graph(), BUILT)
    rows = cypher(ready, "MATCH (:Summary {level: 2, aspect: 'plot'})-[r]->() RETURN r.weight AS w")
    assert sorted(row["w"] for row in rows) == [0.5, 1.0]


def test_an_entry_tells_how_a_document_was_built_and_what_it_cost(ready: Store) -> None:
    graph = small_graph()
    ready.replace(graph, BUILT)
    [entry] = ready.documents()
    assert (entry.title, entry.settings, entry.usage) == ("A", BUILT, graph.usage)
    assert entry.assigned == ("theme",)
    [row] = cypher(ready, "MATCH (d:Document) RETURN d.calls AS calls, d.prompt_tokens AS tokens")
    assert row == {"calls": 6, "tokens": 150}


def test_layers_count_passages_by_kind_aspect_and_level(ready: Store) -> None:
    graph = small_graph()
    ready.replace(graph, BUILT)
    counted = {
        (one.kind, one.aspect, one.level): one.passages for one in ready.layers(graph.document.id)
    }
    assert counted == {
        ("chunk", "", 0): 4,
        ("detail", "", 0): 8,
        ("summary", "plot", 1): 2,
        ("summary", "plot", 2): 1,
        ("summary", "theme", 1): 2,
        ("summary", "theme", 2): 1,
    }


def test_a_changed_document_takes_the_place_of_the_old(ready: Store) -> None:
    ready.replace(small_graph(words="old", chunks=6), BUILT)
    [before] = ready.documents()
    ready.replace(small_graph(words="new", chunks=4), BUILT)
    [after] = ready.documents()
    assert labels(ready) == {"Document": 1, "Chunk": 4, "Summary": 6, "Detail": 8}
    assert not cypher(ready, "MATCH (n:Chunk) WHERE n.text STARTS WITH 'old' RETURN n")
    assert after.created_at == before.created_at
    assert after.updated_at > before.updated_at


def test_what_an_edit_leaves_alone_keeps_its_id(ready: Store) -> None:
    ready.replace(small_graph(chunks=4), BUILT)
    before = {row["id"] for row in cypher(ready, "MATCH (n:Chunk) RETURN n.id AS id")}
    ready.replace(small_graph(chunks=5), BUILT)
    after = {row["id"] for row in cypher(ready, "MATCH (n:Chunk) RETURN n.id AS id")}
    assert before < after


def test_other_documents_are_left_alone(ready: Store) -> None:
    ready.replace(small_graph("a.txt"), BUILT)
    ready.replace(small_graph("b.txt"), BUILT)
    ready.replace(small_graph("a.txt", words="new"), BUILT)
    ready.remove(small_graph("a.txt").document.id)
    assert [entry.source for entry in ready.documents()] == ["b.txt"]
    assert labels(ready) == {"Document": 1, "Chunk": 4, "Summary": 6, "Detail": 8}


def test_readers_see_the_old_graph_until_the_new_one_is_whole(ready: Store) -> None:
    ready.replace(small_graph(words="old"), BUILT)
    seen: list[set[str]] = []

    def look(_: int) -> None:
        hits = ready.nearest(vector(1), 50, Filters(kinds=("chunk",)), "test-model")
        seen.append({hit.text.split()[0] for hit in hits})

    ready.replace(small_graph(words="new"), BUILT, look)
    look(0)
    *before, after = seen
    assert before and all(words == {"old"} for words in before)
    assert after == {"new"}


def test_a_crash_before_the_switch_leaves_the_old_graph_whole(
    ready: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.replace(small_graph(words="old"), BUILT)

    def crash(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ready.replace(small_graph(words="new", chunks=9), BUILT, crash)
    found = labels(ready)
    assert found.pop("Staged") > 0
    assert found == {"Document": 1, "Chunk": 4, "Summary": 6, "Detail": 8}
    ready.prepare("test-model", DIMENSIONS)
    assert labels(ready)["Staged"] > 0, "what a run may still be staging is not swept"
    monkeypatch.setattr(store_module, "STALE_MS", -1000)
    ready.prepare("test-model", DIMENSIONS)
    assert "Staged" not in labels(ready)


@pytest.mark.parametrize(
    "lost",
    ["MATCH (n:Staged) DETACH DELETE n", "MATCH (n:Staged {kind: 'detail'}) DETACH DELETE n"],
    ids=["all", "a part"],
)
def test_what_was_staged_is_switched_in_whole_or_not_at_all(ready: Store, lost: str) -> None:
    ready.replace(small_graph(words="old"), BUILT)
    staged: list[int] = []

    def lose(count: int) -> None:
        staged.append(count)
        if sum(staged) == 18:
            cypher(ready, lost)

    with pytest.raises(StoreError, match="What was staged of A is gone: run the command again"):
        ready.replace(small_graph(words="new"), BUILT, lose)
    found = labels(ready)
    found.pop("Staged", None)
    assert found == {"Document": 1, "Chunk": 4, "Summary": 6, "Detail": 8}
    assert cypher(ready, "MATCH (n:Chunk) WHERE n.text STARTS WITH 'old' RETURN n")


def test_a_graph_that_was_emptied_meanwhile_is_told_so(ready: Store) -> None:
    def lose(_: int) -> None:
        cypher(ready, "MATCH (space:EmbeddingSpace) DELETE space")

    with pytest.raises(StoreError, match="emptied meanwhile: run the command again"):
        ready.replace(small_graph(), BUILT, lose)


def test_a_clients_clock_does_not_tell_what_is_left_over(
    ready: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 4e9)

    def sweep(_: int) -> None:
        ready.remove("another")

    ready.replace(small_graph(), BUILT, sweep)
    assert labels(ready) == {"Document": 1, "Chunk": 4, "Summary": 6, "Detail": 8}


def test_two_documents_may_be_switched_in_at_once(ready: Store) -> None:
    from concurrent.futures import ThreadPoolExecutor

    sources = [f"{name}.txt" for name in "abcdef"]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda source: ready.replace(small_graph(source), BUILT), sources))
    assert [entry.source for entry in ready.documents()] == sources
    assert labels(ready) == {"Document": 6, "Chunk": 24, "Summary": 36, "Detail": 48}


def test_the_same_document_switched_in_twice_at_once_is_there_once(ready: Store) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda words: ready.replace(small_graph(words=words), BUILT), "xyz"))
    assert labels(ready) == {"Document": 1, "Chunk": 4, "Summary": 6, "Detail": 8}


def test_a_sweep_that_another_transaction_is_in_the_way_of_goes_on(ready: Store) -> None:
    from concurrent.futures import ThreadPoolExecutor

    cypher(ready, "UNWIND range(1, 300) AS n CREATE (:Held)")
    cypher(ready, "UNWIND range(1, 3) AS n CREATE (:Retired {id: n})")
    lock = "MATCH (n:Retired {id: $id}) SET n.is_locked = true"
    with ready.session() as one, ready.session() as other, ThreadPoolExecutor(2) as pool:
        # Of two in a deadlock, the one with fewer locks is ended: that is the sweep.
        strong, brief = one.begin_transaction(), other.begin_transaction()
        strong.run("MATCH (n:Held) SET n.is_locked = true").consume()
        strong.run(lock, id=3).consume()
        brief.run(lock, id=2).consume()
        swept = pool.submit(ready.remove, "another")
        time.sleep(0.5)
        locked = pool.submit(lambda: strong.run(lock, id=1).consume())
        time.sleep(0.5)
        brief.commit()
        locked.result()
        strong.commit()
        swept.result()
    assert labels(ready) == {"Held": 300}


@pytest.mark.parametrize("broken", [np.zeros(8), np.full(8, np.nan)], ids=["zero", "nan"])
def test_an_embedding_the_index_would_leave_out_is_refused(
    ready: Store, broken: NDArray[np.float64]
) -> None:
    graph = small_graph()
    first = replace(graph.chunks[0], embedding=broken.astype(np.float32))
    with pytest.raises(StoreError, match=f"passage {first.id} has no length"):
        ready.replace(replace(graph, chunks=(first, *graph.chunks[1:])), BUILT)
    assert ready.documents() == []


def test_a_document_whose_switch_would_exhaust_the_server_is_refused(ready: Store) -> None:
    row = np.broadcast_to(np.float32(0.5), (4096,))
    graph = small_graph()
    many = [replace(graph.chunks[0], id=f"c{n}", embedding=row) for n in range(9000)]
    with pytest.raises(StoreError, match="FABULA_NEO4J_HEAP=8"):
        ready.replace(replace(graph, chunks=tuple(many), summaries=(), details=()), BUILT)


def test_what_was_made_is_read_back_as_it_was(ready: Store) -> None:
    graph = small_graph()
    ready.replace(graph, BUILT)
    found = known(ready, graph.document.id, DIMENSIONS)
    assert [one.text for one in found.chunks] == [one.text for one in graph.chunks]
    assert {one.id for one in found.summaries} == {one.id for one in graph.summaries}
    assert {one.id for one in found.details} == {one.id for one in graph.details}
    assert np.array_equal(found.chunks[0].embedding, graph.chunks[0].embedding)
    assert found.assigned == ("theme",)
    assert known(ready, "another", DIMENSIONS) == Known()


def test_of_a_document_that_is_replaced_while_it_is_read_nothing_is_known(
    ready: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = small_graph(words="old")
    ready.replace(graph, BUILT)
    monkeypatch.setattr(known_module, "PAGE", 5)
    rows = Store.rows

    def replaced(self: Store, name: str, **parameters: Any) -> list[dict[str, Any]]:
        found = rows(self, name, **parameters)
        if name == "find_passages" and not parameters["after"]:
            ready.replace(small_graph(words="new"), BUILT)
        return found

    monkeypatch.setattr(Store, "rows", replaced)
    assert known(ready, graph.document.id, DIMENSIONS) == Known()


# Embedding spaces


def test_an_untouched_graph_has_no_space(store: Store) -> None:
    cypher(store, "MATCH (space:EmbeddingSpace) DELETE space")
    assert store.space() is None
    assert store.documents() == []


def test_documents_of_another_model_are_refused_with_the_cure(ready: Store) -> None:
    ready.replace(small_graph(), BUILT)
    with pytest.raises(SpaceError, match="FABULA_EMBEDDING_MODEL=test-model"):
        ready.prepare("other-model", DIMENSIONS)
    with pytest.raises(SpaceError, match="9 dimensions of test-model"):
        ready.prepare("test-model", 9)


def test_an_empty_graph_takes_another_model(ready: Store) -> None:
    graph = small_graph()
    ready.replace(graph, BUILT)
    ready.remove(graph.document.id)
    ready.prepare("other-model", 16)
    ready.replace(in_space(graph, 16), BUILT | {"embedding_model": "other-model"})
    assert len(ready.nearest(vector(0, 16), 3, Filters(), "other-model")) == 3


# Finding


def test_the_nearest_come_first_with_their_cosine(ready: Store) -> None:
    graph = small_graph(chunks=6)
    ready.replace(graph, BUILT)
    asked = vector(77)
    passages: list[Chunk | Summary | Detail] = [*graph.chunks, *graph.summaries, *graph.details]
    exact = sorted(((float(one.embedding @ asked), one.id) for one in passages), reverse=True)
    hits = ready.nearest(asked, 5, Filters(), "test-model")
    assert [hit.id for hit in hits] == [id for _, id in exact[:5]]
    assert [hit.score for hit in hits] == pytest.approx(
        [cosine for cosine, _ in exact[:5]], abs=1e-4
    )


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(kinds=("detail",)), {("detail", "", 0)}),
        (Filters(aspects=("plot",)), {("summary", "plot", 1), ("summary", "plot", 2)}),
        (
            Filters(aspects=("plot", "theme"), highest=1),
            {("summary", "plot", 1), ("summary", "theme", 1)},
        ),
        (Filters(lowest=2), {("summary", "plot", 2), ("summary", "theme", 2)}),
        (Filters(highest=0), {("chunk", "", 0), ("detail", "", 0)}),
        (Filters(kinds=("chunk",), aspects=("plot",)), set()),
        (Filters(collection="empty"), set()),
    ],
)
def test_filters_hold_for_both_rankings(
    ready: Store, filters: Filters, expected: set[tuple[str, str, int]]
) -> None:
    ready.replace(small_graph(), BUILT)
    for hits in (
        ready.nearest(vector(3), 50, filters, "test-model"),
        ready.matching("word detail plot theme level", 50, filters),
    ):
        assert {(hit.kind, hit.aspect, hit.level) for hit in hits} == expected


def test_one_document_and_one_collection_are_never_left(ready: Store) -> None:
    first, second = small_graph("a.txt"), small_graph("b.txt")
    elsewhere = small_graph("c.txt", collection="other")
    for graph in (first, second, elsewhere):
        ready.replace(graph, BUILT)
    everywhere = ready.nearest(vector(5), 100, Filters(), "test-model")
    assert {hit.document for hit in everywhere} == {first.document.id, second.document.id}
    inside = ready.nearest(vector(5), 100, Filters(document=second.document.id), "test-model")
    assert len(inside) == 18
    assert {hit.title for hit in inside} == {"B"}


@pytest.mark.parametrize(
    "question",
    [
        "word 3?",
        '"word',
        "word AND (",
        "word~ ^ [",
        "C:\\word NOT",
        "WORD OR",
        "/word/",
        "word*",
        "+word -3",
    ],
)
def test_no_text_breaks_the_search_for_words(ready: Store, question: str) -> None:
    ready.replace(small_graph(), BUILT)
    assert len(ready.matching(question, 4, Filters(kinds=("chunk",)))) == 4


def test_a_question_without_words_finds_nothing_by_words(ready: Store) -> None:
    ready.replace(small_graph(), BUILT)
    assert ready.matching("?! ...", 5, Filters()) == []


def test_a_new_document_is_found_at_once(ready: Store) -> None:
    for number in range(5):
        graph = small_graph(f"{number}.txt")
        ready.replace(graph, BUILT)
        filters = Filters(document=graph.document.id, kinds=("chunk",))
        assert len(ready.nearest(vector(1), 10, filters, "test-model")) == 4
        assert len(ready.matching("word", 10, filters)) == 4


def test_both_indexes_are_online_as_the_design_sets_them(ready: Store) -> None:
    assert [(one.name, one.state) for one in ready.indexes()] == [
        ("passage_texts", "ONLINE"),
        ("passage_vectors", "ONLINE"),
    ]
    [row] = cypher(
        ready, "SHOW INDEXES YIELD name, options WHERE name = 'passage_vectors' RETURN options"
    )
    config = row["options"]["indexConfig"]
    assert config["vector.dimensions"] == DIMENSIONS
    assert config["vector.quantization.type"] == "NONE"
    assert config["vector.default_search_expansion_factor"] == 3.0
    assert config["vector.similarity_function"] == "COSINE"


def dimensions(store: Store) -> int:
    [vectors] = [one for one in store.indexes() if one.name == "passage_vectors"]
    return vectors.dimensions


def test_an_index_of_other_dimensions_than_the_space_is_made_anew(ready: Store) -> None:
    ready.rows("schema_drop_passage_vectors")
    ready.rows("schema_passage_vectors", dimensions=16)
    ready.prepare("test-model", DIMENSIONS)
    assert dimensions(ready) == DIMENSIONS
    ready.replace(small_graph(), BUILT)
    assert len(ready.nearest(vector(0), 3, Filters(), "test-model")) == 3


def test_who_loses_a_race_for_an_empty_graph_leaves_the_winners_index(
    ready: Store, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter = Store._enter

    def outrun(self: Store, model: str, size: int) -> None:
        enter(self, model, size)
        monkeypatch.undo()
        with connect(address) as other:
            other.prepare("other-model", 16)

    monkeypatch.setattr(Store, "_enter", outrun)
    ready.prepare("test-model", DIMENSIONS)
    assert dimensions(ready) == 16
    with pytest.raises(SpaceError, match="was given embeddings of other-model"):
        ready.replace(small_graph(), BUILT)
    ready.prepare("test-model", DIMENSIONS)


@pytest.mark.parametrize("name", ["passage_vectors", "passage_texts"])
def test_the_next_ingest_makes_a_missing_index_even_if_nothing_changed(
    ready: Store, address: Address, name: str
) -> None:
    ready.replace(small_graph(), BUILT)
    cypher(ready, f"DROP INDEX {name}")
    with connect(address) as another:
        another.make_schema()
        assert {one.name for one in another.indexes()} == {"passage_vectors", "passage_texts"}


@pytest.mark.parametrize("name", ["passage_vectors", "passage_texts"])
def test_an_index_that_has_failed_is_made_anew(
    ready: Store, address: Address, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ready.replace(small_graph(), BUILT)
    statement = "SHOW INDEXES YIELD name, id WHERE name = $name RETURN id"
    before = cypher(ready, statement, name=name)
    there = Store.indexes

    def failed(self: Store) -> list[Index]:
        # A server does not fail at will.
        is_old = cypher(self, statement, name=name) == before
        return [
            replace(one, state="FAILED") if is_old and one.name == name else one
            for one in there(self)
        ]

    monkeypatch.setattr(Store, "indexes", failed)
    with pytest.raises(StoreError, match=f"could not populate the index {name}"):
        schema.wait(ready, name)
    with connect(address) as another:
        another.make_schema()
        assert schema.wait(another, name)
    assert cypher(ready, statement, name=name) != before


def test_a_slow_index_is_waited_for(ready: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Store.indexes
    looks: list[float] = []

    def slow(self: Store) -> list[Index]:
        looks.append(len(looks) * 1.0)
        state = "POPULATING" if len(looks) < 4 else "ONLINE"
        return [replace(one, state=state, percent=looks[-1]) for one in there(self)]

    monkeypatch.setattr(Store, "indexes", slow)
    found = schema.wait(ready, "passage_vectors")
    assert found and found.state == "ONLINE"
    assert len(looks) == 4


# Reaching a server


def test_a_wrong_password_is_one_clear_line(address: Address) -> None:
    with pytest.raises(
        StoreError, match=r"refuses user 'neo4j' with this password.*NEO4J_PASSWORD"
    ):
        Store.connect(address.uri, "neo4j", "wrong", "neo4j")


def test_an_unreachable_server_is_one_clear_line() -> None:
    with pytest.raises(StoreError, match=r"No Neo4j answers at bolt://127.0.0.1:9.*NEO4J_URI"):
        Store.connect("bolt://127.0.0.1:9", "neo4j", "x", "neo4j")


def test_an_address_that_is_none_is_one_clear_line() -> None:
    with pytest.raises(StoreError, match="NEO4J_URI = localhost is no address"):
        Store.connect("localhost", "neo4j", "x", "neo4j")


def test_a_database_that_is_not_there_is_named(address: Address) -> None:
    with pytest.raises(StoreError, match=r"has no database 'books'.*NEO4J_DATABASE"):
        Store.connect(address.uri, address.username, address.password, "books")


@pytest.mark.parametrize("version", ["5.26.1", "2025.12.0", "2026.05.3"])
def test_an_older_server_is_refused_with_what_is_needed(version: str) -> None:
    with pytest.raises(StoreError, match=f"version {version}, and Fabula needs 2026.06 or later"):
        refuse_old([("Neo4j Kernel", version), ("Cypher", "5")], "bolt://old")


@pytest.mark.parametrize("version", ["2026.06.0", "2026.08.1", "2027.01.0"])
def test_a_newer_server_is_welcome(version: str) -> None:
    refuse_old([("Neo4j Kernel", version)], "bolt://new")


def test_a_store_can_be_opened_again(address: Address) -> None:
    with connect(address) as first:
        first.version()
    with connect(address) as second:
        assert "community" in second.version()
