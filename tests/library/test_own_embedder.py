"""Collections of several embedding models: a question is embedded by its collection's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import minilm
from endpoint import Endpoint
from fabula import App, Fabula
from fabula.cli.shared.health_checks import examine
from fabula.config.settings import STATIC
from fabula.errors import SpaceError
from fabula.store import Store
from reembedding import KNOWN, STORY, fabula

QUESTION = "Who walked to the harbour?"
NOMIC = "nomic-embed-text"
WITH_PREFIX = 'nomic-embed-text + "search_document: "'


@pytest.fixture
def book(graph_url: str, tmp_path: Path) -> Path:
    path = tmp_path / "winter.txt"
    path.write_text(f"Title: Winter\nAuthor: Nobody\nLanguage: en\n\n{STORY}")
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fabula's folder, with MiniLM in it."""
    minilm.require_packages()
    folder = tmp_path_factory.mktemp("home")
    minilm.write_model(folder / "models" / "minilm")
    return folder


def embedded(endpoint: Endpoint, since: int = 0) -> list[tuple[str, str]]:
    """The models and texts of the calls for embeddings."""
    bodies = [body for body in endpoint.bodies[since:] if "input" in body]
    return [(body["model"], text) for body in bodies for text in body["input"]]


def test_passages_and_questions_get_the_prefixes_of_their_model(
    book: Path, endpoint: Endpoint, store: Store
) -> None:
    with fabula(endpoint, NOMIC, cache=False) as service:
        service.ingest(book)
        sent = embedded(endpoint)
        assert sent and all(text.startswith("search_document: ") for _, text in sent)
        calls = len(endpoint.bodies)
        assert service.retrieve(QUESTION)
        assert embedded(endpoint, calls) == [(NOMIC, f"search_query: {QUESTION}")]
        # What a chunk's node has is its text.
        assert not any("search_document" in hit.text for hit in service.retrieve(QUESTION))
        assert service.ingest(book)[0].status == "unchanged"
    space = store.space("winter")
    assert space is not None and space.model == WITH_PREFIX


def test_an_old_collection_goes_on_without_prefixes_and_says_so(
    book: Path, endpoint: Endpoint, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """Before prefixes were known, a collection was made as this one is."""
    with fabula(endpoint, NOMIC, cache=False, embedding_passage_prefix="none") as service:
        service.ingest(book)
    assert not caplog.records
    since = len(endpoint.bodies)
    with fabula(endpoint, NOMIC, cache=False) as service:
        assert service.stale(service.document("Winter")) == {}
        assert service.retrieve(QUESTION)
        assert service.ingest(book)[0].status == "unchanged"
        service.ingest_text("Anna walked to the mill.", source="more")
        assert service.check().violations == ()
        [embeddings] = [check for check in examine(service) if "collection" in check.message]
    sent = [text for _, text in embedded(endpoint, since)]
    assert QUESTION in sent and not any("search_" in text for text in sent)
    cure = "`fabula reembed --collection winter --embedding-model nomic-embed-text`"
    warnings = [record.getMessage() for record in caplog.records]
    assert all(cure in warning and "without a prefix" in warning for warning in warnings)
    assert warnings and cure in embeddings.message and embeddings.passed
    space = store.space("winter")
    assert space is not None and space.model == NOMIC


def test_another_prefix_is_another_space_and_reembedding_is_the_way(
    book: Path, endpoint: Endpoint, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    with fabula(endpoint, NOMIC, cache=False, embedding_passage_prefix="none") as service:
        service.ingest(book)
    wanted = {"cache": False, "embedding_passage_prefix": "clustering: "}
    with fabula(endpoint, NOMIC, **wanted) as service:
        with pytest.raises(SpaceError) as refusal:
            service.ingest_text("Anna walked to the mill.", source="more")
        message = str(refusal.value)
        assert "without a prefix, and the settings ask for the prefix 'clustering: '" in message
        assert "FABULA_EMBEDDING_PASSAGE_PREFIX=none, or run" in message
        assert (
            "--embedding-model nomic-embed-text --embedding-passage-prefix 'clustering: '"
            in message
        )
        # A question is embedded as the passages are until they are embedded again.
        assert service.retrieve(QUESTION)
        done = service.reembed()
        assert (done.model, done.passages) == ('nomic-embed-text + "clustering: "', 54)
        assert service.stale(service.document("Winter")) == {}
        assert service.check().violations == ()
        since = len(endpoint.bodies)
        assert service.retrieve(QUESTION)
        assert embedded(endpoint, since) == [(NOMIC, f"search_query: {QUESTION}")]
    with fabula(endpoint, NOMIC, cache=False) as service:
        service.reembed()
        assert service.ingest_text("Anna slept.", source="more").status == "added"
    space = store.space("winter")
    assert space is not None and space.model == WITH_PREFIX
    assert not caplog.records


def test_a_model_that_needs_an_endpoint_is_named_where_none_is_set(
    book: Path, endpoint: Endpoint
) -> None:
    with fabula(endpoint, NOMIC) as service:
        service.ingest(book)
    with fabula() as service, pytest.raises(SpaceError) as refusal:
        service.retrieve(QUESTION)
    assert "embedded by nomic-embed-text, and only that model" in str(refusal.value)
    assert "OPENAI_BASE_URL" in str(refusal.value)


def test_one_app_asks_collections_of_four_models(
    book: Path, endpoint: Endpoint, home: Path, store: Store
) -> None:
    """Of static vectors, of a model of this machine, and of two at the endpoint."""
    made: dict[str, dict[str, Any]] = {
        "static": {"embedding_model": STATIC},
        "local": {"embedding_model": "fastembed:minilm", "home": home},
        "nomic": {"embedding_model": NOMIC, "base_url": endpoint.url, "api_key": "sk-test"},
        "other": {"embedding_model": "m", "base_url": endpoint.url, "api_key": "sk-test"},
    }
    for name, flags in made.items():
        with Fabula(**{**KNOWN, **flags, "collection": name}) as service:
            assert service.ingest(book)[0].status == "added"
    assert [space.dimensions for space in store.spaces() if space.collection == "local"] == [384]
    since = len(endpoint.bodies)
    with App(**{**KNOWN, **made["other"], "home": home, "cache": False}) as app:
        for name in made:
            found = app.collection(name).retrieve(QUESTION, mode="naive")
            assert "harbour" in found[0].text or name in ("nomic", "other")
        assert embedded(endpoint, since) == [(NOMIC, f"search_query: {QUESTION}"), ("m", QUESTION)]
        answer = app.collection("local").query(QUESTION)
        assert "harbour" in answer.text
        # The settings' model adds to its own collection alone.
        with pytest.raises(SpaceError, match="fastembed:minilm"):
            app.collection("local").ingest_text("Anna slept.", source="more")


def test_a_collection_of_this_machine_needs_no_key(book: Path, home: Path) -> None:
    flags = {**KNOWN, "embedding_model": "fastembed:minilm", "home": home}
    with Fabula(**flags) as service:
        [outcome] = service.ingest(book)
        assert (outcome.status, outcome.error) == ("added", None)
        # Equal texts are near each other, whatever their words' order in the question.
        assert "Boris walked to the mill" in service.query("At the mill, who was it?").text
        assert service.check().violations == ()
        assert service.ingest(book)[0].status == "unchanged"
    # Settings without a word of it: the collection knows its model.
    with Fabula(**{**KNOWN, "embedding_model": STATIC, "home": home}) as service:
        assert service.query("Who walked to the mill?").text
