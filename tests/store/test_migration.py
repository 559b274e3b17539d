"""The version of the graph's schema: an older graph is migrated, an unknown one is refused."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from database import connect, cypher, make_indexes, name_server
from fabula import App
from fabula.errors import StoreError
from fabula.graph.installed import graphs
from fabula.server import Address
from fabula.store import Store
from fabula.store.database import Database
from fabula.store.integrity import check
from fabula.store.migration import FIRST_VERSION, VERSION, migrate
from fabula.store.migrations import MIGRATIONS
from forked import MIGRATION, Forked
from shelves import STEPS, use_shelves
from stories import LIGHTHOUSE

# All that a graph holds, to compare graphs by; and a database with nothing in it.

Contents = tuple[list[Any], list[Any], list[Any], list[Any]]
"""Every node, edge, index and constraint, in an order of their own."""


def empty(store: Store) -> None:
    """Takes everything out of a database, the schema too."""
    cypher(store, "MATCH (n) DETACH DELETE n")
    for row in cypher(store, "SHOW CONSTRAINTS YIELD name"):
        cypher(store, "DROP CONSTRAINT $name", name=row["name"])
    for row in cypher(store, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        cypher(store, "DROP INDEX $name", name=row["name"])


def contents(store: Store) -> Contents:
    """All that the graph holds."""
    nodes = cypher(
        store,
        "MATCH (n) WHERE NOT n:Lock RETURN labels(n) AS labels, properties(n) AS properties",
    )
    edges = cypher(
        store,
        "MATCH (a)-[edge]->(b) RETURN coalesce(a.id, a.name) AS start, type(edge) AS type, "
        "b.id AS end, properties(edge) AS properties",
    )
    indexes = cypher(
        store,
        "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state WHERE type <> 'LOOKUP'",
    )
    constraints = cypher(store, "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties")
    for row in nodes:
        row["labels"].sort()
    return in_order((nodes, edges, indexes, constraints))


def in_order(found: Contents) -> Contents:
    """The same contents, in their order."""
    return tuple(sorted(rows, key=repr_of) for rows in found)  # type: ignore[return-value]


def repr_of(row: dict[str, Any]) -> str:
    """Whatever order the server gave the properties in."""
    return json.dumps(row, sort_keys=True, default=str)


pytestmark = pytest.mark.replans

KNOBS: dict[str, Any] = {"chunk_tokens": 24, "aspects.cluster_size": 3}


@pytest.fixture(autouse=True)
def named(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' Neo4j as the one to use."""
    name_server(monkeypatch, address)
    monkeypatch.setenv("FABULA_MODEL", "offline")
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", "wordllama-256")


@pytest.fixture
def graph(address: Address) -> Iterator[Store]:
    """A graph of one story as this Fabula writes it."""
    with connect(address) as store:
        empty(store)
        with App(**KNOBS) as app:
            app.collection().ingest_text(LIGHTHOUSE, source="lighthouse.txt")
        yield store


