"""Another embedding model for a whole graph: questions go on, and documents wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from database import connect, cypher
from endpoint import Endpoint
from fabula.config.settings import STATIC
from fabula.errors import SpaceError, StoreError
from fabula.graph.hits import Filters
from fabula.operations.documents import remove_document
from fabula.server import Address
from fabula.store import Store, reembedding
from fabula.text.document import Vector
from reembedding import (
    COLLECTION,
    STORY,
    fabula,
    finds_each_passage,
    is_canonical,
    passages,
    reembed,
    stop,
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


class Reader(threading.Thread):
    """Asks for one passage in both spaces, over and over, with a store that stays open."""

    def __init__(self, address: Address, asked: dict[str, Vector], text: str) -> None:
        super().__init__(daemon=True)
        self.address, self.vectors, self.text = address, asked, text
        self.answered: list[tuple[str, ...]] = []
        self.wrong: list[str] = []
        self.slowest = 0.0
        self.stop = threading.Event()

    def run(self) -> None:
        with connect(self.address) as store:
            while not self.stop.is_set():
                # The old one first: a swap between the two answers both, and never none.
                self.answered.append(
                    tuple(m for m, vector in self.vectors.items() if self._finds(store, m, vector))
                )

    def _finds(self, store: Store, model: str, vector: Vector) -> bool:
        began = time.monotonic()
        try:
            hits = store.nearest(vector, 3, Filters(COLLECTION), model)
        except SpaceError:
            return False
        except StoreError as error:
            self.wrong.append(str(error))
            return False
        finally:
            self.slowest = max(self.slowest, time.monotonic() - began)
        if not hits or self.text not in {hit.text for hit in hits if hit.score > 0.9999}:
            self.wrong.append(f"{model}: {[hit.text for hit in hits]}")
        return True


@pytest.mark.parametrize("dimensions", [48, 256], ids=["other", "same"])
def test_questions_are_answered_throughout_in_the_old_space_and_then_in_the_new(
    story: Path, store: Store, address: Address, endpoint: Endpoint, dimensions: int
) -> None:
    endpoint.dimensions, endpoint.delay = dimensions, 0.1
    [row] = cypher(store, "MATCH (n:Detail) RETURN n.text AS text ORDER BY n.id LIMIT 1")
    with fabula() as old, fabula(endpoint, concurrency=4) as new:
        asked = {
            service.app.models.embedder.model: service.app.models.embedder.embed(
                [row["text"].strip()]
            ).vectors[0]
            for service in (old, new)
        }
        reader = Reader(address, asked, row["text"])
        reader.start()
        while len(reader.answered) < 3:
            assert reader.is_alive()
            time.sleep(0.01)
        new.reembed()
        enough = len(reader.answered) + 10
        while len(reader.answered) < enough and reader.is_alive():
            time.sleep(0.01)
        reader.stop.set()
        reader.join()
    assert reader.wrong == []
    assert () not in reader.answered
    first_new = reader.answered.index(("m",))
    assert set(reader.answered[: first_new - 1]) == {(STATIC,)}
    assert set(reader.answered[first_new:]) == {("m",)}
    assert first_new > 1


def test_a_service_that_was_open_before_the_swap_is_told_of_it(
    story: Path, endpoint: Endpoint
) -> None:
    with fabula() as service:
        assert service.retrieve("Who walked?")
        reembed(endpoint)
        with pytest.raises(
            SpaceError, match=r"by m, .* Set OPENAI_BASE_URL to the server that has it"
        ):
            service.retrieve("Who walked?")


def test_documents_come_in_again_when_it_has_ended(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "core/save_parts", endpoint)
    story.write_text(story.read_text() + "\n\nCHAPTER IV\n\nSpring came, and nobody told.")
    for service in (fabula(), fabula(endpoint)):
        with service, pytest.raises(SpaceError, match="is being re-embedded with m"):
            service.ingest(story)
    reembed(endpoint)
    with fabula(endpoint) as service:
        [outcome] = service.ingest(story)
        assert outcome.status == "replaced"
        finds_each_passage(store, service)
    is_canonical(store, "m", 48)


@pytest.mark.parametrize("has_ended", [False, True], ids=["under way", "ended"])
def test_a_document_that_was_being_built_when_it_began_is_refused_and_leaves_no_trace(
    story: Path,
    store: Store,
    wide: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    has_ended: bool,
) -> None:
    count = passages(store)
    other = story.with_name("summer.txt")
    other.write_text(f"Title: Summer\n\n{STORY.replace('winter', 'summer')}")
    late = Store.apply

    def begun(self: Store, *given: Any) -> None:
        if has_ended:
            reembed(wide)
        else:
            stop(monkeypatch, "core/reembed_find", wide)
        late(self, *given)

    monkeypatch.setattr(Store, "apply", begun)
    message = "have embeddings of m" if has_ended else "is being re-embedded with m"
    with fabula() as service, pytest.raises(SpaceError, match=message):
        service.ingest(other)
    assert passages(store) == count
    reembed(wide)
    is_canonical(store, "m", 256)


def test_a_document_may_be_removed_while_it_is_under_way(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "core/save_parts", endpoint)
    with fabula() as service:
        remove_document(service, "Winter")
    reembed(endpoint)
    is_canonical(store, "m", 48)


def test_a_second_run_at_once_is_refused(story: Path, store: Store, endpoint: Endpoint) -> None:
    with (
        reembedding.lock_space(store, COLLECTION),
        pytest.raises(StoreError, match="Another `fabula reembed` is at work"),
    ):
        reembed(endpoint)
    reembed(endpoint)
    is_canonical(store, "m", 48)
