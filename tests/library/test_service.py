"""The library as a program uses it: real models over HTTP, a real graph, all steps."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest

from database import cypher
from endpoint import Endpoint, every, listed
from endpoint.faults import Fault
from fabula import Fabula
from fabula.errors import FabulaError, ModelError, NotFound, SpaceError
from fabula.operations.documents import remove_document, show_document
from fabula.store import Store
from stories import WINTER as STORY

NARRATIVE = {
    "plot",
    "character",
    "setting",
    "point of view",
    "style",
    "theme",
    "irony and symbol",
}


@pytest.mark.journey
def test_a_book_becomes_a_graph_with_every_aspect(
    online: None, endpoint: Endpoint, story: Path, store: Store
) -> None:
    with Fabula() as fabula:
        [outcome] = fabula.ingest(story)
        assert (outcome.status, outcome.title, outcome.error) == ("added", "Winter", None)
        layers = show_document(fabula, outcome.document).layers
        entry = fabula.document("Winter")
    chunks = sum(layer.passages for layer in layers if layer.kind == "chunk")
    assert chunks == outcome.counts["chunk"] > 20
    assert {layer.aspect for layer in layers if layer.kind == "summary"} == NARRATIVE
    assert chunks < outcome.counts["detail"] <= 2 * chunks
    assert sum(usage.calls for usage in entry.usage.values()) == endpoint.calls
    assert set(entry.usage) == {"embeddings", "summaries", "details"}
    # Equal chunks are asked for once.
    details = entry.usage["details"]
    assert details.calls + details.saved == math.ceil(chunks / 4)
    sections = {row["s"] for row in cypher(store, "MATCH (c:Chunk) RETURN DISTINCT c.section AS s")}
    assert sections == {f"CHAPTER {number}" for number in ("I", "II", "III", "IV", "V")}
    # Every summary reaches chunks, level by level within its aspect.
    broken = cypher(
        store,
        "MATCH (s:Summary)-[r:SUMMARIZES]->(m) "
        "WHERE m.level >= s.level OR (m:Summary AND m.aspect <> s.aspect) "
        "OR r.weight <= 0 OR r.weight > 1.000001 RETURN s.id",
    )
    assert broken == []
    adrift = cypher(store, "MATCH (s:Summary) WHERE NOT (s)-[:SUMMARIZES*]->(:Chunk) RETURN s.id")
    assert adrift == []
    bare = cypher(store, "MATCH (c:Chunk) WHERE NOT (:Summary)-[:SUMMARIZES]->(c) RETURN c.id")
    assert bare == []


def test_the_same_input_gives_the_same_graph(online: None, story: Path, store: Store) -> None:
    everything = "MATCH (n:Chunk|Summary|Detail) RETURN n.id AS id, n.text AS text ORDER BY id"
    with Fabula() as fabula:
        [first] = fabula.ingest(story)
        before = cypher(store, everything)
        remove_document(fabula, first.document)
        assert cypher(store, everything) == []
        fabula.ingest(story)
    assert cypher(store, everything) == before


@pytest.mark.journey
def test_content_is_built_again_if_it_or_a_setting_changes_and_costs_nothing_otherwise(
    online: None, endpoint: Endpoint, story: Path
) -> None:
    with Fabula() as fabula:
        fabula.ingest(story)
        calls = endpoint.calls
        [again] = fabula.ingest(story)
    assert (again.status, endpoint.calls) == ("unchanged", calls)
    with Fabula(details=1) as fabula:
        [otherwise] = fabula.ingest(story)
        assert otherwise.status == "replaced"
        assert otherwise.graphs == ("aspects",), "the text stays as it is"
        story.write_text(story.read_text() + "\n\nCHAPTER VI\n\nSpring came, and nobody told.")
        [outcome] = fabula.ingest(story)
        assert outcome.status == "replaced"
        assert [entry.title for entry in fabula.documents()] == ["Winter"]


def test_a_text_of_a_program_is_a_document_too(online: None) -> None:
    with Fabula() as fabula:
        outcome = fabula.ingest_text(STORY, source="note 1", title="A Note", language="en")
        assert fabula.document("A Note").id == outcome.document
        assert fabula.document("note 1").source == "note 1"


def test_another_embedding_model_is_refused_before_anything_is_paid(
    online: None, endpoint: Endpoint, story: Path
) -> None:
    with Fabula() as fabula:
        fabula.ingest(story)
    calls = endpoint.calls
    with Fabula(embedding_model="another") as fabula:
        with pytest.raises(SpaceError, match="FABULA_EMBEDDING_MODEL=text-embedding-3-small"):
            fabula.ingest(story)
        assert endpoint.calls == calls
        # A question is embedded by the collection's own model, which the same endpoint has.
        fabula.query("Who?")
    models = [body["model"] for body in endpoint.bodies[calls:] if "input" in body]
    assert set(models) == {"text-embedding-3-small"}


def test_several_documents_share_the_workers(
    online: None, endpoint: Endpoint, tmp_path: Path
) -> None:
    for number in range(6):
        (tmp_path / f"book{number}.txt").write_text(STORY.replace("winter", f"winter {number}"))
    with Fabula(concurrency=3) as fabula:
        outcomes = fabula.ingest(tmp_path)
        assert Counter(outcome.status for outcome in outcomes) == {"added": 6}
        assert len(list(fabula.documents())) == 6
    assert endpoint.in_flight_most <= 3


def test_a_file_that_fails_does_not_stop_the_rest(
    online: None, story: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 50)
    with Fabula() as fabula:
        outcomes = fabula.ingest(tmp_path, tmp_path / "missing.txt")
    found = {Path(outcome.source).stem: outcome.status for outcome in outcomes}
    assert found == {
        story.stem: "added",
        "picture": "failed",
        "missing": "failed",
        "empty": "skipped",
    }
    for outcome in outcomes:
        assert outcome.error is None or Path(outcome.source).stem in str(outcome.error)


def test_a_refused_key_stops_the_run_at_once(
    graph_url: str, story: Path, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    with Endpoint(key="right") as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "wrong")
        with Fabula() as fabula, pytest.raises(ModelError, match="OPENAI_API_KEY"):
            fabula.ingest(story)
    assert cypher(store, "MATCH (n:Document|Staged) RETURN n") == []


@pytest.mark.parametrize("fault", ["rate_limit", "error", "malformed", "cut", "empty"])
def test_a_book_is_built_through_faults(
    fault: Fault, graph_url: str, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Twice: a reply that can't be read is asked for three times.
    with Endpoint(plan=listed(*[*[None] * 6, fault] * 2), retry_after="0.05") as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        with Fabula(chunk_tokens=80) as fabula:
            [outcome] = fabula.ingest(story)
            layers = show_document(fabula, outcome.document).layers
    assert outcome.status == "added"
    assert {layer.aspect for layer in layers if layer.kind == "summary"} == NARRATIVE


@pytest.mark.journey
def test_raptor_is_a_preset(online: None, story: Path) -> None:
    with Fabula(preset="raptor", chunk_tokens=48) as fabula:
        [outcome] = fabula.ingest(story)
        layers = show_document(fabula, outcome.document).layers
    assert outcome.steps.keys() == {"embeddings", "summaries"}, "there is no aspect to detect"
    assert {(layer.kind, layer.aspect) for layer in layers} == {
        ("chunk", ""),
        ("summary", "general"),
    }


@pytest.mark.journey
def test_naive_rag_is_a_preset_with_a_collection_of_its_own(online: None, story: Path) -> None:
    with Fabula(preset="naive") as fabula:
        [outcome] = fabula.ingest(story)
        assert {hit.kind for hit in fabula.retrieve("Who?")} == {"chunk"}
        assert [entry.collection for entry in fabula.documents()] == ["naive"]
    assert outcome.counts.keys() == {"chunk"}
    assert outcome.usage.calls == 1, "nothing but one batch of embeddings"


def test_a_file_that_is_named_twice_is_read_once(graph_url: str, story: Path) -> None:
    link = story.with_name("link.txt")
    link.symlink_to(story)
    with Fabula() as fabula:
        assert [result.status for result in fabula.ingest(story, story, link)] == ["added"]
        assert [result.status for result in fabula.ingest("")] == ["failed"]


def test_a_file_that_takes_over_another_ones_text_is_replaced(graph_url: str, story: Path) -> None:
    other = story.with_name("other.txt")
    other.write_text("Title: Same\n\nThe miller slept.")
    story.write_text("Title: Same\n\nThe miller woke.")
    with Fabula() as fabula:
        fabula.ingest(other, story)
        story.write_text(other.read_text())
        assert [result.status for result in fabula.ingest(story)] == ["replaced"]


def test_the_file_is_named_whose_replies_stay_malformed(
    graph_url: str, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint(plan=every(1, "nonsense")) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        with Fabula(embedding_model="wordllama-256") as fabula:
            [outcome] = fabula.ingest(story)
    assert story.name in str(outcome.error)
    assert outcome.usage.calls >= 3


def test_an_empty_graph_says_what_to_do(online: None, endpoint: Endpoint) -> None:
    with (
        Fabula() as fabula,
        pytest.raises(NotFound, match=r"'default' yet: .* Run `fabula ingest BOOK"),
    ):
        fabula.query("Who?")
    assert endpoint.calls == 0


def test_an_empty_collection_says_nothing_of_the_others(online: None, story: Path) -> None:
    with Fabula(collection="novels") as fabula:
        fabula.ingest(story)
    with (
        Fabula() as fabula,
        pytest.raises(NotFound, match="'default' yet: add documents") as caught,
    ):
        fabula.query("Who?")
    assert "novels" not in str(caught.value)


def test_a_document_of_another_collection_is_not_asked_in_silence(
    graph_url: str, story: Path
) -> None:
    with Fabula(collection="tales") as fabula:
        fabula.ingest(story)
        [entry] = fabula.documents()
    other = story.with_name("other.txt")
    other.write_text("Title: Other\n\nThe miller woke.")
    with Fabula() as fabula:
        fabula.ingest(other)
        for name in (story.name, entry.id, "Winter"):
            with pytest.raises(NotFound, match=r"no document .* in collection 'default'") as caught:
                fabula.retrieve("Who?", document=name)
            assert "tales" not in str(caught.value)


def test_a_question_of_any_length_is_looked_up(graph_url: str, story: Path) -> None:
    with Fabula(mode="hybrid") as fabula:
        fabula.ingest(story)
        assert fabula.retrieve(" ".join(f"word{n}" for n in range(3000)))
        assert fabula.retrieve("猫" * 3000)
        with pytest.raises(FabulaError, match="empty"):
            fabula.retrieve(" ")
