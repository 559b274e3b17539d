"""The graph in a real Neo4j: what is written, and how one document takes another's place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from database import connect, cypher
from fabula import store as store_module
from fabula.errors import SpaceError, Stopped, StoreError
from fabula.graph import Owner, Part
from fabula.graph.hits import Filters
from fabula.graph.queries import read_statement
from fabula.models.usage import Usage
from fabula.server import Address
from fabula.store import Store, locks, parts
from fabula.store.part_reader import read_part
from fabula.store.parts import lock_prefix
from graphs import DIMENSIONS, document_id, names_of, nodes, put, small_graph, vector
from worker_runs import until

WHOLE = {"Document": 1, "Part": 2, "Passage": 18, "Chunk": 4, "Summary": 6, "Detail": 8}
"""The labels of a small graph."""
BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"


instant = datetime.fromisoformat
"""Neo4j leaves the zeros at a fraction's end out, so times are not in the order of their texts."""


def labels(store: Store) -> dict[str, int]:
    rows = cypher(store, "MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS count")
    kept = ("Collection", "Schema", "Lock", f"Passage{DIMENSIONS}", "PassageText", "ElementText")
    return {row["label"]: row["count"] for row in rows if row["label"] not in kept}


@pytest.mark.journey
def test_a_document_becomes_the_schema(ready: Store) -> None:
    graph = small_graph()
    put(ready, graph)
    assert labels(ready) == WHOLE
    edges = cypher(
        ready,
        "MATCH (a)-[r]->(b) RETURN [one IN [a, b] | head([label IN labels(one) "
        "WHERE NOT label STARTS WITH 'Passage'])] AS ends, type(r) AS type, count(*) AS count",
    )
    found = {f"{row['ends'][0]} {row['type']} {row['ends'][1]}": row["count"] for row in edges}
    assert found == {
        "Chunk FROM_DOCUMENT Document": 4,
        "Chunk NEXT_CHUNK Chunk": 3,
        "Document FIRST_CHUNK Chunk": 1,
        "Detail DETAILS Chunk": 8,
        "Summary SUMMARIZES Chunk": 10,
        "Summary SUMMARIZES Summary": 4,
        "Part PART_OF Document": 2,
    }
    [chunk] = cypher(ready, "MATCH (:Document)-[:FIRST_CHUNK]->(n) RETURN properties(n) AS n")
    embedding = chunk["n"].pop("embedding")
    [first, *_] = nodes(graph, "Chunk")
    assert first.embedding is not None and np.allclose(embedding, first.embedding)
    assert chunk["n"] == {
        "id": first.id,
        "name": "word 0.",
        "document": document_id(graph),
        "collection": "default",
        "graph": "text",
        "sources": [first.id],
        "kind": "chunk",
        "aspect": "",
        "level": 0,
        "index": 0,
        "section": "I",
        "start": 0,
        "end": 10,
        "last": 10,
        "since": 10,
        "text": "word 0.",
        "tokens": 3,
        "search_text": "word 0",
        "search_terms": "word_g 0_g",
        "search_length": 2.0,
        "tenant": "cfe98b07b1ba6b3a2",
    }


def test_chunks_are_linked_in_text_order(ready: Store) -> None:
    put(ready, small_graph(chunks=7))
    [row] = cypher(
        ready,
        "MATCH path = (:Document)-[:FIRST_CHUNK]->()-[:NEXT_CHUNK*6]->(last) "
        "RETURN [n IN nodes(path)[1..] | n.index] AS indexes",
    )
    assert row["indexes"] == [0, 1, 2, 3, 4, 5, 6]


def test_membership_probabilities_are_weights(ready: Store) -> None:
    put(ready, small_graph())
    rows = cypher(ready, "MATCH (:Summary {level: 2, aspect: 'plot'})-[r]->() RETURN r.weight AS w")
    assert sorted(row["w"] for row in rows) == [0.5, 1.0]


