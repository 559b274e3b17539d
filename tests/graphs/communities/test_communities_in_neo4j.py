"""Communities in a real Neo4j, of a book and of a collection: built, edited, sound, and gone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from breaks import Undone
from database import cypher
from endpoint import Endpoint
from fabula import Fabula, Outcome
from fabula.config.settings import Settings
from fabula.graph.hits import Filters
from fabula.graph.installed import graphs
from fabula.graph.queries import FOLDER, read_statement
from fabula.graph.trace import Trace as Steps
from fabula.operations.documents import drop_graph, remove_document
from fabula.store import Store
from fabula.store.integrity import check
from stories import HOUSE, MILL

CLAIMS = {"communities.claims": True}
BREAKS = {
    "check_communities": [
        "MATCH (n:Community) WITH n LIMIT 1 MATCH (n)-[r:HAS_MEMBER]->() DELETE r",
        "MATCH (n:Community), (c:Chunk) CREATE (n)-[:HAS_MEMBER]->(c) SET n.size = n.size + 1",
        "MATCH (n:Community) SET n.level = 1",
        "MATCH (n:Community), (o:Community) WHERE n.id < o.id CREATE (n)-[:PARENT_COMMUNITY]->(o)",
        (
            "MATCH (n:Community)-[:HAS_MEMBER]->(e) MATCH (o:Community) WHERE n.id < o.id "
            "CREATE (o)-[:HAS_MEMBER]->(e) SET o.size = o.size + 1"
        ),
    ],
    "check_reports": [
        "MATCH (:Report)-[r:REPORTS]->() DELETE r",
        "MATCH (:Report)-[r:CITES]->() DELETE r",
        "MATCH (n:Report) SET n.importance = 11",
        "MATCH (n:Report) SET n.title = 'another'",
        (
            "MATCH (n:Report)-[:REPORTS]->(o) MATCH (e:Entity) WHERE NOT (o)-[:HAS_MEMBER]->(e) "
            "CREATE (n)-[:CITES]->(e)"
        ),
    ],
    "check_claims": [
        "MATCH (:Claim)-[r:FROM_CHUNK]->() DELETE r",
        "MATCH (n:Claim), (e:Entity) CREATE (n)-[:SUBJECT]->(e)",
        "MATCH (n:Claim) SET n.quotes = []",
    ],
    "check_collection_communities": ["MATCH (n:CollectionCommunity)-[r:HAS_MEMBER]->() DELETE r"],
    "check_collection_reports": ["MATCH (:CollectionReport)-[r:REPORTS]->() DELETE r"],
}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(dimensions=256) as server:
        yield server


def told(title: str, groups: tuple[tuple[str, ...], ...] = (HOUSE, MILL)) -> str:
    """A chapter a group, in which everybody speaks with everybody."""
    chapters = [
        f"CHAPTER {numeral}\n\n"
        + " ".join(
            f"It was day {number} of {title} when {one} spoke with {other} for a long while."
            for number, (one, other) in enumerate((a, b) for a in group for b in group if a < b)
        )
        for numeral, group in zip(("I", "II", "III"), groups, strict=False)
    ]
    return "\n\n".join([f"Title: {title}", "Language: en", *chapters]) + "\n"


@pytest.fixture
def book(online: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_GRAPHS", "communities")
    monkeypatch.setenv("FABULA_CHUNK_TOKENS", "40")
    Path("fabula.toml").write_text("[entities]\ngleanings = 0\n")
    file = tmp_path / "book.txt"
    file.write_text(told("autumn"))
    return file


def ingest(book: Path, **settings: Any) -> Outcome:
    with Fabula(Settings.read(**settings)) as fabula:
        [outcome] = fabula.ingest(book)
        assert fabula.check().violations == ()
    return outcome


def group_names(store: Store, label: str = "Community") -> list[set[str]]:
    rows = cypher(
        store,
        "MATCH (n {level: 0}) WHERE $label IN labels(n) WITH n ORDER BY n.id "
        "RETURN COLLECT { MATCH (n)-[:HAS_MEMBER]->(e:Entity) RETURN DISTINCT e.name } AS names",
        label=label,
    )
    return sorted((set(row["names"]) for row in rows), key=min)


def reports(store: Store) -> dict[str, str]:
    rows = cypher(store, "MATCH (n:Report) RETURN n.id AS id, n.text AS text")
    return {row["id"]: row["text"] for row in rows}


@pytest.mark.journey
def test_a_book_has_its_communities_and_an_edit_asks_for_one_report(
    book: Path, endpoint: Endpoint, store: Store, tmp_path: Path
) -> None:
    with Fabula(Settings.read(**CLAIMS)) as fabula:
        [dry] = fabula.ingest(book, dry=True)
    assert cypher(store, "MATCH (n:Community) RETURN n") == []
    outcome = ingest(book, **CLAIMS)
    assert outcome.graphs == ("text", "entities", "communities")
    assert group_names(store) == [set(HOUSE), set(MILL)]
    assert outcome.counts["claim"] > 1
    assert outcome.notes[-1] == "2 communities on 1 level, 2 with a report"
    assert dry.steps["claims"].calls == outcome.steps["claims"].calls
    assert outcome.steps["reports"].calls == 2
    [row] = cypher(
        store,
        "MATCH (r:Report)-[:CITES]->(:Relation)-[:FROM_CHUNK]->(c:Chunk) "
        "RETURN count(DISTINCT r) AS reports, all(one IN collect(c.id) WHERE one <> '') AS whole",
    )
    assert row == {"reports": 2, "whole": True}
    before = reports(store)
    shutil.rmtree(tmp_path / "cache")
    book.write_text(told("autumn").replace("Anna spoke with Dora for", "Anna broke with Dora for"))
    edited = ingest(book, **CLAIMS)
    assert edited.status == "replaced"
    assert edited.steps["reports"].calls == 1
    assert edited.steps["claims"].calls <= 2
    now = reports(store)
    assert now.keys() == before.keys(), "ids stay"
    assert ingest(book, **CLAIMS).status == "unchanged"
    assert_refuted(store, "communities")
    with Fabula() as fabula:
        drop_graph(fabula, "communities")
        gone = "MATCH (n:Community|Report|Claim|Part {graph: 'communities'}) RETURN n.id"
        assert cypher(store, gone) == []
        remove_document(fabula, "autumn")
    assert cypher(store, "MATCH (n:Document|Passage|Element|Part) RETURN n.id") == []


def test_offline_there_are_communities_and_no_reports(
    book: Path, endpoint: Endpoint, store: Store
) -> None:
    outcome = ingest(book, model="offline", embedding_model="wordllama-256")
    assert endpoint.calls == 0
    assert group_names(store) == [set(HOUSE), set(MILL)]
    assert reports(store) == {}
    assert outcome.notes[-1] == "2 communities on 1 level, without reports"


def test_reports_of_other_levels_take_no_place_of_those_that_are_wanted(
    book: Path, endpoint: Endpoint, store: Store
) -> None:
    ingest(book)
    own = [row["id"] for row in cypher(store, "MATCH (n:Entity) RETURN n.id AS id")]

    def find(lowest: int = 0, highest: int = 99) -> list[dict[str, Any]]:
        filters = Filters("default", lowest=lowest, highest=highest)
        return store.read(
            read_statement("communities/find_of_entities"), filters, nodes=own, limit=1
        )

    [first] = find()
    cypher(store, "MATCH (n:Report) WHERE n.id <> $id SET n.level = 1", id=first["id"])
    assert [row["level"] for row in find(lowest=1)] == [1]
    assert find(highest=0) == [first]


@pytest.mark.whole
@pytest.mark.journey
def test_a_collection_has_its_own_which_follow_its_documents(
    book: Path, endpoint: Endpoint, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_GRAPHS", "entities")
    other = tmp_path / "other.txt"
    other.write_text(told("winter", ((*HOUSE[:2], "Eva"),)))
    with Fabula() as fabula:
        fabula.ingest(book, other)
        [outcome] = fabula.build("collection_communities")
        assert (outcome.status, outcome.graphs) == ("added", ("collection_communities",))
        assert fabula.check().violations == ()
        assert group_names(store, "CollectionCommunity") == [{*HOUSE, "Eva"}, set(MILL)]
        [both] = cypher(
            store,
            "MATCH (n:CollectionCommunity)-[:HAS_MEMBER]->(e:Entity {name: 'Anna'}) "
            "RETURN n.size AS size, count(e) AS annas, size(n.of) AS documents",
        )
        assert both == {"size": 5, "annas": 2, "documents": 2}
        assert fabula.build("collection_communities")[0].status == "unchanged"
        assert_refuted(store, "collection_communities")
        third = tmp_path / "third.txt"
        third.write_text(told("spring", (("Gerda", "Hans", "Ivan"),)))
        fabula.ingest(third)
        [own] = fabula.collection_graphs()
        assert own.stale == ("documents",)
        shutil.rmtree(tmp_path / "cache")
        fabula.build("identities")
        [again] = fabula.build("collection_communities")
        assert again.steps["reports"].calls == 1, "of the new group alone"
        assert len(group_names(store, "CollectionCommunity")) == 3
        remove_document(fabula, "winter")
        left = group_names(store, "CollectionCommunity")
        assert left == [{"Gerda", "Hans", "Ivan"}, set(MILL)], "what tells of it goes with it"
        assert cypher(store, "MATCH (n:CollectionReport) RETURN count(*) AS n") == [{"n": 2}]
        assert fabula.check().violations == ()
        fabula.build("collection_communities")
        assert group_names(store, "CollectionCommunity")[0] == set(HOUSE)


def test_members_that_went_with_a_replaced_document_come_back_by_a_plain_build(
    book: Path, endpoint: Endpoint, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_GRAPHS", "entities")
    with Fabula() as fabula:
        fabula.ingest(book)
        fabula.build("collection_communities")
        assert "changed" not in notes(fabula)
        fabula.build("entities", rebuild=True)
        assert "documents changed since they were made" in notes(fabula)
        [cure] = {violation.cure for violation in fabula.check().violations}
        assert cure.startswith("run `fabula renew")
        assert [graph.stale for graph in fabula.collection_graphs()] == [("documents",)]
        assert fabula.build("collection_communities")[0].status == "replaced"
        assert fabula.check().violations == ()
        assert "changed" not in notes(fabula)
        fabula.build("identities")
        assert "documents changed since they were made" in notes(fabula), "those are used, too"
        assert {one.graph: one.stale for one in fabula.collection_graphs()} == {
            "collection_communities": ("documents",),
            "identities": (),
        }


def notes(fabula: Fabula) -> str:
    """What a question says of the reports of the collection."""
    steps = Steps()
    fabula.retrieve("Who?", mode="global", knobs={"scope": "collection"}, path=steps)
    return " ".join(one.note for step in steps.root.steps for one in (step, *step.steps))


def assert_refuted(store: Store, graph: str) -> None:
    """Each statement breaks the invariant that it is meant to break; it is rolled back."""
    for file in sorted((FOLDER / graph).glob("check_*.cypher")):
        for statement in BREAKS[file.stem]:
            with store.session() as session, session.begin_transaction() as transaction:
                undone = Undone(transaction, store)
                undone.run(statement)
                found = {
                    violation.invariant for violation in check(undone, graphs().values()).violations
                }
                transaction.rollback()
            assert file.stem in found, statement
