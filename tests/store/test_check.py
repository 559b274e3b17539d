"""Is the graph sound, and what is a user told who asks? test_invariants.py breaks it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from breaks import put_sound
from database import cypher
from fabula import Fabula
from fabula.cli import main
from fabula.graph.installed import graphs
from fabula.store import Store
from fabula.store.integrity import MAX_FINDINGS, CheckFindings
from fabula.store.integrity import check as check_graphs
from fabula.store.locks import process_lock
from graphs import DIMENSIONS, document_id, nodes, put, small_graph

pytestmark = pytest.mark.replans


def check(store: Store, collection: str = "", document: str = "") -> CheckFindings:
    return check_graphs(store, graphs().values(), collection, document)


@pytest.fixture
def sound(store: Store) -> Store:
    put_sound(store)
    return store


@pytest.mark.journey
def test_a_sound_graph_is_found_well(sound: Store) -> None:
    findings = check(sound)
    assert findings.violations == ()
    assert findings.notes == ()
    assert (findings.documents, findings.passages) == (2, 4 + 6 + 8 + 3 + 6 + 6)


def test_an_empty_graph_is_sound(store: Store) -> None:
    findings = check(store)
    assert (findings.documents, findings.passages, findings.violations) == (0, 0, ())


def test_a_chain_into_another_document_is_found(sound: Store) -> None:
    cypher(
        sound,
        "MATCH (a:Chunk {collection: 'default', index: 0})-[r:NEXT_CHUNK]->(), "
        "(b:Chunk {collection: 'other', index: 1}) DELETE r CREATE (a)-[:NEXT_CHUNK]->(b)",
    )
    what = {
        violation.what
        for violation in check(sound).violations
        if violation.invariant == "check_chunk_chain"
    }
    assert "NEXT_CHUNK leads into another document" in what


def test_a_finding_names_the_document_a_node_and_the_cure(sound: Store) -> None:
    graph = small_graph()
    cypher(sound, "MATCH (n:Chunk {collection: 'default', index: 2}) SET n.text = ''")
    [found] = check(sound).violations
    assert (found.title, found.document) == ("A", document_id(graph))
    assert (found.id, found.count) == (nodes(graph, "Chunk")[2].id, 1)
    assert "`fabula ingest --rebuild --collection default a.txt`" in found.cure


def test_a_cure_can_be_pasted_whatever_a_file_and_a_collection_are_called(
    graph_url: str, store: Store, tmp_path: Path
) -> None:
    book = tmp_path / "Dora's book (2).txt"
    book.write_text("Title: Dora\n\nAnna walked to the harbour. Boris went to the mill at night.")
    with Fabula(collection="her own", graphs="") as fabula:
        [made] = fabula.ingest(book)
        cypher(store, "MATCH (n:Chunk) WITH n LIMIT 1 SET n.text = ' '")
        [found] = fabula.check().violations
        command = re.fullmatch(r"run `fabula (.*)`", found.cure)
        assert command
        main(shlex.split(command[1]), standalone_mode=False)
        assert fabula.check().violations == ()
        assert [entry.id for entry in fabula.documents()] == [made.document]


def test_passages_of_no_document_go_as_the_cure_says(sound: Store) -> None:
    cypher(sound, "MATCH (d:Document {collection: 'other'}) DETACH DELETE d")
    cypher(sound, "MATCH (n:Detail {collection: 'other'}) WITH n LIMIT 1 REMOVE n.document")
    orphans = [
        violation for violation in check(sound).violations if violation.invariant == "check_orphans"
    ]
    assert len(orphans) == 2
    for orphan in orphans:
        [statement] = re.findall("`(.*)`", orphan.cure)
        cypher(sound, statement)
    assert check(sound).violations == ()


def test_a_document_that_is_replaced_meanwhile_is_looked_at_again(
    sound: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    cypher(sound, "MATCH (n:Chunk {collection: 'default', index: 3}) SET n.text = ''")
    run = Store.run
    looked: list[str] = []

    def replaced(
        self: Store, statement: str, name: str = "", /, **parameters: Any
    ) -> list[dict[str, Any]]:
        found = run(self, statement, name, **parameters)
        looked.append(name)
        if name == "check_weights" and looked.count(name) == 1:
            put(sound, small_graph(words="new"))
        return found

    monkeypatch.setattr(Store, "run", replaced)
    assert check(sound).violations == ()
    assert looked.count("check_weights") == 2


def test_a_thousand_broken_nodes_are_one_finding(sound: Store) -> None:
    cypher(sound, "MATCH (n:Detail) SET n.text = ''")
    found = check(sound).violations
    assert sorted(one.count for one in found) == [6, 8]
    cypher(
        sound,
        "UNWIND range(1, 99) AS n CREATE (:Passage:Chunk {id: 'chunk ' + n, document: 'd ' + n})",
    )
    orphans = [
        violation for violation in check(sound).violations if violation.invariant == "check_orphans"
    ]
    assert len(orphans) == MAX_FINDINGS


def test_one_document_is_checked_alone(sound: Store) -> None:
    cypher(sound, "MATCH (n:Chunk {collection: 'default', index: 2}) SET n.tokens = -1")
    assert check(sound, "default", document_id(small_graph())).violations
    other = check(sound, "other", document_id(small_graph("b.txt", collection="other")))
    assert check(sound, "other").violations == (), "what is wrong elsewhere is not told"
    assert (other.documents, other.passages, other.violations) == (1, 3 + 6 + 6, ())


def test_a_document_without_trees_or_details_is_sound(sound: Store) -> None:
    cypher(sound, "MATCH (n:Summary|Detail) DETACH DELETE n")
    cypher(sound, "MATCH (p:Part {graph: 'aspects'}) SET p.aspects = [], p.details = 0")
    assert check(sound).violations == ()


def test_what_a_run_that_goes_on_has_staged_is_no_violation(sound: Store) -> None:
    cypher(sound, "CREATE (:Staged {run: 'x', id: 'a', kind: 'chunk', document: 'a'})")
    with process_lock(sound, ["x"]):
        findings = check(sound)
    assert findings.violations == ()
    [note] = findings.notes
    assert "1 nodes are staged" in note


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (:Retired {id: 'old', document: 'a'})",
        "CREATE (:Staged {run: 'x', id: 'a', kind: 'document'})",
    ],
)
def test_what_was_left_over_is_told_and_no_violation(sound: Store, statement: str) -> None:
    cypher(sound, statement)
    findings = check(sound)
    assert findings.violations == ()
    [note] = findings.notes
    assert note.startswith("1 nodes are left over")


def test_a_collection_that_is_being_re_embedded_is_sound_and_said_to_be_so(sound: Store) -> None:
    cypher(
        sound,
        "MATCH (s:Collection {name: 'default'}) "
        "SET s.next_model = 'next-model', s.next_dimensions = 2, s.phase = 'writing'",
    )
    cypher(sound, "MATCH (n:Summary) SET n.embedding_2 = [1.0, 0.0]")
    findings = check(sound)
    assert findings.violations == ()
    assert findings.notes == ("Collection 'default' is being re-embedded with next-model.",)


def test_a_collection_that_is_being_re_embedded_needs_the_index_that_is_read(sound: Store) -> None:
    needed = f"passage_vectors_{DIMENSIONS}"
    cypher(sound, f"DROP INDEX {needed}")
    for phase, model in (("writing", "next-model"), ("clearing", "test-model")):
        cypher(
            sound,
            "MATCH (s:Collection {name: 'default'}) "
            "SET s.next_model = 'next-model', s.next_dimensions = 9, s.phase = $phase",
            phase=phase,
        )
        found, _ = check(sound).violations
        assert found.what == f"the index {needed} is missing"
        assert f"`fabula reembed --collection default --embedding-model {model}`" in found.cure