@pytest.fixture
def old(graph: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The same graph for a Fabula whose schema is version 2."""
    use_shelves(monkeypatch.setattr)
    return graph


@pytest.fixture(scope="module", autouse=True)
def indexes_again(address: Address) -> Iterator[None]:
    """What other tests need is there again."""
    yield
    with connect(address) as store:
        empty(store)
        make_indexes(store)


def version(store: Store) -> int | None:
    found: int | None = store.rows("core/find_schema")[0]["version"]
    return found


def on_shelves(found: Contents) -> Contents:
    """What a graph holds once the tests' migration was carried out."""
    nodes, edges, indexes, constraints = found
    for row in nodes:
        if "Passage" in row["labels"]:
            row["properties"]["shelf"] = f"shelf of {row['properties']['collection']}"
        if "Schema" in row["labels"]:
            row["properties"]["version"] = 2
    shelf: dict[str, Any] = {"name": "passage_shelf", "type": "RANGE", "state": "ONLINE"}
    shelf |= {"labelsOrTypes": ["Passage"], "properties": ["shelf"]}
    return in_order((nodes, edges, [*indexes, shelf], constraints))


def test_there_is_a_migration_to_each_version_but_the_first() -> None:
    assert [*MIGRATIONS] == [*range(FIRST_VERSION + 1, VERSION + 1)]


def test_a_new_graph_records_this_version(graph: Store) -> None:
    assert version(graph) == VERSION


def test_it_opens_and_says_that_it_is_migrated_once(
    old: Store, caplog: pytest.LogCaptureFixture
) -> None:
    whole = on_shelves(contents(old))
    for _ in range(2):
        with App() as app:
            assert app.collections() == ["default"]
    [line] = [record for record in caplog.records if record.name == "fabula"]
    assert line.levelno == logging.WARNING
    assert "migrated from schema 1 to 2" in line.getMessage()
    assert contents(old) == whole


def test_it_checks_clean_and_answers_the_same(
    graph: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(app: App) -> list[Any]:
        return app.collection().retrieve("Who keeps the lamp?", mode="hybrid", k=6)

    with App() as app:
        before = ask(app)
    use_shelves(monkeypatch.setattr)
    with App() as app:
        assert ask(app) == before != []
        assert check(app.connect(), graphs().values()).violations == ()
    assert version(graph) == 2


def test_stopped_after_any_step_it_goes_on(old: Store) -> None:
    def stop(store: Database) -> None:
        raise KeyboardInterrupt

    whole = on_shelves(contents(old))
    # One after the other, so that what each step left is gone over by the next.
    for after in range(len(STEPS)):
        with pytest.raises(KeyboardInterrupt):
            migrate(old, {2: (*STEPS[: after + 1], stop)})
        assert version(old) == 1
        with pytest.raises(StoreError, match="older Fabula"):
            old.make_schema()
    with App() as app:
        assert contents(app.connect()) == whole


@pytest.mark.parametrize(
    "waits",
    [(0.0, 0.2), pytest.param((0.05, 0.1, 0.4), marks=pytest.mark.nightly)],
    ids=["widely", "between"],
)
def test_killed_it_goes_on(old: Store, waits: Sequence[float], tmp_path: Path) -> None:
    whole = on_shelves(contents(old))
    kills = 0
    # Where the machine was busy and each came too late, once more, as soon as it has begun.
    for attempt, patience in enumerate((*waits, 0.0, 0.0, 0.0)):
        if kills and attempt >= len(waits):
            break
        take_down(old)
        environment = {**os.environ, MIGRATION: "shelves"}
        process = Forked(tmp_path / "said", "list", environment=environment)
        while process.poll() is None and not has_begun(old):
            time.sleep(0.005)
        time.sleep(patience)
        process.kill()
        process.wait()
        kills += version(old) == 1
        with App() as app:
            assert contents(app.connect()) == whole
    assert kills, "it was always done before it was killed"


def take_down(store: Store) -> None:
    """Makes a migrated graph one of version 1 again."""
    cypher(store, "MATCH (n:Passage) REMOVE n.shelf")
    cypher(store, "DROP INDEX passage_shelf IF EXISTS")
    cypher(store, "MATCH (schema:Schema) SET schema.version = 1")


def has_begun(store: Store) -> bool:
    [row] = cypher(store, "SHOW INDEXES YIELD name RETURN 'document_stem' IN collect(name) AS kept")
    return not row["kept"]


def test_two_that_open_at_once_migrate_it_once(
    old: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def open_it() -> None:
        with App() as app:
            found.append(app.collections())

    whole = on_shelves(contents(old))
    found: list[list[str]] = []
    threads = [threading.Thread(target=open_it) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["default"]] * 3
    assert len([record for record in caplog.records if record.name == "fabula"]) == 1
    assert contents(old) == whole


@pytest.mark.parametrize("unknown", [0, VERSION + 1, 99, "1"])
def test_a_graph_of_an_unknown_version_is_refused_in_words(graph: Store, unknown: Any) -> None:
    cypher(graph, "MATCH (schema:Schema) SET schema.version = $version", version=unknown)
    assert_refused(graph, rf"its schema is {unknown}.*upgrade Fabula.*ingest the texts again")


def test_documents_without_a_version_are_refused_in_words(graph: Store) -> None:
    cypher(graph, "MATCH (schema:Schema) DELETE schema")
    assert_refused(graph, "no version of its schema.*ingest the texts again into another graph")


def assert_refused(store: Store, words: str) -> None:
    """Checks that neither a reader nor a writer takes the graph, and that nothing changes."""
    was = contents(store)
    with App() as app, pytest.raises(StoreError, match=words):
        app.collections()
    with pytest.raises(StoreError, match=words):
        store.make_schema()
    assert contents(store) == was


def test_a_graph_of_another_program_is_a_new_one(graph: Store) -> None:
    empty(graph)
    cypher(graph, "CREATE (:Document {name: 'a report'})")
    with App(**KNOBS) as app:
        assert app.collections() == []
        app.collection().ingest_text(LIGHTHOUSE, source="lighthouse.txt")
        assert app.collections() == ["default"]
    assert version(graph) == VERSION
