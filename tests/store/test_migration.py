"""A graph of an older Fabula: it opens, is migrated, checks clean and answers the same."""

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

from database import connect, cypher, make_indexes
from fabula import App
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.errors import StoreError
from fabula.graph.hits import Hit
from fabula.graph.installed import graphs
from fabula.load.version import READING_VERSION
from fabula.server import Address
from fabula.store import Store
from fabula.store.database import Database
from fabula.store.integrity import check
from fabula.store.migration import VERSION, migrate
from fabula.store.migrations import MIGRATIONS
from fabula.text.sections import span_of_sections
from forked import Forked
from old_graph import ANSWERS, KNOBS, ROWS, Contents, contents, empty, load
from stories import LIGHTHOUSE, WINTER

pytestmark = pytest.mark.replans


@pytest.fixture
def named(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' Neo4j as the one to use."""
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.setenv("FABULA_MODEL", "offline")
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", "wordllama-256")


@pytest.fixture
def old(address: Address, named: None) -> Iterator[Store]:
    """A graph of the first schema."""
    with connect(address) as store:
        load(store)
        yield store


@pytest.fixture(scope="module", autouse=True)
def indexes_again(address: Address) -> Iterator[None]:
    """What other tests need is there again."""
    yield
    with connect(address) as store:
        empty(store)
        make_indexes(store)


@pytest.fixture(scope="module")
def whole(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """All that the old graph holds once it is migrated, by a migration that nothing disturbed."""
    settings = Settings(
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        home=tmp_path_factory.mktemp("home"),
        model=OFFLINE,
        embedding_model=STATIC,
    )
    with connect(address) as store:
        load(store)
        with App(settings) as app:
            return contents(app.home_store)


@pytest.fixture
def migrated(address: Address, whole: Contents, named: None) -> Iterator[Store]:
    """The migrated graph; those that only read it come first and share it."""
    with connect(address) as store:
        assert contents(store) == whole, "a test before this one has changed it"
        yield store


def version(store: Store) -> int | None:
    [row] = store.rows("core/find_schema")
    found: int | None = row["version"]
    return found


def nodes_of(store: Store, collection: str) -> list[Any]:
    """All nodes of a collection but for their times, and all edges between them."""
    nodes = cypher(
        store,
        "MATCH (n) WHERE n.collection = $collection "
        "RETURN labels(n) AS labels, n {.*, created_at: null, updated_at: null} AS properties, "
        "COLLECT { MATCH (n)-[edge]->(end) WITH edge, end ORDER BY type(edge), end.id "
        "RETURN [type(edge), edge.weight, end.id] } AS edges",
        collection=collection,
    )
    for row in nodes:
        row["labels"].sort()
    return sorted(nodes, key=lambda row: json.dumps([row["labels"], row["properties"]["id"]]))


def reckoned(node: Any) -> list[float]:
    """Takes a node's embedding and its edges' weights out of it."""
    weights = [edge.pop(1) or 0.0 for edge in node["edges"]]
    return [*node["properties"].pop("embedding", []), *weights]


def test_it_checks_clean(migrated: Store) -> None:
    with App() as app:
        findings = check(app.home_store, graphs().values())
    assert (findings.documents, findings.passages) == (2, 33)
    assert findings.violations == ()
    assert findings.notes == ()


def answers_of(app: App) -> list[list[Hit]]:
    """What a graph answers to each recorded question."""
    answers = []
    for answer in ANSWERS:
        filters: dict[str, Any] = {name: tuple(ids) for name, ids in answer["filters"].items()}
        collection = app.collection(answer["collection"])
        answers.append(collection.retrieve(answer["question"], mode=answer["mode"], k=6, **filters))
    return answers


def test_it_answers_the_same(migrated: Store) -> None:
    texts = {
        row["properties"].get("id"): row["properties"].get("text")
        for row in ROWS
        if row["type"] == "node"
    }
    with App(**KNOBS) as app:
        for answer, hits in zip(ANSWERS, answers_of(app), strict=True):
            ids, scores = zip(*answer["hits"], strict=True)
            if answer["mode"] == "hybrid":
                # Version 5 counts words in the collection alone, folded, and those of a summary's
                # name as well: scores are others, and so is the order of summaries of one text.
                assert [hit.text for hit in hits] == [texts[id] for id in ids], answer
                continue
            assert [hit.id for hit in hits] == list(ids), answer
            assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-4), answer


def test_it_answers_as_a_graph_that_is_ingested_now(old: Store) -> None:
    with App(**KNOBS) as app:
        migrated = answers_of(app)
        app.collection("default").remove("The Lighthouse")
        app.collection("default").ingest_text(LIGHTHOUSE, source="lighthouse.txt")
    with App(preset="naive") as app:
        app.collection("naive").remove("Winter")
        app.collection("naive").ingest_text(WINTER, source="winter.txt", title="Winter")
    with App(**KNOBS) as app:
        made = answers_of(app)
    for answer, before, after in zip(ANSWERS, migrated, made, strict=True):
        assert [hit.id for hit in before] == [hit.id for hit in after], answer
        # The old graph's embeddings were reckoned on another processor.
        scores = [hit.score for hit in after]
        assert [hit.score for hit in before] == pytest.approx(scores, abs=1e-5), answer


def test_nothing_of_it_is_stale(old: Store) -> None:
    with App(**KNOBS) as app:
        collection = app.collection("default")
        [entry] = collection.documents()
        assert sorted(entry.graphs) == ["aspects", "text"]
        assert collection.stale(entry) == {}
        again = collection.ingest_text(LIGHTHOUSE, source="lighthouse.txt")
        assert again.status == "unchanged"
    with App(preset="naive") as app:
        [entry] = app.collection().documents()
        assert sorted(entry.graphs) == ["text"]
        again = app.collection().ingest_text(WINTER, source="winter.txt", title="Winter")
        assert again.status == "unchanged"


def test_it_is_what_an_ingest_makes_now(old: Store) -> None:
    with App(**KNOBS) as app:
        before = nodes_of(app.home_store, "default")
        again = app.collection("default").ingest_text(LIGHTHOUSE, source="lighthouse.txt")
        assert again.status == "unchanged"
        app.collection("default").remove("The Lighthouse")
        app.collection("default").ingest_text(LIGHTHOUSE, source="lighthouse.txt")
        made = nodes_of(app.home_store, "default")
        for one, other in zip(before, made, strict=True):
            # The old graph's were reckoned on another processor: the last bits are its own.
            assert reckoned(one) == pytest.approx(reckoned(other), abs=1e-5)
            was, now = one["properties"], other["properties"]
            if "Document" in one["labels"]:
                # By which version a file was read was not recorded.
                assert (was.pop("reading", 1), now.pop("reading")) == (1, READING_VERSION)
                # Nor the levels of headings, whose depths are inferred from their titles.
                assert (was.pop("section_levels"), now.pop("section_levels")) == ([0] * 3, [1] * 3)
                # Nor what of the file was left out, and what was wrong with it.
                left_out, warnings = now.pop("left_out"), now.pop("warnings")
                assert (left_out, warnings) == ('{"front matter": 44}', [])
            if "Part" in one["labels"]:
                # Nor which tokens came by batches.
                batched = [now.pop("batch_prompt_tokens"), now.pop("batch_completion_tokens")]
                assert batched == [0, 0]
            if "Part" in one["labels"] and now["graph"] == "aspects":
                # Nor how often aspects were looked for, and which were missing.
                rounds = [now.pop(name) for name in ("rounds", "missed", "missed_in")]
                assert rounds[0] >= 1 and len(rounds[1]) == len(rounds[2])
            assert {key: was.get(key) for key in {*was, *now} if was.get(key) != now.get(key)} == {}
            assert one == other


def test_it_opens_and_says_that_it_is_migrated_once(
    old: Store, caplog: pytest.LogCaptureFixture
) -> None:
    with App() as app:
        assert app.collections() == ["default", "naive"]
    with App() as app:
        assert app.collections() == ["default", "naive"]
    [line] = [one for one in caplog.records if one.name == "fabula"]
    assert line.levelno == logging.WARNING
    assert "migrated from schema 1 to 6" in line.getMessage()
    assert version(old) == VERSION


def test_times_and_facts_are_kept(old: Store) -> None:
    [was] = cypher(old, "MATCH (n:Document {collection: 'default'}) RETURN n {.*} AS n")
    with App() as app:
        [entry] = app.collection("default").documents()
    moments = (entry.created_at, entry.updated_at, entry.graphs["aspects"].updated_at)
    assert moments == (
        was["n"]["created_at"].iso_format().replace("000000+00:00", "Z"),
        was["n"]["updated_at"].iso_format().replace("000000+00:00", "Z"),
        was["n"]["updated_at"].iso_format().replace("000000+00:00", "Z"),
    )
    assert entry.graphs["aspects"].facts["assigned"] == was["n"]["assigned"]


def test_what_a_model_wrote_is_stale_by_its_prompts_alone(
    old: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts have changed since: the part says so, and what it cost stays known."""
    [row] = cypher(old, "MATCH (n:Document {collection: 'default'}) RETURN n.settings AS settings")
    settings = json.loads(row["settings"]) | {
        "model": "gpt-4.1-mini",
        "aspect_model": None,
        "temperature": 0.5,
        "details_per_call": 4,
        "aspects_with_summaries": False,
    }
    usage = {"details": {"calls": 3, "prompt_tokens": 20, "completion_tokens": 4, "saved": 1}}
    cypher(
        old,
        "MATCH (n:Document {collection: 'default'}) SET n.settings = $settings, n.usage = $usage",
        settings=json.dumps(settings),
        usage=json.dumps(usage),
    )
    monkeypatch.setenv("FABULA_MODEL", "gpt-4.1-mini")
    with App(**KNOBS) as app:
        [entry] = app.collection("default").documents()
        assert app.collection("default").stale(entry) == {"aspects": ["prompts"]}
        assert entry.graphs["aspects"].usage["details"].calls == 3
        assert entry.usage["details"].prompt_tokens == 20


def test_stopped_after_any_step_it_goes_on(whole: Contents, old: Store) -> None:
    def stop(store: Database) -> None:
        raise KeyboardInterrupt

    # One after the other, so that what each step left is gone over by the next.
    for to, steps in MIGRATIONS.items():
        for after in range(len(steps)):
            with pytest.raises(KeyboardInterrupt):
                migrate(old, {**MIGRATIONS, to: (*steps[: after + 1], stop)})
            assert version(old) == to - 1
            with pytest.raises(StoreError, match="older Fabula"):
                old.make_schema()
    with App() as app:
        assert contents(app.home_store) == whole


@pytest.mark.parametrize(
    "waits",
    [(0.0, 0.2), pytest.param((0.05, 0.1, 0.4), marks=pytest.mark.nightly)],
    ids=["widely", "between"],
)
def test_killed_it_goes_on(
    whole: Contents, old: Store, waits: Sequence[float], tmp_path: Path
) -> None:
    kills = 0
    # Where the machine was busy and each came too late, once more, as soon as it has begun.
    for attempt, patience in enumerate((*waits, 0.0, 0.0, 0.0)):
        if kills and attempt >= len(waits):
            break
        load(old)
        process = Forked(tmp_path / "said", "list", environment=os.environ)
        while process.poll() is None and version(old) is None:
            time.sleep(0.005)
        time.sleep(patience)
        process.kill()
        process.wait()
        kills += version(old) == 1
        with App() as app:
            assert contents(app.home_store) == whole
    assert kills, "it was always done before it was killed"


def test_two_that_open_at_once_migrate_it_once(
    old: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def open_it() -> None:
        with App() as app:
            found.append(app.collections())

    found: list[list[str]] = []
    threads = [threading.Thread(target=open_it) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["default", "naive"]] * 3
    assert len([one for one in caplog.records if one.name == "fabula"]) == 1


def test_a_graph_of_version_2_is_given_the_labels_of_its_full_text_indexes(
    address: Address, named: None
) -> None:
    with connect(address) as store:
        empty(store)
        with App(**KNOBS) as app:
            app.collection().ingest_text(WINTER, source="winter.txt")
            app.collection().build("entities")
            made = contents(store)
        for statement in (
            "MATCH (n) REMOVE n:PassageText:ElementText",
            "DROP INDEX passage_texts",
            "DROP INDEX element_texts",
            "CREATE FULLTEXT INDEX passage_texts FOR (n:Passage) ON EACH [n.text]",
            "CREATE FULLTEXT INDEX element_texts FOR (n:Element) ON EACH [n.name, n.text]",
            "MATCH (schema:Schema) SET schema.version = 2",
        ):
            cypher(store, statement)
        assert contents(store) != made
        with App(**KNOBS) as app:
            assert contents(app.home_store) == made
            found = cypher(
                store,
                "CALL db.index.fulltext.queryNodes('passage_texts', 'winter') YIELD node "
                "RETURN count(node) AS count",
            )
            assert found[0]["count"] > 0


@pytest.mark.parametrize("phase", ["writing", "clearing"])
def test_what_was_not_all_reembedded_is_cleared(whole: Contents, old: Store, phase: str) -> None:
    begin_reembedding(old, phase)
    with App() as app:
        assert contents(app.home_store) == whole


def test_what_was_being_moved_is_moved(old: Store) -> None:
    begin_reembedding(old, "moving")
    cypher(old, "MATCH (n:EmbeddingSpace) SET n.model = n.next_model, n.dimensions = 8")
    cypher(old, "DROP INDEX passage_vectors")
    with App() as app:
        for space in app.home_store.spaces():
            assert (space.model, space.dimensions, space.phase) == ("next-model", 8, "")
        assert check(app.home_store, graphs().values()).violations == ()
    [row] = cypher(old, "MATCH (n:Passage8) RETURN count(n) AS passages, max(n.embedding[0]) AS x")
    assert (row["passages"], row["x"]) == (33, pytest.approx(0.5))


def begin_reembedding(store: Store, phase: str) -> None:
    """As `fabula reembed` of the old schema was when it was stopped in that phase."""
    cypher(
        store,
        "MATCH (space:EmbeddingSpace {id: 'graph'}) "
        "SET space.phase = $phase, space.next_model = 'next-model', space.next_dimensions = 8",
        phase=phase,
    )
    cypher(
        store,
        "CYPHER 25 CREATE VECTOR INDEX passage_vectors_next FOR (n:Chunk|Summary|Detail) "
        "ON n.next_embedding OPTIONS {indexConfig: {`vector.dimensions`: 8, "
        "`vector.similarity_function`: 'cosine'}}",
    )
    cypher(
        store,
        "MATCH (n:Chunk|Summary|Detail) CALL db.create.setNodeVectorProperty("
        "n, 'next_embedding', [0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0])",
    )


def test_what_is_left_of_an_old_graph_without_documents_is_migrated(old: Store) -> None:
    cypher(old, "MATCH (n) DETACH DELETE n")
    with App(**KNOBS) as app:
        assert app.collections() == []
        app.collection().ingest_text(LIGHTHOUSE, source="lighthouse.txt")
        assert check(app.home_store, graphs().values()).violations == ()
        assert app.collection().retrieve("the lamp", mode="hybrid", k=2)


def test_a_newer_graph_is_refused_in_words(old: Store) -> None:
    cypher(old, "CREATE (:Schema {id: 'graph', version: 99})")
    was = contents(old)
    with App() as app, pytest.raises(StoreError, match=r"newer Fabula .* 99.*upgrade Fabula"):
        app.collections()
    with pytest.raises(StoreError, match="newer Fabula"):
        old.make_schema()
    assert contents(old) == was


def test_chapters_of_one_name_get_their_paths_and_nothing_else_changes(old: Store) -> None:
    titles = ["BOOK ONE", "CHAPTER 7", "CHAPTER 8", "BOOK TWO", "CHAPTER 7", "CHAPTER 8"]
    chunks = cypher(
        old, "MATCH (c:Chunk {collection: 'default'}) RETURN c.id AS id ORDER BY c.start"
    )
    numbers = [place * len(titles) // len(chunks) for place in range(len(chunks))]
    for chunk, number in zip(chunks, numbers, strict=True):
        cypher(
            old, "MATCH (c:Chunk {id: $id}) SET c.section = $title", **chunk, title=titles[number]
        )
    cypher(old, "MATCH (n:Summary {collection: 'default'}) SET n.section = 'CHAPTER 7 – CHAPTER 8'")
    paths = [title if "BOOK" in title else f"BOOK ONE · {title}" for title in titles]
    paths[4:] = [path.replace("ONE", "TWO") for path in paths[4:]]
    with App(**KNOBS) as app:
        collection = app.collection("default")
        [entry] = collection.documents()
        outline = app.home_store.structure(entry).outline
        assert [section.title for section in outline.sections] == titles
        assert list(outline.paths) == paths
        assert outline.depths == (1, 2, 2, 1, 2, 2)
        sections = cypher(
            old,
            "MATCH (n:Passage {collection: 'default'}) MATCH (c:Chunk) WHERE c.id IN n.sources "
            "WITH n, c ORDER BY n.id, c.start WITH n, collect(c.section) AS names "
            "RETURN n.kind AS kind, n.section AS section, head(names) AS first, "
            "last(names) AS last",
        )
        for row in sections:
            span = span_of_sections(row["first"], row["last"])
            assert row["section"] == (span if row["kind"] == "summary" else row["first"])
        spans = {row["section"] for row in sections if row["kind"] == "summary"}
        assert any("BOOK ONE" in span and " – BOOK TWO · CHAPTER" in span for span in spans)
        assert collection.stale(entry) == {}
        assert entry.reading < READING_VERSION
        assert collection.read(entry.id, "book two, chapter VIII").lines
