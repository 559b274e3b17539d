"""The discourse graph in a real Neo4j: it comes in, follows edits, is sound, is asked, and goes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cases import for_each
from database import connect, cypher, wipe
from endpoint import Endpoint
from fabula import Fabula, Outcome
from fabula.config.settings import OFFLINE, Settings
from fabula.errors import NotFound
from fabula.graph import TEXT, Owner, Part, Record
from fabula.graph.explore import shipped_query
from fabula.graph.parts import chunks_of
from fabula.graph.trace import Trace as Steps
from fabula.graph.trace import TraceStep
from fabula.models.offline import StaticEmbedder
from fabula.operations.documents import drop_graph, remove_document
from fabula.server import Address
from fabula.store import Store
from fabula.store.part_reader import read_part
from fabula.store.user_query import run_user_query
from fabula_graphs.discourse.mapping import nodes_and_edges
from fabula_graphs.discourse.normal import normal
from fabula_graphs.discourse.senses import read_senses
from fabula_graphs.discourse.values import Event, Link
from offline import offline_settings

BREAKS = {
    "check_events": [
        "MATCH (:Event)-[r:FROM_CHUNK]->() DELETE r",
        "MATCH (n:Event)-[r:FROM_CHUNK]->(), (c:Chunk) CREATE (n)-[:FROM_CHUNK]->(c)",
        "MATCH (:Event)-[r:WHO]->() DELETE r",
        "MATCH (n:Event) REMOVE n.who",
    ],
    "check_terms": [
        "MATCH (n:Event) DETACH DELETE n",
        "MATCH (n:Term {slot: 'who'}) SET n.slot = 'how'",
        "MATCH (n:Term) SET n.key = ' '",
        "MATCH (n:Term) SET n.count = n.count + 1",
        "MATCH (n:Term) SET n.sources = n.sources[..0] + ['another']",
        "MATCH (n:Term {slot: 'who'}), (c:Chunk) CREATE (n)-[:IS]->(c)",
        "MATCH (n:Term {slot: 'what'}) CREATE (n)-[:IS]->(:Entity {document: n.document})",
    ],
    "check_links": [
        "MATCH (:Link)-[r:ARG1]->() DELETE r",
        "MATCH (n:Link)-[r:ARG1]->() CREATE (n)-[:ARG2]->(:Chunk)",
        "MATCH (n:Link) SET n.sources = [n.sources[1], n.sources[0]]",
        "MATCH (n:Link) SET n.sense = ''",
        "MATCH (n:Link) SET n.form = 'explicit', n.connective = ''",
        "MATCH (n:Link) REMOVE n.form",
        "MATCH (n:Link) SET n.cause = 'arg3'",
    ],
}
NODES = "MATCH (n:Event|Term|Link|Part {graph: 'discourse'}) RETURN n.id"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(dimensions=256) as server:
        yield server


@pytest.fixture
def book(online: None, story: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_GRAPHS", "entities,discourse")
    Path("fabula.toml").write_text("[discourse]\nwindow_tokens = 120\n")
    head, *chapters = re.split("(?=CHAPTER)", story.read_text())[:4]
    # Of equal ones the response cache would answer all but one.
    told = [one.replace("long winter", f"winter of {1800 + n}") for n, one in enumerate(chapters)]
    story.write_text(head + "".join(told))
    return story


def ingest(book: Path, **settings: Any) -> Outcome:
    with Fabula(Settings.read(**settings)) as fabula:
        [outcome] = fabula.ingest(book)
        assert fabula.check().violations == ()
    return outcome


def asked(endpoint: Endpoint, words: str) -> list[str]:
    """The prompts of a step that a chat model was asked."""
    bodies = (body["messages"][-1]["content"] for body in endpoint.bodies if "messages" in body)
    return [prompt for prompt in bodies if words in prompt]


def content(store: Store) -> list[dict[str, Any]]:
    """All nodes of the graph, and the edges that begin at them."""
    return cypher(
        store,
        "MATCH (n:Event|Term|Link) WITH n ORDER BY n.id "
        "RETURN n {.*, updated_at: null} AS node, COLLECT { MATCH (n)-[r]->(m) "
        "RETURN {type: type(r), end: m.id} ORDER BY type(r), m.id } AS edges",
    )


@pytest.mark.journey
def test_a_book_comes_in_follows_an_edit_without_the_cache_and_goes(
    book: Path, endpoint: Endpoint, store: Store, tmp_path: Path
) -> None:
    with Fabula() as fabula:
        [dry] = fabula.ingest(book, dry=True)
    outcome = ingest(book)
    assert outcome.graphs == ("text", "entities", "discourse")
    assert all(outcome.counts[kind] > 0 for kind in ("event", "term", "link"))
    for step in ("events", "links"):
        assert dry.steps[step].calls == outcome.steps[step].calls
    [row] = cypher(
        store,
        "MATCH (:Event)-[:WHO]->(t:Term)-[:IS]->(e:Entity {name: 'Anna'}) "
        "RETURN DISTINCT t.text AS text, t.count AS count",
    )
    assert row["text"] == "Anna"
    before, calls = content(store), endpoint.calls
    shutil.rmtree(tmp_path / "cache")
    assert ingest(book).status == "unchanged"
    assert (content(store), endpoint.calls) == (before, calls)

    endpoint.bodies.clear()
    head, tail = book.read_text().split("CHAPTER III")
    book.write_text(f"{head}CHAPTER III{tail.replace('on day 2', 'on day 77', 1)}")
    outcome = ingest(book)
    assert outcome.steps["events"].calls == 1
    assert outcome.steps["links"].calls == 1
    [pairs] = asked(endpoint, "<senses>")
    assert pairs.count("Arg1 is [") == 2
    edited = content(store)
    with Fabula() as fabula:
        fabula.ingest(book, rebuild=True)
        assert content(store) == edited, "as if it had been made for the first time"
        drop_graph(fabula, "discourse")
        assert cypher(store, NODES) == []
        assert fabula.check().violations == ()
        calls = endpoint.calls
        fabula.build("discourse")
        assert endpoint.calls == calls, "replies are kept"
        remove_document(fabula, "Winter")
    assert cypher(store, "MATCH (n:Document|Passage|Element|Part) RETURN n.id") == []


# Ways to ask, without a model, of a graph made by hand

SCENES = (
    "Anna kept the lamp of the tower alight through every night of that year.",
    "The oil ran out in the great storm and nobody in the village had any left.",
    "Clara sold her boat to the miller and bought a mirror with the money.",
    "The schooner struck the rocks because the tower was dark.",
    "Boris danced at the fair until the music stopped at midnight.",
    "Seven sailors were buried in the churchyard under one stone.",
)


@pytest.fixture(scope="module")
def scenes(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabula]:
    home = tmp_path_factory.mktemp("scenes")
    settings = offline_settings(address, home, chunk_tokens=20, graphs=("entities",))
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        fabula.ingest_text("\n\n".join(SCENES), source="s.txt", title="Scenes", language="en")
        fabula.ingest_text("Anna slept.", source="b.txt", title="Bare", language="en")
        _put(fabula)
        assert fabula.check().violations == ()
    with Endpoint() as endpoint:
        online = settings.model_copy(update={"model": "m", "base_url": endpoint.url})
        with Fabula(online) as fabula:
            yield fabula


def _put(fabula: Fabula) -> None:
    entry = fabula.document("Scenes")
    chunks = chunks_of(read_part(fabula.open_store(), Owner(fabula.name, TEXT, entry.id)))
    assert [chunk.text.strip() for chunk in chunks] == list(SCENES)
    ids = [chunk.id for chunk in chunks]
    senses = read_senses("pdtb3")
    nodes, edges = nodes_and_edges(
        entry.id,
        [
            Event(ids[0], 0, {"who": "Anna", "predicate": "keep", "what": "the lamp"}),
            Event(ids[2], 0, {"who": "Clara", "predicate": "sell", "what": "her boat"}),
            Event(ids[5], 0, {"who": "seven sailors", "where": "churchyard"}),
        ],
        [
            Link(ids[0], ids[1], "Comparison.Contrast", "implicit", "but"),
            Link(ids[1], ids[2], "Contingency.Cause.Result", "implicit", "so"),
            Link(ids[2], ids[3], "Contingency.Cause+Belief.Result+Belief", "implicit", "so"),
            Link(ids[3], ids[4], "Temporal.Synchronous", "implicit", "while"),
        ],
        chunks,
        lambda value: normal(value, "en"),
        senses.cause,
    )
    record = Record({"graph": "discourse", "rests_on": {TEXT: entry.graphs[TEXT].fingerprint}})
    owner = Owner(fabula.name, "discourse", entry.id)
    fabula.open_store().apply(
        [Part(owner, tuple(nodes), tuple(edges), record)], StaticEmbedder().model
    )


def found(fabula: Fabula, question: str, **given: Any) -> tuple[list[int], list[str]]:
    """The scenes that are found, by their numbers, and what the path says of each step."""
    steps = Steps()
    hits = fabula.retrieve(question, mode="discourse", path=steps, **given)
    return [SCENES.index(hit.text.strip()) for hit in hits], [*_told(steps.root)]


def _told(step: TraceStep) -> Iterator[str]:
    yield f"{step.name}: {step.note}"
    for one in step.steps:
        yield from _told(one)


WHY = "Why did Clara sell her boat to the miller?"


def test_the_nearest_comes_first_then_what_stands_in_the_sense_in_both_directions(
    scenes: Fabula,
) -> None:
    places, told = found(scenes, WHY, document="Scenes", knobs={"near": 1})
    assert places[:3] == [2, 1, 3], "why: what it comes of, and what it makes believe"
    assert any("Contingency" in one and "2 chunks" in one for one in told if "related: " in one)
    assert any(one.startswith("read the question: by m") for one in told)


def test_each_of_several_near_ones_is_beside_its_own(scenes: Fabula) -> None:
    places, _ = found(scenes, WHY, document="Scenes", knobs={"near": 3, "related": 1})
    assert places[:2] in ([2, 1], [2, 3])
    assert len(set(places)) == len(places)


def test_what_tells_of_the_same_event_comes_after(scenes: Fabula) -> None:
    question = "Did Clara see the lamp of the tower alight in every night of the year?"
    places, told = found(scenes, question, document="Scenes", knobs={"near": 1, "related": 0})
    assert places[:2] == [0, 2]
    assert any(one.startswith("matched: who: 1 chunks") for one in told)


def test_as_published_the_context_is_short_where_nothing_is_linked(scenes: Fabula) -> None:
    question = "Who danced at the fair at midnight?"
    given: dict[str, Any] = {"near": 1, "matched": 0}
    wide, _ = found(scenes, question, document="Scenes", knobs=given)
    assert len(wide) > 1
    short, _ = found(scenes, question, document="Scenes", knobs={**given, "widen": False})
    assert short == wide[:1] == [4]
    linked, _ = found(scenes, WHY, document="Scenes", knobs={**given, "widen": False})
    assert linked == [2, 1, 3]


def test_events_and_relations_are_exported_as_rdf(scenes: Fabula, tmp_path: Path) -> None:
    import rdflib

    written = scenes.export(tmp_path / "scenes.ttl", "Scenes")
    assert (written.nodes, written.relationships) == (3, 4)
    graph = rdflib.Graph().parse(tmp_path / "scenes.ttl")
    words = "urn:fabula:vocabulary:"
    who = {str(value) for value in graph.objects(None, rdflib.URIRef(f"{words}who"))}
    assert who == {"Anna", "Clara", "seven sailors"}
    result = rdflib.URIRef("urn:fabula:sense:Contingency.Cause.Result")
    assert len(list(graph.subject_objects(result))) == 1
    with pytest.raises(NotFound, match="'Bare' has none of them"):
        scenes.export(tmp_path / "bare.nt", "Bare")


def test_kept_terms_change_with_the_entities(scenes: Fabula) -> None:
    question = "Did Hypatia keep the lamp?"
    place = {"document": "Scenes", "knobs": {"near": 1, "related": 0}}
    _, told = found(scenes, question, **place)
    assert "matched: who: 0 chunks" in told
    entry = scenes.document("Scenes")
    # A writer also takes a lock, by which the store sees that versions are to be read again.
    written = """
        WITH DISTINCT 1 AS one MATCH (part:Part {graph: 'entities'})
        WHERE part.id ENDS WITH $document
        SET part.updated_at = part.updated_at + duration('PT1S')
        WITH DISTINCT 1 AS one MATCH (lock:Lock)
        SET lock.taken_at = lock.taken_at + duration('PT1S')"""
    change = f"""
        MATCH (term:Term {{document: $document, slot: 'who', key: 'anna'}})
        CREATE (term)-[:IS]->(:Element:Entity {{
          id: 'hypatia', collection: term.collection, document: $document, kind: 'entity',
          name: 'Anna', names: ['Anna', 'Hypatia'], text: 'Anna', since: 0, last: 0}})
        {written}"""
    undo = f"MATCH (entity:Entity {{id: 'hypatia'}}) DETACH DELETE entity {written}"
    cypher(scenes.open_store(), change, document=entry.id)
    _, told = found(scenes, question, **place)
    cypher(scenes.open_store(), undo, document=entry.id)
    assert "matched: who: 1 chunks" in told


def test_without_the_graph_or_a_model_it_is_as_hybrid(scenes: Fabula) -> None:
    def find(fabula: Fabula, mode: str, document: str) -> list[str]:
        return [hit.id for hit in fabula.retrieve(WHY, mode=mode, document=document)]

    assert find(scenes, "discourse", "Bare") == find(scenes, "hybrid", "Bare") != []
    with Fabula(scenes.settings.model_copy(update={"model": OFFLINE})) as offline:
        assert find(offline, "discourse", "Scenes") == find(offline, "hybrid", "Scenes") != []


def rows(fabula: Fabula, name: str, **given: Any) -> list[dict[str, Any]]:
    query = shipped_query(name)
    table = run_user_query(
        fabula.open_store(), query.statement, query.fill({"document": "Scenes", **given})
    )
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_events_are_told_in_the_order_of_the_story(scenes: Fabula) -> None:
    listed = rows(scenes, "story_order")
    assert [row["who"] for row in listed] == ["Anna", "Clara", "seven sailors"]
    assert [row["start"] for row in listed] == sorted(row["start"] for row in listed)
    [row] = rows(scenes, "story_order", who="clara")
    assert (row["predicate"], row["what"], row["when"]) == ("sell", "her boat", None)


def test_causes_are_walked_back_from_a_passage_and_from_the_longest_chain(scenes: Fabula) -> None:
    chain = rows(scenes, "causes")
    assert [(row["step"], row["index"]) for row in chain] == [(0, 3), (1, 2), (2, 1)]
    assert chain[1]["sense"] == "Contingency.Cause+Belief.Result+Belief"
    assert [row["index"] for row in rows(scenes, "causes", index=2)] == [2, 1]
    assert rows(scenes, "causes", index=4) == []


@for_each(
    ("invariant", "statement"),
    [(name, statement) for name, statements in BREAKS.items() for statement in statements],
)
def test_what_breaks_an_invariant_is_found(invariant: str, statement: str, scenes: Fabula) -> None:
    from breaks import Undone
    from fabula.graph.installed import graphs
    from fabula.store.integrity import check

    with scenes.open_store().session() as session, session.begin_transaction() as transaction:
        undone = Undone(transaction, scenes.open_store())
        undone.run(statement)
        assert invariant in {
            violation.invariant for violation in check(undone, graphs().values()).violations
        }
        transaction.rollback()
