"""Another embedding model for a whole graph: each passage is found in it, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from endpoint import Endpoint
from fabula.cli import main
from fabula.config.settings import STATIC
from fabula.errors import ModelError, NotFound, SpaceError
from fabula.graph.hits import Filters
from fabula.store import Store
from hits import rounded
from reembedding import (
    COLLECTION,
    fabula,
    finds_each_passage,
    is_canonical,
    passages,
    reembed,
    written,
)

pytestmark = pytest.mark.replans


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(dimensions=48) as server:
        yield server


@pytest.fixture
def wide() -> Iterator[Endpoint]:
    """An endpoint whose vectors have as many dimensions as the static ones, and are others."""
    with Endpoint(dimensions=256) as server:
        yield server


@pytest.fixture
def story(graph_url: str, store: Store, tmp_path: Path) -> Iterator[Path]:
    with written(store, tmp_path) as path:
        yield path


@pytest.mark.journey
def test_a_graph_takes_another_model_and_finds_each_passage_in_it(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    done = reembed(endpoint)
    assert (done.model, done.dimensions, done.passages) == ("m", 48, passages(store))
    assert done.usage.calls == endpoint.calls >= done.passages / 16
    is_canonical(store, "m", 48)
    with fabula(endpoint) as service:
        finds_each_passage(store, service)


def test_another_collection_keeps_its_own_space(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    with fabula(collection="other") as other:
        other.ingest(story)
    reembed(endpoint)
    kept = store.space("other")
    assert kept is not None
    assert (kept.model, kept.dimensions, kept.slot) == (STATIC, 256, 1)
    with fabula(collection="other") as other:
        assert other.retrieve("Who walked to the harbour?")
        assert other.ingest(story)[0].status == "unchanged"
    with fabula(endpoint) as service:
        assert service.retrieve("Who walked to the harbour?")
        assert service.check().violations == ()


def test_and_back_to_static_vectors_which_cost_nothing(
    story: Path, store: Store, wide: Endpoint
) -> None:
    with fabula() as service:
        question = service.app.models.embedder.embed(["Anna walked to the harbour"]).vectors[0]
    before = rounded(store.nearest(question, 10, Filters(COLLECTION), STATIC))
    reembed(wide)
    is_canonical(store, "m", 256)
    assert reembed().usage.calls == 0
    is_canonical(store, STATIC, 256)
    assert rounded(store.nearest(question, 10, Filters(COLLECTION), STATIC)) == before


def test_one_model_with_other_dimensions_is_another_space(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    reembed(endpoint)
    endpoint.dimensions = 32
    with fabula(endpoint, details=2, cache=False) as service:
        with pytest.raises(SpaceError, match="reembed --collection winter --embedding-model m`"):
            service.ingest(story)
        service.reembed()
    is_canonical(store, "m", 32)


def test_the_model_that_the_graph_has_costs_one_call_to_know_its_dimensions(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    reembed(endpoint)
    calls = endpoint.calls
    assert reembed(endpoint, cache=False).passages == 0
    assert endpoint.calls == calls + 1


def test_what_did_not_change_is_unchanged_for_the_next_ingest(
    story: Path, endpoint: Endpoint
) -> None:
    reembed(endpoint)
    with fabula(endpoint) as service:
        calls = endpoint.calls
        [outcome] = service.ingest(story)
    assert (outcome.status, endpoint.calls) == ("unchanged", calls)


def test_an_untouched_graph_has_nothing_to_embed_again(graph_url: str, endpoint: Endpoint) -> None:
    with pytest.raises(NotFound, match="FABULA_EMBEDDING_MODEL"):
        reembed(endpoint)


def test_a_model_that_is_gone_is_found_out_though_its_vectors_are_kept(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    reembed(endpoint)
    reembed()
    endpoint.models = ["other"]
    with pytest.raises(ModelError, match="'m' does not exist"):
        reembed(endpoint)
    is_canonical(store, STATIC, 256)


def test_what_was_made_without_an_endpoint_is_asked_with_any_model(
    story: Path, endpoint: Endpoint
) -> None:
    """Its own vectors need no endpoint: no text is embedded by the settings' model."""
    with fabula() as service:
        found = {hit.id for hit in service.retrieve("Who walked?", mode="hybrid")}
    with fabula(endpoint) as service:
        hits = service.retrieve("Who walked?", mode="hybrid")
        assert {hit.id for hit in hits} == found
        assert service.query("Who walked?", mode="hybrid").text
        assert [body for body in endpoint.bodies if "input" in body] == []
        reembed(endpoint)
        # The same collection, now of the settings' model.
        assert service.retrieve("Who walked?", mode="hybrid")
        embedded = [body["input"] for body in endpoint.bodies if "input" in body]
        assert "Who walked?" in [text for texts in embedded for text in texts]


def test_the_command_says_what_it_did(
    story: Path, store: Store, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    known = ["--base-url", endpoint.url, "--embedding-model", "m", "--embedding-batch", "64"]
    known += ["--collection", COLLECTION]
    main(["reembed", *known], standalone_mode=False)
    output = capsys.readouterr().out
    assert f"{COLLECTION}: {passages(store)} passages; " in output
    assert "embeddings are those of m, of 48 dimensions" in output
    assert f"{endpoint.calls} calls" in output
