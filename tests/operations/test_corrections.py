"""Corrections in a real Neo4j: they are kept, applied without asking again, and last."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.cli import main
from fabula.config.settings import Settings
from fabula.errors import Changed, FabulaError, NotFound
from fabula.operations.corrections import correct, corrections, undo_correction
from fabula.operations.documents import remove_document
from fabula.store import Store
from fabula.store.decisions import save_decision

pytestmark = pytest.mark.long

HEART = (
    "Marlow sat on deck. Hang Kurtz! cried Marlow. Hang Kurtz was ill. Marlow saw Hang Kurtz. "
    "Marlow said to Brierly that Hang Kurtz was ill. Brierly laughed at Marlow."
)
OTHER = "Nina met Dain. Dain loved Nina. Nina said to Dain that Almayer slept. Almayer woke."


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(dimensions=256) as server:
        yield server


@pytest.fixture
def books(online: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_GRAPHS", "entities")
    monkeypatch.setenv("USER", "ada")
    monkeypatch.setenv("LOGNAME", "ada")
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "heart.txt").write_text(f"Title: Heart\nLanguage: en\n\n{HEART}\n")
    (folder / "folly.txt").write_text(f"Title: Folly\nLanguage: en\n\n{OTHER}\n")
    return folder


@pytest.fixture
def fabula(books: Path) -> Iterator[Fabula]:
    with Fabula(Settings.read()) as fabula:
        for outcome in fabula.ingest(books):
            assert not outcome.error
        yield fabula


def names(store: Store, title: str = "Heart") -> dict[str, list[str]]:
    rows = cypher(
        store,
        "MATCH (d:Document {title: $title}) MATCH (e:Entity {document: d.id}) "
        "RETURN e.name AS name, e.names AS names ORDER BY name",
        title=title,
    )
    return {row["name"]: sorted(row["names"]) for row in rows}


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == code, result.output
    return result.output


def chats(endpoint: Endpoint) -> list[Any]:
    return [body for body in endpoint.bodies if "messages" in body]


def test_a_correction_is_kept_with_who_and_when_and_asks_no_model_again(
    fabula: Fabula, store: Store, endpoint: Endpoint, tmp_path: Path
) -> None:
    before = names(store)
    [wrong] = [name for name in before if "Kurtz" in name]
    untouched = {entry.title: entry.graphs["entities"] for entry in fabula.documents()}["Folly"]
    shutil.rmtree(tmp_path / "cache")
    endpoint.bodies.clear()
    kept = correct(fabula, "rename", (wrong, "Mistah Kurtz"), later=True, by="ada")
    decision = kept.decision
    assert (decision.number, decision.by, decision.at.date()) == (
        1,
        "ada",
        datetime.now(UTC).date(),
    )
    [heart] = [entry for entry in fabula.documents() if entry.title == "Heart"]
    assert decision.documents == kept.build.documents == (heart.id,)
    assert fabula.stale(heart) == {"entities": ["decisions"]}
    [outcome] = fabula.build(kept.build.graph, *kept.build.documents)
    assert (outcome.status, outcome.title) == ("replaced", "Heart")
    assert chats(endpoint) == []
    assert "Mistah Kurtz" in names(store)
    assert wrong in names(store)["Mistah Kurtz"]
    assert fabula.check().violations == ()
    [shown] = corrections(fabula, "Heart").rows
    assert (shown.words, shown.effects) == (
        f"rename {wrong} to Mistah Kurtz",
        {"Heart": "applied"},
    )
    assert corrections(fabula, "Folly").rows == ()
    parts = {entry.title: entry.graphs["entities"] for entry in fabula.documents()}
    assert parts["Folly"] == untouched, "its part has nobody of that name"
    assert all(not fabula.stale(entry) for entry in fabula.documents())

    undone = undo_correction(fabula, 1, by="bea").decision
    assert (undone.undone_by, undone.undone_at[:2]) == ("bea", "20")
    assert corrections(fabula).rows == ()
    assert corrections(fabula, undone=True).total == 1
    assert chats(endpoint) == []
    assert names(store) == before
    with pytest.raises(FabulaError, match="undone before, by bea"):
        undo_correction(fabula, 1)
    with pytest.raises(NotFound):
        undo_correction(fabula, 2)


def test_corrections_last_through_edits_rebuilds_and_new_documents(
    fabula: Fabula, store: Store, books: Path
) -> None:
    correct(fabula, "merge", ("Marlow", "Brierly"))
    together = names(store)["Marlow"]
    assert {"Marlow", "Brierly"} <= set(together)
    heart = books / "heart.txt"
    heart.write_text(f"{heart.read_text()}\nMarlow slept on the deck of the Nellie.\n")
    fabula.ingest(heart)
    assert "Brierly" in names(store)["Marlow"]
    fabula.build("entities", "Heart", rebuild=True)
    assert "Brierly" in names(store)["Marlow"]
    (books / "chance.txt").write_text(
        "Title: Chance\nLanguage: en\n\nMarlow spoke. Brierly heard Marlow. Marlow met Powell.\n"
    )
    fabula.ingest(books / "chance.txt")
    assert "Brierly" in names(store, "Chance")["Marlow"]
    assert corrections(fabula).rows[0].effects["Chance"] == "applied"
    assert all(not fabula.stale(entry) for entry in fabula.documents())
    # One of a document alone is not followed elsewhere.
    correct(fabula, "rename", ("Marlow", "Charlie"), "Heart")
    assert "Charlie" in names(store)
    assert "Marlow" in names(store, "Chance")
    undo_correction(fabula, 1)
    assert "Brierly" in names(store, "Chance")
    assert {"Charlie", "Brierly"} <= names(store).keys()


def test_two_who_decide_at_once_do_not_overwrite_each_other(fabula: Fabula, store: Store) -> None:
    correct(fabula, "rename", ("Marlow", "Charlie"), later=True)
    [first] = fabula.decisions()
    with pytest.raises(Changed):
        save_decision(store, fabula.name, first, 0)
    outcomes: list[str] = []

    def decide(name: str) -> None:
        try:
            correct(fabula, "rename", ("Brierly", name), later=True)
        except Changed:
            outcomes.append("changed")
        else:
            outcomes.append("kept")

    threads = [threading.Thread(target=decide, args=[f"Montague {n}"]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "kept" in outcomes
    kept = fabula.decisions()
    assert [decision.number for decision in kept] == list(range(1, len(kept) + 1))
    assert len(kept) == 1 + outcomes.count("kept")


def test_the_last_document_takes_what_was_decided_with_it(fabula: Fabula) -> None:
    correct(fabula, "rename", ("Marlow", "Charlie"), later=True)
    remove_document(fabula, "Heart")
    assert len(fabula.decisions()) == 1
    remove_document(fabula, "Folly")
    assert fabula.decisions() == []


@pytest.mark.parametrize("format", ["jsonl", "graphml"])
def test_an_export_of_the_collection_has_what_was_decided(
    fabula: Fabula, tmp_path: Path, format: str
) -> None:
    correct(fabula, "rename", ("Marlow", "Charlie"), later=True, by="ada")
    undo_correction(fabula, 1, later=True, by="bob")
    fabula.export(whole := tmp_path / f"whole.{format}")
    fabula.export(book := tmp_path / f"book.{format}", "Heart")
    assert "/decision/" not in book.read_text() and '"ada"' not in book.read_text()
    if format == "graphml":
        assert ">ada<" in whole.read_text() and ">bob<" in whole.read_text()
        return
    nodes = [json.loads(line) for line in whole.read_text().splitlines()]
    [kept] = [node["properties"] for node in nodes if node.get("labels") == ["Decision"]]
    assert (kept["kind"], kept["names"]) == ("rename", ["Marlow", "Charlie"])
    assert (kept["by"], kept["undone_by"]) == ("ada", "bob")
    assert datetime.fromisoformat(kept["at"]) <= datetime.fromisoformat(kept["undone_at"])


def test_a_graph_of_other_settings_is_not_read_again_unasked(
    fabula: Fabula, endpoint: Endpoint, store: Store
) -> None:
    before = names(store)
    with Fabula(Settings.read(**{"entities.gleanings": 2})) as other:
        endpoint.bodies.clear()
        kept = correct(other, "rename", ("Marlow", "Charlie"))
        [heart] = [entry.id for entry in other.documents() if entry.title == "Heart"]
        assert (kept.build.documents, kept.other_settings) == ((), (heart,))
        assert f"`fabula build entities {heart}` does that" in kept.to_text()
    assert chats(endpoint) == []
    assert names(store) == before


def test_merges_join_entities_of_different_documents(fabula: Fabula, store: Store) -> None:
    fabula.build("identities")
    kept = correct(fabula, "merge", ("Marlow", "Almayer"))
    assert kept.decision.documents == kept.build.documents == ()
    assert "`fabula build identities` joins" in kept.to_text()
    [settled] = fabula.collection_graphs()
    assert settled.stale == ("decisions",)
    fabula.build("identities")
    [row] = cypher(store, "MATCH (i:Identity)-[s:SAME {by: 'person'}]->() RETURN i.by AS by, s.why")
    assert (row["by"], row["s.why"]) == ("person", "Marlow = Almayer")


def test_splits_keep_entities_of_different_documents_apart(fabula: Fabula, store: Store) -> None:
    def identities() -> list[int]:
        rows = cypher(
            store,
            "MATCH (i:Identity)-[:SAME]->(e:Entity {key: 'marlow'}) "
            "RETURN i.id AS id, count(e) AS entities ORDER BY entities, id",
        )
        return [row["entities"] for row in rows]

    correct(fabula, "merge", ("Marlow", "Almayer"))
    fabula.build("identities")
    before = identities()
    decision = correct(fabula, "split", ("Marlow", "Almayer")).decision
    assert (decision.documents, decision.names) == ((), ("Marlow", "Almayer"))
    [settled] = fabula.collection_graphs()
    assert settled.stale == ("decisions",)
    fabula.build("identities")
    assert cypher(store, "MATCH (:Identity)-[s:SAME {by: 'person'}]->() RETURN s.why") == []
    undo_correction(fabula, decision.number)
    fabula.build("identities")
    [row] = cypher(store, "MATCH (:Identity)-[s:SAME {by: 'person'}]->() RETURN s.why AS why")
    assert row["why"] == "Marlow = Almayer"
    assert identities() == before


def test_people_correct_at_the_command_line(books: Path, store: Store) -> None:
    run("ingest", str(books))
    assert "Nothing was found" in run("corrections")
    output = run("correct", "rename", "Marlow", "Charlie Marlow")
    assert "Correction 1 is kept: rename Marlow to Charlie Marlow." in output
    assert "1 replaced" in output
    shown = run("entity", "Charlie Marlow")
    assert "Charlie Marlow · person" in shown
    assert "corrected by ada, 20" in shown
    assert "`fabula undo-correction 1` takes it back" in shown
    listed = run("corrections")
    assert "rename Marlow to Charlie Marlow" in listed.replace("\n", " ")
    assert "applied" in listed
    assert "merge them" in run("correct", "rename", "Brierly", "Charlie Marlow", code=1)
    assert "No entity is called 'Nobody'" in run("correct", "merge", "Nobody", "Brierly", code=1)
    output = run("correct", "merge", "Charlie Marlow", "Brierly", "--later")
    assert "It is followed when `fabula build entities`" in output
    assert "Brierly" in names(store)
    run("build", "entities")
    assert "Brierly" not in names(store)
    output = run("undo-correction", "1", "--json")
    undone = json.loads(output)
    assert (undone["decision"]["undone_by"], undone["job"]) == ("ada", "")
    [decision] = [
        row
        for row in json.loads(run("corrections", "--json", "--undone"))["rows"]
        if row["undone_at"]
    ]
    assert (decision["number"], decision["kind"]) == (1, "rename")
    assert names(store)["Marlow"] == ["Brierly", "Marlow"]
    run("correct", "split", "Marlow", "Brierly")
    assert {"Marlow", "Brierly"} <= names(store).keys()


def test_a_correction_is_kept_though_the_build_after_it_fails(books: Path) -> None:
    run("ingest", str(books))
    nowhere = ("--base-url", "http://127.0.0.1:9/v1", "--attempts", "1")
    failed = run("correct", "rename", "Marlow", "Charlie", *nowhere, code=1)
    assert failed.startswith("Correction 1 is kept")
    assert json.loads(run("corrections", "--json"))["total"] == 1
