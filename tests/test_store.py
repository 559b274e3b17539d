"""The graph in a real Neo4j: what is written, and how one document takes another's place."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import cypher
from fabula import store as store_module
from fabula.errors import StoreError, TooLarge
from fabula.model import Filters
from fabula.store import Store
from graphs import BUILT, DIMENSIONS, small_graph, vector


def labels(store: Store) -> dict[str, int]:
    rows = cypher(store, "MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS count")
    return {row["label"]: row["count"] for row in rows if row["label"] != "EmbeddingSpace"}


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
