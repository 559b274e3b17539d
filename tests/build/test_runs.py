"""Runs that meet: equal files, one that fails, a removal meanwhile, two models side by side."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from database import cypher
from endpoint import Endpoint, every
from fabula import App, Fabula
from fabula.build.run import Gate
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.errors import BudgetSpent, FabulaError, SpaceError, StoreError
from fabula.operations.documents import remove_document, show_document
from fabula.store import Store
from stories import harbour_story

pytestmark = pytest.mark.long


# Equal files


@pytest.mark.journey
def test_of_equal_files_in_one_run_one_is_added_and_the_others_name_it(
    online: None, endpoint: Endpoint, tmp_path: Path
) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    for name in "abcdef":
        (folder / f"{name}.txt").write_text(f"Title: One\n\n{harbour_story('slept')}")
    endpoint.delay = 0.05
    with Fabula() as fabula:
        [expected] = {result.status for result in fabula.ingest(folder / "a.txt", dry=True)}
        outcomes = fabula.ingest(folder)
        [entry] = fabula.documents()
        assert fabula.check().violations == ()
    assert expected == "added"
    assert Counter(outcome.status for outcome in outcomes) == {"added": 1, "unchanged": 5}
    assert {outcome.document for outcome in outcomes} == {entry.id}
    assert {outcome.title for outcome in outcomes} == {"One"}
    assert sum(outcome.usage.calls > 0 for outcome in outcomes) == 1


def test_a_file_that_becomes_equal_to_another_takes_its_new_text(
    graph_url: str, tmp_path: Path
) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text(harbour_story("slept"))
    second.write_text(harbour_story("sang"))
    with Fabula() as fabula:
        fabula.ingest(first, second)
        second.write_text(harbour_story("slept"))
        outcomes = fabula.ingest(first, second)
        texts = {entry.source: entry.sha256 for entry in fabula.documents()}
    assert [outcome.status for outcome in outcomes] == ["unchanged", "replaced"]
    assert len(texts) == 2 and len(set(texts.values())) == 1


def test_a_document_that_is_named_twice_is_built_once(graph_url: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"Title: One\n\n{harbour_story('slept')}")
    with Fabula(graphs="") as fabula:
        fabula.ingest(tmp_path / "a.txt")
        assert [result.status for result in fabula.build("aspects", "One", "a.txt")] == ["added"]


def test_an_equal_file_is_tried_itself_where_the_first_one_failed(
    online: None, endpoint: Endpoint, tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(harbour_story("slept"))
    endpoint.plan = every(1, "nonsense")
    with Fabula(embedding_model=STATIC) as fabula:
        outcomes = fabula.ingest(tmp_path / "a.txt", tmp_path / "b.txt")
    assert [outcome.status for outcome in outcomes] == ["failed", "failed"]


# A run that fails


def test_nobody_goes_through_a_closed_gate_and_closing_waits_for_who_is_inside() -> None:
    gate, inside, leave = Gate(), threading.Event(), threading.Event()
    messages: list[str] = []

    def write() -> None:
        with gate:
            inside.set()
            leave.wait()
            time.sleep(0.05)
            messages.append("written")

    def close() -> None:
        gate.close()
        messages.append("closed")

    writer, closer = threading.Thread(target=write), threading.Thread(target=close)
    writer.start()
    inside.wait()
    closer.start()
    closer.join(0.1)
    assert messages == []
    leave.set()
    writer.join()
    closer.join()
    assert messages == ["written", "closed"]
    with pytest.raises(StoreError, match="try again"), gate:
        messages.append("too late")
    assert messages == ["written", "closed"]


@pytest.mark.parametrize("calls", [9, 30])
def test_when_a_run_has_failed_nothing_comes_in_any_more(
    calls: int, online: None, endpoint: Endpoint, store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.txt").write_text(harbour_story(f"slept {number} times", chapters=1))
    with Fabula(max_calls=calls, concurrency=4, cache=False) as fabula:
        with pytest.raises(BudgetSpent):
            fabula.ingest(folder)
        at_once = {entry.id for entry in fabula.documents()}
        time.sleep(0.7)
        assert {entry.id for entry in fabula.documents()} == at_once
        assert fabula.check().violations == ()


# A removal meanwhile


@pytest.mark.parametrize("seed", range(3))
def test_a_document_that_is_removed_while_it_comes_in_is_whole_or_gone(
    seed: int, graph_url: str, store: Store, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    book = tmp_path / "book.txt"
    book.write_text(harbour_story("slept"))
    failures: list[FabulaError] = []
    with Fabula(chunk_tokens=40, cache=False) as fabula:
        [old] = fabula.ingest(book)
        book.write_text(harbour_story("woke"))

        def ingest() -> None:
            try:
                fabula.ingest(book)
            except FabulaError as error:
                failures.append(error)

        other = threading.Thread(target=ingest)
        other.start()
        time.sleep(draw.uniform(0, 0.4))
        remove_document(fabula, old.document)
        other.join()
        entries = list(fabula.documents())
        assert fabula.check().violations == ()
        assert all("try again" in str(error) for error in failures)
        # The same command again gives what an undisturbed run gives.
        fabula.ingest(book)
        layers = show_document(fabula, old.document).layers
    everything = "MATCH (n:Passage|Part) RETURN count(n) AS nodes"
    [whole] = cypher(store, everything)
    assert whole["nodes"] == sum(layer.passages for layer in layers) + 2
    assert len(entries) in (0, 1)
    assert not cypher(store, "MATCH (n:Retired|Staged) RETURN n")


# Two models side by side


@pytest.fixture
def two(graph_url: str, endpoint: Endpoint, tmp_path: Path) -> tuple[Settings, Settings]:
    """Settings without a model, and with one; a book in a collection of each."""
    (tmp_path / "first.txt").write_text(harbour_story("slept"))
    (tmp_path / "second.txt").write_text(harbour_story("woke"))
    offline = Settings.read(collection="first", chunk_tokens=40)
    paid = Settings.read(
        collection="second", chunk_tokens=40, base_url=endpoint.url, api_key="sk-test"
    )
    for settings in (offline, paid):
        with Fabula(settings) as fabula:
            [outcome] = fabula.ingest(tmp_path / f"{settings.collection}.txt")
            assert outcome.status == "added"
    return offline, paid


def test_two_collections_of_two_models_live_side_by_side(
    two: tuple[Settings, Settings], endpoint: Endpoint
) -> None:
    for settings, word in zip(two, ("slept", "woke"), strict=True):
        for mode in ("collapsed", "hybrid", "naive", "top-down"):
            with Fabula(settings) as fabula:
                hits = fabula.retrieve("Who is at the harbour?", mode=mode, k=50)
                assert {hit.title for hit in hits} == {settings.collection.title()}
                assert any(word in hit.text for hit in hits)
    with App(two[0]) as app:
        assert app.collections() == ["first", "second"]
        spaces = [app.collection(name).space() for name in ("first", "second")]
        assert [(space.model, space.dimensions) for space in spaces if space] == [
            (STATIC, 256),
            ("text-embedding-3-small", endpoint.dimensions),
        ]
        assert app.collection().check().violations == ()
        assert app.collection("second").check().violations == ()


def test_the_wrong_model_names_the_collection_and_the_way_out(
    two: tuple[Settings, Settings], endpoint: Endpoint, tmp_path: Path
) -> None:
    calls = endpoint.calls
    with App(two[1]) as app:
        first = app.collection("first")
        # A question is embedded as the collection is; what comes in would be of two models.
        assert first.retrieve("Who?", mode="hybrid")
        asks: list[Callable[[], object]] = [
            lambda: first.ingest(tmp_path / "second.txt"),
            lambda: first.build("aspects", rebuild=True),
            lambda: first.ingest(tmp_path / "second.txt", dry=True),
        ]
        for ask in asks:
            with pytest.raises(SpaceError) as caught:
                ask()
            message = str(caught.value)
            assert "collection 'first'" in message
            assert f"FABULA_EMBEDDING_MODEL={STATIC}" in message
            assert (
                "fabula reembed --collection first --embedding-model text-embedding-3-small"
                in message
            )
            assert "another collection" in message
    assert endpoint.calls == calls


def test_a_dry_run_goes_into_a_new_collection_with_another_model(
    two: tuple[Settings, Settings], endpoint: Endpoint, tmp_path: Path
) -> None:
    calls = endpoint.calls
    with App(two[1]) as app:
        [outcome] = app.collection("third").ingest(tmp_path / "first.txt", dry=True)
    assert outcome.status == "added"
    assert outcome.usage.calls > 0
    assert endpoint.calls == calls
    with App(two[0]) as app:
        [outcome] = app.collection("third").ingest(tmp_path / "first.txt", dry=True)
        assert (outcome.status, outcome.usage.calls) == ("added", 0)
        assert app.collections() == ["first", "second"]
        assert app.settings.model == OFFLINE