def test_an_entry_tells_what_each_graph_was_made_from_and_what_it_cost(ready: Store) -> None:
    text, aspects = small_graph()
    put(ready, [text, aspects])
    [entry] = ready.documents("default")
    assert entry.title == "A"
    assert entry.usage == {**text.record.usage, **aspects.record.usage}
    for part in (text, aspects):
        kept = entry.graphs[part.owner.graph]
        assert (kept.made_from, kept.usage) == (part.record.made_from, part.record.usage)
        assert kept.fingerprint == part.record.fingerprint
    assert entry.graphs["aspects"].facts == {**aspects.record.facts}
    [row] = cypher(
        ready,
        "MATCH (p:Part {graph: 'aspects'}) RETURN p.calls AS calls, p.prompt_tokens AS tokens",
    )
    spent = sum(aspects.record.usage.values(), Usage())
    assert row == {"calls": spent.calls, "tokens": spent.prompt_tokens}


def test_layers_count_passages_by_kind_aspect_and_level(ready: Store) -> None:
    graph = small_graph()
    put(ready, graph)
    counted = {
        (layer.kind, layer.aspect, layer.level): layer.passages
        for layer in ready.layers("default", document_id(graph))
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
    put(ready, small_graph(words="old", chunks=6))
    [before] = ready.documents("default")
    put(ready, small_graph(words="new", chunks=4))
    [after] = ready.documents("default")
    assert labels(ready) == WHOLE
    assert not cypher(ready, "MATCH (n:Chunk) WHERE n.text STARTS WITH 'old' RETURN n")
    assert after.created_at == before.created_at
    assert instant(after.updated_at) > instant(before.updated_at)


def test_what_an_edit_leaves_alone_keeps_its_id(ready: Store) -> None:
    put(ready, small_graph(chunks=4))
    before = {row["id"] for row in cypher(ready, "MATCH (n:Chunk) RETURN n.id AS id")}
    put(ready, small_graph(chunks=5))
    after = {row["id"] for row in cypher(ready, "MATCH (n:Chunk) RETURN n.id AS id")}
    assert before < after


def test_other_documents_are_left_alone(ready: Store) -> None:
    put(ready, small_graph("a.txt"))
    put(ready, small_graph("b.txt"))
    put(ready, small_graph("a.txt", words="new"))
    ready.remove("default", document_id(small_graph("a.txt")))
    assert [entry.source for entry in ready.documents("default")] == ["b.txt"]
    assert labels(ready) == WHOLE


@pytest.mark.journey
def test_readers_see_the_old_graph_until_the_new_one_is_whole(ready: Store) -> None:
    put(ready, small_graph(words="old"))
    seen: list[set[str]] = []

    def look(_: int) -> None:
        hits = ready.nearest(vector(1), 50, Filters("default", kinds=("chunk",)), "test-model")
        seen.append({hit.text.split()[0] for hit in hits})

    ready.apply(small_graph(words="new"), "test-model", look)
    look(0)
    *before, after = seen
    assert before and all(words == {"old"} for words in before)
    assert after == {"new"}


def crowd(words: str, place: int, chunks: int = 300) -> list[Part]:
    """A document whose chunks are all nearest to the vector of that number."""
    text, _ = small_graph(f"{words}.txt", words=words)
    described, first, *_ = text.nodes
    near = vector(place)
    many = [
        replace(
            first,
            id=f"{words}{n}",
            embedding=near,
            sources=(f"{words}{n}",),
            properties={**first.properties, "text": f"{words} of the crowd"},
        )
        for n in range(chunks)
    ]
    return [replace(text, nodes=(described, *many), edges=())]


def test_what_readers_are_not_to_see_takes_nobodys_place_among_the_nearest(
    ready: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ready, small_graph("old.txt", words="old"))
    filters = Filters("default", kinds=("chunk",))
    seen: list[list[str]] = []

    def look(_: int = 0) -> None:
        hits = ready.nearest(vector(77), 3, filters, "test-model")
        near, alike = ready.search_hybrid(vector(77), "crowd old", 3, filters, "test-model")
        seen.append([hit.text.split()[0] for hit in (*hits, *near, *alike)])

    look()
    ready.apply(crowd("staged", 77), "test-model", look)
    assert len(seen) == 5, "once for each slice"
    assert seen == 5 * [9 * ["old"]], "while it is staged"
    look()
    assert seen.pop()[:6] == 6 * ["staged"]

    def fail(name: str) -> str:
        return "RETURN 1 / 0" if name == "core/clear_retired" else read_statement(name)

    with monkeypatch.context() as patched:
        patched.setattr(store_module, "read_statement", fail)
        ready.remove("default", document_id(crowd("staged", 77)))
    assert cypher(ready, "MATCH (n:Retired) RETURN n LIMIT 1"), "not swept yet"
    seen.clear()
    look()
    assert seen == [9 * ["old"]], "once it was removed"


def test_a_crash_before_the_switch_leaves_the_old_graph_whole(ready: Store) -> None:
    put(ready, small_graph(words="old"))

    def crash(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ready.apply(small_graph(words="new", chunks=9), "test-model", crash)
    found = labels(ready)
    assert found.pop("Staged") > 0
    assert found == WHOLE
    ready.prepare("default", "test-model", DIMENSIONS)
    assert "Staged" not in labels(ready), "whose writer is gone is swept at once"


@pytest.mark.parametrize("shown", [True, False], ids=["shown", "hidden"])
def test_what_a_writer_that_lives_has_staged_is_left_to_it(
    ready: Store, address: Address, monkeypatch: pytest.MonkeyPatch, shown: bool
) -> None:
    if not shown:  # as by a server that does not let its users see transactions
        refused = {"core/find_turns": "RETURN 1 / 0"}
        monkeypatch.setattr(
            locks, "read_statement", lambda name: refused.get(name) or read_statement(name)
        )
    swept: list[int] = []

    def sweep(_: int) -> None:
        with connect(address) as other:
            other.prepare("default", "test-model", DIMENSIONS)
            swept.append(labels(other)["Staged"])

    ready.apply(small_graph(), "test-model", sweep)
    assert swept
    assert labels(ready) == WHOLE


def test_a_writer_deletes_what_is_left_in_its_own_collection_and_a_process_that_begins_all(
    ready: Store, address: Address
) -> None:
    """Each writer looked through what all collections had staged: 40,944 database hits."""

    def crash(_: int) -> None:
        raise KeyboardInterrupt

    for collection in ("default", "other"):
        ready.prepare(collection, "test-model", DIMENSIONS)
        with pytest.raises(KeyboardInterrupt):
            ready.apply(small_graph(collection=collection), "test-model", crash)
    cypher(ready, "UNWIND ['default', 'other'] AS name CREATE (:Retired {collection: name})")
    both = {"default": ["Retired", "Staged"], "other": ["Retired", "Staged"]}
    assert left_over(ready) == both
    ready.prepare("new", "test-model", DIMENSIONS)
    ready.remove("new", "no document")
    assert left_over(ready) == both
    ready.prepare("default", "test-model", DIMENSIONS)
    assert left_over(ready) == {"other": both["other"]}
    with connect(address) as beginning:
        beginning.make_schema()
    assert left_over(ready) == {}


def left_over(store: Store) -> dict[str, list[str]]:
    """Which labels of nodes that nobody reads each collection has."""
    rows = cypher(
        store,
        "MATCH (n:Staged|Retired) UNWIND labels(n) AS label WITH n, label "
        "WHERE label IN ['Staged', 'Retired'] WITH DISTINCT n.collection AS name, label "
        "ORDER BY label RETURN name, collect(label) AS labels",
    )
    return {row["name"]: row["labels"] for row in rows}


def end_turns(store: Store) -> None:
    """Ends the transactions that hold turns, as a restart of the server does."""
    cypher(
        store,
        "SHOW TRANSACTIONS YIELD transactionId AS id, metaData "
        "WHERE metaData.fabula_turn IS NOT NULL TERMINATE TRANSACTIONS id YIELD message "
        "RETURN message",
    )


def test_a_writer_that_has_lost_its_turn_changes_nothing(ready: Store) -> None:
    put(ready, small_graph(words="old"))
    with pytest.raises(StoreError, match=r"connection .* was lost.*Try again"):
        ready.apply(small_graph(words="new"), "test-model", lambda _: end_turns(ready))
    found = labels(ready)
    assert found.pop("Staged") > 0
    assert found == WHOLE
    assert cypher(ready, "MATCH (n:Chunk) WHERE n.text STARTS WITH 'old' RETURN n")
    put(ready, small_graph(words="new"))
    assert labels(ready) == WHOLE


@pytest.mark.parametrize("is_small", [True, False])
def test_what_a_switch_is_committing_is_not_deleted_as_left_over(
    ready: Store, monkeypatch: pytest.MonkeyPatch, is_small: bool
) -> None:
    """A writer whose connection is lost during the commit does not know how that ends."""
    monkeypatch.setattr(parts, "is_small", lambda _: is_small)
    graph = small_graph()
    with locks.process_lock(ready, ["document a"], run=parts.make_run_name("default")) as lock:
        staged = ready.stage_early(graph, "test-model", lock)
        with ready.session() as session:
            given = (session, lock.run, (), staged.space, lambda count: None, staged.parts)
            outgoing = parts.stage(*given)
        assert labels(ready) == {"Staged": 21}
        with (
            ThreadPoolExecutor(1) as pool,
            ready.session() as session,
            session.begin_transaction() as switching,
        ):
            parts.switch(switching, lock.run, graph, outgoing, staged.space)  # type: ignore[arg-type]
            discarding = pool.submit(ready.discard_staged, lock)
            until(lambda: bool(cypher(ready, BLOCKED)) or discarding.done(), "nothing waits for it")
            switching.commit()
            discarding.result()
    ready.prepare("default", "test-model", DIMENSIONS)
    assert labels(ready) == WHOLE
    assert not cypher(ready, "MATCH (n) WHERE n.run IS NOT NULL OR n.labels IS NOT NULL RETURN n")


def test_documents_and_records_of_parts_are_staged_last(
    ready: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else their indexes are closed to readers while a large switch changes those of all nodes."""
    written: list[str] = []
    save = parts._save_slices

    def record(transaction: Any, slices: Any, shared: Any) -> None:
        for name, rows in slices:
            if name != "core/stage_edges":
                written.extend(row["labels"][-1] for row in rows)
        save(transaction, slices, shared)

    monkeypatch.setattr(parts, "_save_slices", record)
    with locks.process_lock(ready, ["document a"], run=parts.make_run_name("default")) as lock:
        [text, aspects] = small_graph()
        staged = ready.stage_early([text], "test-model", lock)
        assert not {"Document", "Part"} & {*written}
        ready.apply([text, aspects], "test-model", lock=lock, staged=staged)
    assert sorted(written[-3:]) == ["Document", "Part", "Part"]
    assert len(written) == 21 and labels(ready) == WHOLE


def test_deleting_what_was_staged_can_have_a_limit_of_time(ready: Store) -> None:
    with locks.process_lock(ready, ["document a"], run=parts.make_run_name("default")) as lock:
        ready.stage_early(small_graph(), "test-model", lock)
        with ready.session() as session, session.begin_transaction() as holding:
            holding.run("MATCH (n:Staged) SET n.held = true").consume()
            with pytest.raises(StoreError):
                ready.discard_staged(lock, 1.0)
        assert labels(ready) == {"Staged": 18}
        ready.discard_staged(lock, 60.0)
        assert labels(ready) == {}


def take_both(store: Store, names: list[str], then: Callable[[], None]) -> None:
    with locks.process_lock(store, names, lambda: None):
        then()


def test_turns_of_several_names_that_are_taken_crosswise_all_come_to_pass(ready: Store) -> None:
    had: list[str] = []
    with ThreadPoolExecutor(4) as pool:
        for number in range(40):
            names = ["a", "b", "c"][number % 3 :] + ["a", "b", "c"][: number % 3]
            pool.submit(take_both, ready, names, lambda: had.append("one"))
    assert len(had) == 40
    assert not cypher(ready, "MATCH (n:Lock) WHERE n.id IN ['a', 'b', 'c'] RETURN n")


@pytest.mark.parametrize("attempt", range(3))
def test_of_two_who_find_a_turn_free_at_once_the_second_hears_that_it_waits(
    ready: Store, attempt: int
) -> None:
    begin, heard, had = threading.Barrier(2), threading.Event(), threading.Event()

    def take(_: int) -> None:
        begin.wait()
        with locks.process_lock(ready, ["document"], heard.set):
            if not had.is_set():
                had.set()
                assert heard.wait(60), "the other waits and is told nothing"

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(take, range(2)))


def test_who_waits_for_a_turn_hears_stop(ready: Store, address: Address) -> None:
    def stop() -> None:
        raise Stopped

    with (
        connect(address) as other,
        locks.process_lock(other, ["document"], lambda: None),
        pytest.raises(Stopped),
        locks.process_lock(ready, ["document"], stop),
    ):
        pytest.fail("another has the turn")


@pytest.mark.parametrize(
    "lost",
    ["MATCH (n:Staged) DETACH DELETE n", "MATCH (n:Staged {kind: 'detail'}) DETACH DELETE n"],
    ids=["all", "a part"],
)
def test_what_was_staged_is_switched_in_whole_or_not_at_all(ready: Store, lost: str) -> None:
    put(ready, small_graph(words="old"))
    staged: list[int] = []

    def lose(count: int) -> None:
        staged.append(count)
        if sum(staged) == 18:
            cypher(ready, lost)

    with pytest.raises(StoreError, match="What was staged does not exist any more"):
        ready.apply(small_graph(words="new"), "test-model", lose)
    found = labels(ready)
    found.pop("Staged", None)
    assert found == WHOLE
    assert cypher(ready, "MATCH (n:Chunk) WHERE n.text STARTS WITH 'old' RETURN n")


def test_a_graph_that_was_emptied_meanwhile_is_told_so(ready: Store) -> None:
    def lose(_: int) -> None:
        cypher(ready, "MATCH (space:Collection) DELETE space")

    with pytest.raises(StoreError, match="emptied meanwhile: try again"):
        ready.apply(small_graph(), "test-model", lose)


@pytest.mark.journey
def test_two_documents_may_be_switched_in_at_once(ready: Store) -> None:
    sources = [f"{name}.txt" for name in "abcdef"]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda source: put(ready, small_graph(source)), sources))
    assert [entry.source for entry in ready.documents("default")] == sources
    assert labels(ready) == {name: 6 * count for name, count in WHOLE.items()}


def test_the_same_document_switched_in_twice_at_once_is_there_once(ready: Store) -> None:
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda words: put(ready, small_graph(words=words)), "xyz"))
    assert labels(ready) == WHOLE


def test_a_staged_node_that_another_sweep_deletes_meanwhile_has_no_run(ready: Store) -> None:
    """As one that is read while it is deleted: its properties are null. It was taken for a run."""
    cypher(ready, "CREATE (:Staged)")
    try:
        assert ready.find_abandoned_runs() == []
    finally:
        cypher(ready, "MATCH (n:Staged) DETACH DELETE n")


def test_a_document_that_is_removed_while_it_is_read_is_not_there(ready: Store) -> None:
    """Its properties are null then. It was taken for a document whose id is None."""
    put(ready, small_graph())
    torn = {"title_key": "a", "sha256": "x", "collection": "default"}
    cypher(ready, "CREATE (n:Document) SET n = $torn", torn=torn)
    try:
        [entry] = ready.find_named("default", "A", 5)
        assert entry.source == "a.txt"
        assert ready.find_same("default", sha256=["x"]) == []
        assert [each.id for each in ready.documents("default")] == [entry.id]
    finally:
        cypher(ready, "MATCH (n:Document {sha256: 'x'}) DETACH DELETE n")


def test_a_part_that_is_switched_out_while_it_is_read_is_not_there(ready: Store) -> None:
    """Its properties are null then. Reading a document with one failed (KeyError)."""
    put(ready, small_graph())
    cypher(
        ready,
        "MATCH (d:Document) CREATE (:Part {id: 'default/', collection: 'default', document: ''}),"
        " (:Part {collection: 'default'})-[:PART_OF]->(d)",
    )
    try:
        [entry] = ready.documents("default")
        assert [*entry.graphs] == ["aspects", "text"]
        assert ready.collection_parts("default") == {}
    finally:
        cypher(ready, "MATCH (n:Part) WHERE n.graph IS NULL DETACH DELETE n")


def test_a_sweep_that_another_transaction_is_in_the_way_of_goes_on(ready: Store) -> None:
    cypher(ready, "UNWIND range(1, 300) AS n CREATE (:Held)")
    cypher(ready, "UNWIND range(1, 3) AS n CREATE (:Retired {id: n, collection: 'default'})")
    lock = "MATCH (n:Retired {id: $id}) SET n.is_locked = true"
    with ready.session() as session, ready.session() as other, ThreadPoolExecutor(2) as pool:
        # Of two in a deadlock, the one with fewer locks is ended: that is the sweep.
        strong, brief = session.begin_transaction(), other.begin_transaction()
        strong.run("MATCH (n:Held) SET n.is_locked = true").consume()
        strong.run(lock, id=3).consume()
        brief.run(lock, id=2).consume()
        swept = pool.submit(ready.remove, "default", "another")
        time.sleep(0.5)
        locked = pool.submit(lambda: strong.run(lock, id=1).consume())
        time.sleep(0.5)
        brief.commit()
        locked.result()
        strong.commit()
        swept.result()
    assert labels(ready) == {"Held": 300}


@pytest.mark.parametrize("statement", ["core/clear_retired", "core/clear_staged"])
def test_a_sweep_that_fails_is_told_and_done_by_the_next(
    ready: Store,
    statement: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    put(ready, small_graph())

    def failing(name: str) -> str:
        return "RETURN 1 / 0" if name == statement else read_statement(name)

    with monkeypatch.context() as patched:
        patched.setattr(store_module, "read_statement", failing)
        put(ready, small_graph(words="other words"))
    assert "Replaced nodes could not be deleted" in caplog.text
    put(ready, small_graph(words="more words"))
    assert labels(ready) == WHOLE


def with_first_chunk(parts: list[Part], **changed: Any) -> list[Part]:
    """The same graph, its first chunk with other fields."""
    text, *others = parts
    described, first, *rest = text.nodes
    return [replace(text, nodes=(described, replace(first, **changed), *rest)), *others]


@pytest.mark.parametrize("broken", [np.zeros(8), np.full(8, np.nan)], ids=["zero", "nan"])
def test_an_embedding_the_index_would_leave_out_is_refused(
    ready: Store, broken: NDArray[np.float64]
) -> None:
    graph = with_first_chunk(small_graph(), embedding=broken.astype(np.float32))
    [first, *_] = nodes(graph, "Chunk")
    with pytest.raises(StoreError, match=f"chunk {first.id} has no length"):
        put(ready, graph)
    assert list(ready.documents("default")) == []


def test_an_embedding_of_other_dimensions_is_refused(ready: Store) -> None:
    graph = with_first_chunk(small_graph(), embedding=vector(1, 9))
    with pytest.raises(SpaceError, match="the settings ask for 9 dimensions of test-model"):
        put(ready, graph)


def test_a_passage_that_rests_on_nothing_is_refused(ready: Store) -> None:
    with pytest.raises(StoreError, match="rests on no chunk"):
        put(ready, with_first_chunk(small_graph(), sources=()))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"sources": ()}, "rests on no chunk"),
        ({"embedding": np.zeros(8, np.float32)}, "has no length"),
        ({"embedding": vector(1, 9)}, "ask for 9 dimensions"),
    ],
)
def test_an_embedded_element_is_held_to_what_a_passage_is(
    ready: Store, changed: dict[str, Any], why: str
) -> None:
    graph = small_graph()
    names = names_of(graph)
    first, *rest = names.nodes
    broken = replace(names, nodes=(replace(first, **changed), *rest))
    with pytest.raises(StoreError, match=why):
        put(ready, [*graph, broken])
    assert list(ready.documents("default")) == []


def test_a_part_with_embedded_elements_is_read_as_it_was_written(ready: Store) -> None:
    graph = small_graph()
    names = names_of(graph)
    put(ready, [*graph, names])
    read = read_part(ready, names.owner, embeddings=True)
    assert [node.id for node in read.nodes] == [node.id for node in names.nodes]
    for was, now in zip(names.nodes, read.nodes, strict=True):
        assert (now.label, now.sources, read.is_passage(now)) == ("Name", was.sources, False)
        assert now.properties == {"name": was.properties["text"], **was.properties}
        if was.embedding is None:
            assert now.embedding is None
        else:
            assert now.embedding is not None
            assert np.array_equal(now.embedding, was.embedding)
    put(ready, [read])
    assert (
        ready.nearest_elements(vector(20_000), 1, Filters("default"), "test-model")[0].score > 0.99
    )


@pytest.mark.parametrize("label", ["Chunk) DETACH DELETE (n", "Chunk`", ""])
def test_a_label_is_a_word(ready: Store, label: str) -> None:
    with pytest.raises(StoreError, match="is not a valid label of a node"):
        put(ready, with_first_chunk(small_graph(), label=label))


def test_one_graph_of_a_document_is_replaced_alone(ready: Store) -> None:
    text, aspects = small_graph()
    put(ready, [text, aspects])
    [before] = ready.documents("default")
    fewer = [node for node in aspects.nodes if node.label == "Detail"]
    ties = [edge for edge in aspects.edges if edge.type == "DETAILS"]
    put(ready, [replace(aspects, nodes=tuple(fewer), edges=tuple(ties))])
    [after] = ready.documents("default")
    assert labels(ready) == {"Document": 1, "Part": 2, "Passage": 12, "Chunk": 4, "Detail": 8}
    [row] = cypher(ready, "MATCH (:Detail)-[r:DETAILS]->(:Chunk) RETURN count(r) AS ties")
    assert row["ties"] == 8, "they lead to the chunks that were there"
    assert before.graphs["text"] == after.graphs["text"]
    made, changed = before.graphs["aspects"].updated_at, after.graphs["aspects"].updated_at
    assert instant(made) < instant(changed)


def test_a_graph_built_on_a_text_that_changed_meanwhile_is_refused(ready: Store) -> None:
    text, aspects = small_graph(words="old")
    put(ready, [text, aspects])
    put(ready, small_graph(words="new"))
    with pytest.raises(StoreError, match="changed while this was built"):
        put(ready, [aspects])
    found = labels(ready)
    assert found.pop("Staged") > 0
    assert found == WHOLE
    assert not cypher(ready, "MATCH (n:Passage) WHERE n.text CONTAINS 'old' RETURN n")


def ties_of(store: Store) -> set[tuple[str, str, str]]:
    rows = cypher(
        store, "MATCH (a:Passage)-[r]->(b:Passage) RETURN a.id AS a, type(r) AS r, b.id AS b"
    )
    return {(row["a"], row["r"], row["b"]) for row in rows}


@pytest.fixture
def ties(ready: Store, monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str, str]]:
    """The edges of a small graph, which are too many for a switch."""
    put(ready, small_graph())
    monkeypatch.setattr(parts, "MAX_TIES_AT_SWITCH", 3)
    return ties_of(ready)


def test_many_edges_to_chunks_are_made_before_the_switch(
    ready: Store, ties: set[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, aspects = small_graph()
    switched: list[int] = []
    switch = parts.switch

    def seen(*given: Any) -> int:
        [row] = cypher(ready, "MATCH (:Staged)-[tie]->(:Passage) RETURN count(tie) AS ties")
        assert ties_of(ready) == ties, "no reader sees them"
        switched.append(row["ties"])
        return switch(*given)

    monkeypatch.setattr(store_module, "switch", seen)
    put(ready, [aspects])
    chunks = {node.id for node in nodes([text], "Chunk")}
    assert switched == [sum(edge.end in chunks for edge in aspects.edges)]
    assert switched[0] > 8
    assert ties_of(ready) == ties
    put(ready, [text, aspects])
    assert switched[1:] == [0], "the chunks came with them"
    assert ties_of(ready) == ties


def test_edges_that_went_with_their_chunks_are_missed_by_the_switch(
    ready: Store, ties: set[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, aspects = small_graph()
    switch = parts.switch

    def bereft(*given: Any) -> int:
        cypher(ready, "MATCH (:Staged)-[tie]->(:Chunk) WITH tie LIMIT 1 DELETE tie")
        return switch(*given)

    monkeypatch.setattr(store_module, "switch", bereft)
    with pytest.raises(StoreError, match="changed while this was built"):
        put(ready, [aspects])
    assert ties_of(ready) == ties


def test_a_graph_is_dropped_alone(ready: Store) -> None:
    put(ready, small_graph())
    put(ready, small_graph("b.txt"))
    owner = Owner("default", "aspects", document_id(small_graph()))
    assert ready.drop([owner]) == 1
    assert ready.drop([owner]) == 0
    first, second = ready.documents("default")
    assert [set(entry.graphs) for entry in (first, second)] == [{"text"}, {"text", "aspects"}]
    assert labels(ready) == {
        "Document": 2, "Part": 3, "Passage": 22, "Chunk": 8, "Summary": 6, "Detail": 8
    }  # fmt: skip


def test_several_documents_come_in_at_once_each_with_its_own_beginning(ready: Store) -> None:
    put(ready, small_graph("a.txt"))
    put(ready, small_graph("b.txt"))
    first, second = ready.documents("default")
    put(ready, [*small_graph("a.txt", words="new"), *small_graph("b.txt"), *small_graph("c.txt")])
    after = list(ready.documents("default"))
    assert [entry.created_at for entry in after[:2]] == [first.created_at, second.created_at]
    assert instant(after[2].created_at) > instant(second.created_at)
    assert labels(ready) == {name: 3 * count for name, count in WHOLE.items()}
    with pytest.raises(ValueError, match="too many values"):
        put(ready, [*small_graph(), *small_graph(collection="other")])


def test_documents_of_equal_source_in_two_collections_are_two(ready: Store) -> None:
    ready.prepare("other", "test-model", DIMENSIONS)
    put(ready, small_graph())
    put(ready, small_graph(collection="other"))
    ready.remove("other", document_id(small_graph()))
    assert len(list(ready.documents("default"))) == len(list(ready.documents("other"))) == 1
    ready.remove("other", document_id(small_graph(collection="other")))
    assert list(ready.documents("other")) == []
    assert labels(ready) == WHOLE


def test_what_a_node_rests_on_is_a_stretch_of_the_text(ready: Store) -> None:
    graph = small_graph()
    put(ready, graph)
    [top] = [node for node in nodes(graph, "Summary") if node.properties["level"] == 2][:1]
    found = ready.sources("default", [top.id])[top.id]
    assert [(chunk.start, chunk.end, chunk.text) for chunk in found] == [
        (number * 10, number * 10 + 10, f"word {number}.") for number in range(4)
    ]
    assert ready.sources("other", [top.id]) == {}


def test_remove_and_replace_at_once_leave_one_of_the_two_results(ready: Store) -> None:
    id = document_id(small_graph())
    put(ready, small_graph())
    for words in "abcdef":
        with ThreadPoolExecutor(2) as pool:
            came = pool.submit(put, ready, small_graph(words=words))
            gone = pool.submit(ready.remove, "default", id)
            came.result(), gone.result()
        found = labels(ready)
        assert found in ({}, WHOLE), found


# Versions of graphs


def version_hits(store: Store, revision: str) -> tuple[str, int]:
    """Return the revision of a collection, and what reading the versions of its graphs reads."""
    parameters = {
        "collection": "many",
        "document": "",
        "graphs": ["text", "aspects"],
        "locks": lock_prefix("many"),
        "revision": revision,
    }
    with store.session() as session:
        result = session.run(f"PROFILE {read_statement('core/find_versions')}", parameters)
        [row] = result.data()
        steps = [result.consume().profile]
    hits = 0
    while steps:
        step: Any = steps.pop()
        hits += step["args"].get("DbHits", 0)
        steps += step.get("children", [])
    return row["revision"], hits


def test_versions_are_read_again_only_after_the_collection_changed(ready: Store) -> None:
    """Every question of a mode over graphs once counted all parts of its collection."""
    parts = """
        UNWIND range(1, $count) AS number UNWIND ['text', 'aspects'] AS graph
        CREATE (:Part {id: 'many/' + graph + '/d' + number, collection: 'many', graph: graph,
          updated_at: datetime()})
    """
    change = "MERGE (lock:Lock {id: $id}) SET lock.taken_at = datetime()"
    lock = f"{lock_prefix('many')}0"
    cypher(ready, parts, count=1000)
    cypher(ready, change, id=lock)
    revision, hits = version_hits(ready, "")
    assert hits > 2000
    again, hits = version_hits(ready, revision)
    assert (again, hits < 100) == (revision, True)
    assert ready.count_parts("many", "", ["text", "facts"]) == {"text": 1000}
    assert ready.count_parts("many", "d7", ["text", "facts"]) == {"text": 111}
    version = ready.collection_version("many", ["text"])
    assert ready.collection_version("many", ["text"]) == version
    cypher(ready, "MATCH (part:Part {id: 'many/text/d7'}) DELETE part")
    cypher(ready, change, id=lock)
    assert ready.count_parts("many", "", ["text", "facts"]) == {"text": 999}
    assert ready.collection_version("many", ["text"]) != version
    assert version_hits(ready, revision)[0] != revision


def test_versions_change_with_every_write(ready: Store) -> None:
    graph = small_graph()
    seen = [ready.collection_version("default", ["text"])]
    put(ready, graph)
    seen.append(ready.collection_version("default", ["text"]))
    put(ready, graph)
    seen.append(ready.collection_version("default", ["text"]))
    assert ready.count_parts("default", document_id(graph), ["text"]) == {"text": 1}
    ready.remove("default", document_id(graph))
    assert ready.count_parts("default", document_id(graph), ["text"]) == {}
    assert ready.collection_version("default", ["text"]) == seen[0]
    assert len(set(seen)) == 3
