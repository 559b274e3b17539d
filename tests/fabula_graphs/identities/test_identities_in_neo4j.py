"""Identities of a collection in a real Neo4j: built, read, stale, undone, and gone."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from database import cypher
from endpoint import Endpoint
from fabula import Fabula, Outcome
from fabula.cli import main
from fabula.config.settings import Settings
from fabula.errors import NotFound, SettingsError
from fabula.graph.queries import read_statement
from fabula.graph.trace import Trace as Steps
from fabula.operations.documents import drop_graph, remove_document
from fabula.store import Store

pytestmark = pytest.mark.long

BOOKS = {
    "first": "Anna met Thornton by the mill. There Anna was late. Later that day Anna walked home "
    "with Thornton alone.",
    "second": "Again Anna waited for Thornton there. Nobody saw Anna or Thornton in the evening.",
    "third": "In the north Anna sailed with Sigurd. At night Anna asked Sigurd about the stars.",
}


@pytest.fixture
def books(online: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_GRAPHS", "entities")
    folder = tmp_path / "books"
    folder.mkdir()
    for name, text in BOOKS.items():
        (folder / f"{name}.txt").write_text(f"Title: The {name} book\nLanguage: en\n\n{text}\n")
    return folder


@pytest.fixture
def ingested(books: Path) -> Path:
    with Fabula() as fabula:
        assert {outcome.status for outcome in fabula.ingest(books)} == {"added"}
    return books


def settle(**settings: Any) -> Outcome:
    with Fabula(Settings.read(**settings)) as fabula:
        [outcome] = fabula.build("identities")
        assert fabula.check().violations == ()
    return outcome


def one_another(store: Store) -> list[list[str]]:
    """Who is one, by the names of entities and the titles of documents."""
    rows = cypher(
        store,
        "MATCH (n:Identity) RETURN COLLECT { MATCH (n)-[:SAME]->(e:Entity) "
        "MATCH (d:Document {id: e.document}) RETURN e.name + ' ' + split(d.title, ' ')[1] AS who "
        "ORDER BY who } AS who ORDER BY who",
    )
    return [row["who"] for row in rows]


def stored(store: Store) -> list[dict[str, Any]]:
    return cypher(
        store,
        "MATCH (n:Identity|Part {document: '', graph: 'identities'}) WITH n ORDER BY n.id RETURN "
        "labels(n), n {.*, updated_at: null, usage: null, calls: null, saved: null, asked: null, "
        "prompt_tokens: null, completion_tokens: null, cached_tokens: null, "
        "saved_prompt_tokens: null, saved_completion_tokens: null} AS n, COLLECT { "
        "MATCH (n)-[r]->(m) RETURN {type: type(r), end: m.id, told: properties(r)} "
        "ORDER BY type(r), m.id } AS edges",
    )


def calls_about_pairs(endpoint: Endpoint) -> int:
    """How often a model was asked about pairs."""
    return sum(
        "one and the same?" in body["messages"][-1]["content"]
        for body in endpoint.bodies
        if "messages" in body
    )


def run(*words: str) -> str:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.journey
def test_a_model_tells_namesakes_from_who_comes_again(
    ingested: Path, store: Store, endpoint: Endpoint
) -> None:
    calls = endpoint.calls
    with Fabula() as fabula:
        [dry] = fabula.build("identities", dry=True)
    assert (endpoint.calls, stored(store)) == (calls, []), "a dry run asks and writes nothing"
    outcome = settle()
    assert (outcome.status, outcome.graphs) == ("added", ("identities",))
    assert dry.steps["identities"].calls == outcome.steps["identities"].calls == 1
    assert one_another(store) == [
        ["Anna first", "Anna second"],
        ["Anna third"],
        ["Thornton first", "Thornton second"],
    ]
    assert calls_about_pairs(endpoint) == 1
    assert "told apart" in outcome.notes[1]
    [apart] = cypher(
        store, "MATCH (:Identity)-[r:APART]->(:Identity) RETURN r.by AS by, r.why AS why"
    )
    assert apart == {"by": "model", "why": "nobody knows both"}
    labels = cypher(
        store, "MATCH (n:Identity) RETURN DISTINCT labels(n) AS labels, n.document AS d"
    )
    [row] = labels
    assert (set(row["labels"]), row["d"]) == ({"Element", "ElementText", "Identity"}, "")


def test_it_is_built_once_and_no_ingest_builds_it(
    ingested: Path, store: Store, endpoint: Endpoint, tmp_path: Path
) -> None:
    settle()
    before, calls = stored(store), calls_about_pairs(endpoint)
    assert settle().status == "unchanged"
    shutil.rmtree(tmp_path / "cache")
    with Fabula() as fabula:
        [outcome] = fabula.build("identities", rebuild=True)
        assert outcome.status == "replaced"
        fabula.ingest(ingested)
        with pytest.raises(SettingsError, match="no ingest builds it"):
            fabula.ingest(ingested, graphs=["identities"])
        with pytest.raises(SettingsError, match="name no document"):
            fabula.build("identities", "The first book")
    assert (stored(store), calls_about_pairs(endpoint)) == (before, calls + 1)


def test_it_needs_documents_that_have_entities(books: Path) -> None:
    with Fabula() as fabula:
        with pytest.raises(NotFound, match="fabula ingest"):
            fabula.build("identities")
        fabula.ingest(books, graphs=[])
        [outcome] = fabula.build("identities")
    assert outcome.status == "failed"
    assert "fabula build entities" in str(outcome.error)


def test_a_change_makes_it_stale_and_only_new_pairs_are_asked(
    ingested: Path, store: Store, endpoint: Endpoint, tmp_path: Path
) -> None:
    settle()
    assert "identities: " in run("collection")
    assert "stale" not in run("collection")
    fourth = tmp_path / "fourth.txt"
    fourth.write_text("Title: The fourth book\n\nThe old Thornton spoke. Then Thornton slept.\n")
    with Fabula() as fabula:
        fabula.ingest(fourth)
        [own] = fabula.collection_graphs()
        assert own.stale == ("documents",)
        assert fabula.check().violations == ()
    output = run("collection")
    assert "identities (stale): " in output
    assert "what differs now: documents" in output and "`fabula build identities`" in output
    assert len(one_another(store)) == 3, "it is still there to be asked"
    shutil.rmtree(tmp_path / "cache")
    bodies = len(endpoint.bodies)
    assert settle().status == "replaced"
    [prompt] = [
        body["messages"][-1]["content"] for body in endpoint.bodies[bodies:] if "messages" in body
    ]
    assert prompt.count("in “The fourth book”") == 1
    assert "[2]" not in prompt
    assert len(one_another(store)) == 4


def test_an_edit_leaves_it_readable_and_sound(ingested: Path, store: Store) -> None:
    settle()
    edited = BOOKS["second"].replace("evening", "morning")
    (ingested / "second.txt").write_text(f"Title: The second book\nLanguage: en\n\n{edited}\n")
    with Fabula() as fabula:
        fabula.ingest(ingested)
        assert fabula.check().violations == ()
        assert [part.stale for part in fabula.collection_graphs()] == [("documents",)]
    assert ["Anna first"] in one_another(store), "the new entity is in none yet"
    settle()
    assert ["Anna first", "Anna second"] in one_another(store)


def test_a_rebuild_of_what_it_rests_on_is_noticed_though_the_recipe_is_the_same(
    ingested: Path, store: Store
) -> None:
    settle()
    before = stored(store)
    with Fabula() as fabula:
        fabula.build("entities", "The second book", rebuild=True)
        assert stored(store) != before, "edges went with the nodes that were replaced"
        assert [part.stale for part in fabula.collection_graphs()] == [("documents",)]
    assert settle().status == "replaced"
    assert one_another(store)[0] == ["Anna first", "Anna second"]
    assert settle().status == "unchanged"


def test_with_a_document_goes_what_is_told_of_it(ingested: Path, store: Store) -> None:
    settle()
    with Fabula() as fabula:
        remove_document(fabula, "The second book")
        assert fabula.check().violations == ()
        assert [part.stale for part in fabula.collection_graphs()] == [("documents",)]
        gone = cypher(store, "MATCH (n) WHERE n.name STARTS WITH 'Thornton' RETURN n.document AS d")
        assert "" not in {row["d"] for row in gone}
        assert one_another(store) == [["Anna third"]]
        remove_document(fabula, "The first book")
        remove_document(fabula, "The third book")
        assert fabula.collection_graphs() == []
    assert cypher(store, "MATCH (n:Part|Element|Retired) RETURN n") == []


def test_what_is_missing_of_a_document_goes_with_it_though_it_was_edited_since(
    ingested: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabula.graph.gaps.MAX_SHARE", 1.0)
    endpoint.withheld = {("one and the same?",): "nonsense"}
    settle()
    edited = BOOKS["second"].replace("evening", "morning")
    (ingested / "second.txt").write_text(f"Title: The second book\nLanguage: en\n\n{edited}\n")
    missing = "MATCH (gap:Gap {document: ''}) RETURN gap.step AS step"
    with Fabula() as fabula:
        fabula.ingest(ingested)
        assert cypher(store, missing) == [{"step": "identities"}]
        remove_document(fabula, "The second book")
        assert cypher(store, missing) == []
        assert fabula.check().violations == ()


def test_what_was_told_of_a_document_goes_though_it_was_edited_since(
    ingested: Path, store: Store
) -> None:
    settle()
    edited = BOOKS["second"].replace("evening", "morning")
    (ingested / "second.txt").write_text(f"Title: The second book\nLanguage: en\n\n{edited}\n")
    with Fabula() as fabula:
        fabula.ingest(ingested)
        with pytest.raises(NotFound):
            drop_graph(fabula, "aspects", "The second book")
        assert len(one_another(store)) == 3
        remove_document(fabula, "The second book")
        assert one_another(store) == [["Anna third"]]
        assert fabula.check().violations == ()


def test_modes_over_entities_go_by_it_as_soon_as_it_is_there(ingested: Path, store: Store) -> None:
    [row] = cypher(store, "MATCH (n:Entity) RETURN count(DISTINCT n.key) AS keys")
    with Fabula(mode="hippo") as fabula:

        def people() -> str:
            steps = Steps()
            fabula.retrieve("Where was Anna?", path=steps)
            [network] = [step for step in steps.root.steps[0].steps if step.name == "network"]
            return network.note.split(", ")[0]

        assert people() == f"{row['keys']} entities"
        settle()
        # Anna of the third book is another one.
        assert people() == f"{row['keys'] + 1} entities"
        drop_graph(fabula, "identities")
        assert people() == f"{row['keys']} entities"


def test_it_is_dropped_alone_or_with_what_it_rests_on(ingested: Path, store: Store) -> None:
    settle()
    assert run("drop", "identities", "--yes") == "dropped    identities: collection 'default'\n"
    assert stored(store) == []
    assert len(cypher(store, "MATCH (p:Part {graph: 'entities'}) RETURN p")) == 3
    settle()
    with Fabula() as fabula:
        drop_graph(fabula, "entities", "The first book")
        assert one_another(store) == [["Anna third"]]
        assert fabula.check().violations == ()
        with pytest.raises(SettingsError, match="name no document"):
            drop_graph(fabula, "identities", "The second book")
    assert "identities: collection 'default'" in run("drop", "entities", "--yes")
    assert stored(store) == []


def test_the_command_shows_who_is_whom_and_what_to_type_where_that_is_wrong(
    ingested: Path, store: Store, endpoint: Endpoint
) -> None:
    before = run("entity", "Thornton")
    assert "read as one with Thornton · The second book: equal names" in before
    assert "`fabula build identities --collection default` decides" in before
    second = (
        "MATCH (document:Document {title: 'The second book'}) "
        "MATCH (one:Entity {document: document.id, key: 'thornton'}) SET one.type = "
    )
    cypher(store, second + "'place'")
    assert "read as one" not in run("entity", "Thornton"), "a place is no person"
    cypher(store, second + "'person'")
    settle()
    after = run("entity", "Thornton", "--document", "The first book")
    assert "the same as Thornton · The second book: both know Anna (by the model)" in after
    assert "read as one" not in after
    anna = run("entity", "Anna", "--document", "The third book")
    assert "not the same as Anna · The first book: nobody knows both (by the model)" in anna
    [line] = re.findall(r"not so\? fabula (build .*)", after)
    words = re.findall(r"'[^']*'|\S+", line)
    run(*(word.strip("'") for word in words))
    assert ["Thornton first"] in one_another(store)
    assert ["Anna first", "Anna second"] in one_another(store)
    now = run("entity", "Thornton", "--document", "The first book")
    assert "not the same as Thornton · The second book" in now
    assert "(by a person)" in now
    assert "identities is stale (settings.keep_apart)" in now
    with_json = json.loads(run("entity", "Thornton", "--document", "The first book", "--json"))
    assert with_json["rows"][0]["others"][0]["by"] == "person"
    settle()
    assert ["Thornton first", "Thornton second"] in one_another(store)
    assert calls_about_pairs(endpoint) == 1, (
        "what was said is in the graph, whatever a person decides"
    )


def test_namesakes_are_read_once_for_all_that_are_asked_about(ready: Store) -> None:
    cypher(
        ready,
        "CREATE (:Document {id: 'a', title: 'A', collection: 'default'}), "
        "(:Document {id: 'b', title: 'B', collection: 'default'}) WITH 1 AS _ "
        "UNWIND range(1, 300) AS n UNWIND ['a', 'b'] AS document "
        "CREATE (:Element:Entity {id: document + '/' + n, document: document, kind: 'entity', "
        "collection: 'default', graph: 'entities', key: 'key ' + n, name: 'Name ' + n})",
    )
    statement = read_statement("fabula_graphs/identities/find_others")
    ids = [f"a/{n}" for n in range(1, 301)]
    found = ready._driver.execute_query(
        f"PROFILE {statement}", {"collection": "default", "nodes": ids}
    )
    assert {
        row["id"]: [namesake["id"] for namesake in row["namesakes"]] for row in found.records
    } == {f"a/{n}": [f"b/{n}"] for n in range(1, 301)}

    def hits(step: dict[str, Any]) -> int:
        return int(step["args"].get("DbHits", 0)) + sum(map(hits, step.get("children", [])))

    assert hits(found.summary.profile or {}) < 300 * 100, "of 600 entities each is read once"


def test_an_export_has_it_with_its_edges(ingested: Path, tmp_path: Path) -> None:
    settle()
    whole, of_first = tmp_path / "whole.jsonl", tmp_path / "one.jsonl"
    with Fabula() as fabula:
        fabula.export(whole)
        fabula.export(of_first, "The first book")
        fabula.app.export(tmp_path / "all.graphml")
    lines = [json.loads(line) for line in whole.read_text().splitlines()]
    labels = [label for line in lines for label in line.get("labels", ())]
    types = [line["label"] for line in lines if line["type"] == "relationship"]
    assert labels.count("Identity") == 3
    assert (types.count("SAME"), types.count("APART")) == (5, 1)
    assert [line for line in lines if line.get("id") == "default/identities/"] != []
    assert "Identity" not in of_first.read_text()
    assert "Identity" in (tmp_path / "all.graphml").read_text()


def test_no_collection_sees_anothers(ingested: Path, store: Store, books: Path) -> None:
    settle()
    with Fabula(collection="default-identities") as other:
        other.ingest(books)
        assert other.collection_graphs() == []
        other.build("identities")
        assert len(other.collection_graphs()) == 1
        for entry in other.documents():
            remove_document(other, entry.id)
        assert other.collection_graphs() == []
    with Fabula() as fabula:
        assert len(fabula.collection_graphs()) == 1
        assert fabula.check().violations == ()
    assert len(one_another(store)) == 3


def test_it_stays_up_to_date_when_the_collection_is_embedded_again(
    ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle()
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", "another-model")
    with Fabula() as fabula:
        fabula.reembed()
        assert [part.stale for part in fabula.collection_graphs()] == [()]
        assert fabula.check().violations == ()
    assert settle().status == "unchanged"


@pytest.mark.parametrize(
    ("breaks", "what"),
    [
        (
            (
                "MATCH (n:Identity)-[s:SAME]->(e) WITH n, e LIMIT 1 "
                "MATCH (o:Entity {document: e.document}) WHERE o <> e CREATE (n)-[:SAME]->(o)"
            ),
            "two entities of one document",
        ),
        (
            (
                "MATCH (n:Identity {type: 'person'})-[:SAME]->(e) WITH n, e LIMIT 1 "
                "MATCH (m:Identity) WHERE m <> n WITH m, e LIMIT 1 CREATE (m)-[:SAME]->(e)"
            ),
            "identities",
        ),
    ],
)
def test_what_breaks_its_invariant_is_found(
    ingested: Path, store: Store, breaks: str, what: str
) -> None:
    settle()
    cypher(store, breaks)
    with Fabula() as fabula:
        found = fabula.check().violations
    assert {violation.invariant for violation in found} == {"check_identities"}
    assert any(what in violation.what for violation in found)
    assert "fabula renew" in found[0].cure


def test_a_model_that_says_nothing_at_all_fails_and_leaves_what_is_there(
    ingested: Path, store: Store, endpoint: Endpoint, tmp_path: Path
) -> None:
    settle()
    before = stored(store)
    shutil.rmtree(tmp_path / "cache")
    endpoint.withheld = {("one and the same?",): "nonsense"}
    with Fabula() as fabula:
        [outcome] = fabula.build("identities", rebuild=True)
    assert outcome.status == "failed"
    assert stored(store) == before


def test_gaps_are_told_and_asked_for_again(
    ingested: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabula.graph.gaps.MAX_SHARE", 1.0)
    endpoint.withheld = {("one and the same?",): "nonsense"}
    outcome = settle()
    assert len(outcome.gaps) == 1
    assert ["Anna first", "Anna second", "Anna third"] in one_another(store), "by names"
    assert "has 1 gap: `fabula build identities` asks for them again" in run("collection")
    body = json.loads(run("collection", "--json"))
    assert (body["documents"], body["graphs"]["identities"]["gaps"], body["stale"]) == (3, 1, {})
    endpoint.withheld = {}
    with Fabula() as fabula:
        [again] = fabula.renew("gaps")
        assert fabula.renew("gaps") == []
        assert fabula.check().violations == ()
    assert (again.status, again.gaps) == ("replaced", ())
    assert ["Anna first", "Anna second"] in one_another(store)
