"""Another embedding model for a whole graph: a stopped run is taken up, or given up."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.cli.shared.health_checks import examine
from fabula.config.settings import STATIC
from fabula.errors import ModelError, SpaceError
from fabula.store import Store, reembedding
from forked import Forked
from reembedding import (
    COLLECTION,
    STATEMENTS,
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
def story(graph_url: str, store: Store, tmp_path: Path) -> Iterator[Path]:
    with written(store, tmp_path) as path:
        yield path


@pytest.mark.parametrize("statement", STATEMENTS)
def test_stopped_anywhere_the_same_command_goes_on(
    story: Path,
    store: Store,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
) -> None:
    stop(monkeypatch, statement, endpoint)
    flipped = STATEMENTS.index(statement) > STATEMENTS.index("core/reembed_flip")
    with fabula(endpoint) if flipped else fabula() as service:
        assert service.retrieve("Who walked to the harbour?")
    if flipped:
        with fabula() as service, pytest.raises(SpaceError):
            service.retrieve("Who walked to the harbour?")
    else:
        # Its vectors are static still, and a question is embedded as they are.
        with fabula(endpoint) as service:
            assert service.retrieve("Who walked to the harbour?")
    reembed(endpoint)
    is_canonical(store, "m", 48)
    with fabula(endpoint) as service:
        finds_each_passage(store, service)


@pytest.mark.parametrize(
    "statement",
    ["core/reembed_find", "core/reembed_flip", "core/reembed_clear", "core/reembed_end"],
)
def test_the_old_model_gives_a_stopped_run_up(
    story: Path,
    store: Store,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
) -> None:
    stop(monkeypatch, statement, endpoint)
    reembed()
    is_canonical(store, STATIC, 256)
    with fabula() as service:
        finds_each_passage(store, service)
        [outcome] = service.ingest(story)
    assert outcome.status == "unchanged"


def test_documents_come_in_while_what_was_given_up_is_still_to_be_cleared(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "core/reembed_find", endpoint)
    stop(monkeypatch, "core/reembed_clear")
    with fabula() as service:
        note = f"Collection 'winter' is being re-embedded with {STATIC}."
        assert service.check().notes == (note,)
        assert indexes(service)[0]
        assert service.ingest(story)[0].status == "unchanged"
    reembed()
    is_canonical(store, STATIC, 256)


@pytest.mark.parametrize(
    ("statement", "space"),
    [("core/reembed_find", "vectors_256"), ("core/reembed_clear", "vectors_48_2")],
)
def test_the_doctor_looks_at_the_indexes_that_questions_are_answered_from(
    story: Path,
    store: Store,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    space: str,
) -> None:
    stop(monkeypatch, statement, endpoint)
    cure = "run `fabula reembed --collection winter --embedding-model m`, which goes on"
    with fabula(endpoint) as service:
        online = (f"passage_{space}", "passage_texts", f"element_{space}", "element_texts")
        assert indexes(service) == (True, ", ".join(f"{one} online" for one in online))
        cypher(store, f"DROP INDEX element_{space}")
        missing = f"element_{space} is missing: {cure}"
        assert indexes(service) == (False, missing)
        cypher(store, f"DROP INDEX passage_{space}")
        assert indexes(service) == (False, f"passage_{space} is missing: {cure}; {missing}")
    reembed(endpoint)
    is_canonical(store, "m", 48)


def indexes(service: Fabula) -> tuple[bool, str]:
    """What the doctor says of them."""
    [found] = [problem for problem in examine(service) if problem.name == "indexes"]
    return found.passed, found.message


def test_a_third_model_takes_the_place_of_one_that_was_stopped(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "core/reembed_flip", endpoint)
    reembed(endpoint, "third")
    is_canonical(store, "third", 48)


def test_what_was_embedded_before_a_failure_is_not_asked_for_again(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "core/save_parts", endpoint)
    asked = sum(len(body["input"]) for body in endpoint.bodies)
    assert 1 < asked <= passages(store) + 1
    assert reembed(endpoint, cache=False).passages == 0
    assert sum(len(body["input"]) for body in endpoint.bodies) == asked + 1


def test_a_model_whose_dimensions_change_on_the_way_is_refused(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    save: Callable[..., None] = reembedding.save

    def changed(*given: Any) -> None:
        save(*given)
        endpoint.dimensions = 32

    monkeypatch.setattr(reembedding, "save", changed)
    with pytest.raises(ModelError, match="gave 32 dimensions after 48"):
        reembed(endpoint, concurrency=1, cache=False)
    reembed(endpoint, cache=False)
    is_canonical(store, "m", 32)


def test_a_killed_process_is_taken_up_at_once(
    story: Path, store: Store, endpoint: Endpoint, tmp_path: Path
) -> None:
    count = passages(store)
    endpoint.delay = 0.3
    is_killed = threading.Event()
    calls = 0

    def hold(number: int, _: dict[str, Any]) -> None:
        # Neither run gets to its end before it is killed.
        if number > calls + 2:
            is_killed.wait(60)

    endpoint.raw = hold
    command = ["reembed", "--base-url", endpoint.url]
    known = ["--embedding-model", "m", "--embedding-batch", "8", "--concurrency", "2"]
    known += ["--collection", COLLECTION]
    for wait in (0.1, 0.5):
        is_killed.clear()
        calls = endpoint.calls
        process = Forked(tmp_path / "said", *command, *known, environment=os.environ)
        while endpoint.calls < calls + 2:
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(wait)
        process.kill()
        process.wait()
        is_killed.set()
    endpoint.raw = lambda *_: None
    endpoint.delay = 0.0
    reembed(endpoint)
    is_canonical(store, "m", 48)
    asked = sum(len(body["input"]) for body in endpoint.bodies)
    # Beside the word that tells the dimensions: what was under way when each was killed.
    assert asked <= count + 3 + 2 * 2 * 8
