"""Parts are staged while models are asked for the others: the same graph, and nothing is left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.build import early_writer
from fabula.config.settings import STATIC
from fabula.errors import FabulaError, StoreError
from fabula.models.stop import Stop
from fabula.store import Store, parts, reembedding
from worker_runs import book, graph_of, statuses, until

pytestmark = pytest.mark.replans

GRAPHS = "aspects,entities,communities"
STAGED = "MATCH (n:Staged) WHERE NOT n:Passage RETURN count(n) AS count"
HOLDS = 90.0


def staged(store: Store) -> int:
    [row] = cypher(store, STAGED)
    return int(row["count"])


class HeldChat(Endpoint):
    """An endpoint that embeds at once, and chats once it is let go."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.go = threading.Event()
        self.raw = self.wait

    def wait(self, _number: int, body: dict[str, Any]) -> None:
        if "messages" in body:
            self.go.wait(HOLDS)


@pytest.fixture
def held(graph_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldChat]:
    with HeldChat() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        for name in ("CHUNK_TOKENS=40", "LEVELS=1", "DETAILS=1", "CONCURRENCY=4"):
            monkeypatch.setenv(*f"FABULA_{name}".split("=")[:2])
        monkeypatch.setenv("FABULA_EMBEDDING_MODEL", STATIC)
        yield endpoint
        endpoint.go.set()


@pytest.fixture
def winter(tmp_path: Path) -> Path:
    path = tmp_path / "winter.txt"
    path.write_text(book("the north", 3))
    return path


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_writer, "MIN_EARLY_PASSAGES", 1)


def ingest_beside(winter: Path) -> tuple[threading.Thread, list[str]]:
    """Ingest in a thread; what became of it, once the thread has ended."""
    outcomes: list[str] = []

    def ingest() -> None:
        with Fabula() as fabula:
            try:
                outcomes.extend(statuses(fabula.ingest(winter)))
            except FabulaError as error:
                outcomes.append(type(error).__name__)

    thread = threading.Thread(target=ingest)
    thread.start()
    return thread, outcomes


def is_sound(store: Store) -> None:
    with Fabula(graphs=GRAPHS) as fabula:
        findings = fabula.check()
        assert (findings.documents, findings.violations, findings.notes) == (1, (), ())
    assert not cypher(store, "MATCH (n:Staged|Retired) RETURN n")


@pytest.mark.usefixtures("online")
def test_the_graph_is_the_same_id_for_id(
    winter: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, ...]] = []
    stage = Store.stage_early

    def note(self: Store, parts: Any, *others: Any) -> Any:
        seen.append(tuple(part.owner.graph for part in parts))
        return stage(self, parts, *others)

    monkeypatch.setattr(Store, "stage_early", note)
    with Fabula(graphs=GRAPHS, cache=False) as fabula:
        assert statuses(fabula.ingest(winter)) == ["added"]
        late = graph_of(fabula)
        assert seen == [], "a short text is staged at once"
        monkeypatch.setattr(early_writer, "MIN_EARLY_PASSAGES", 1)
        assert statuses(fabula.ingest(winter, rebuild=True)) == ["replaced"]
        assert seen[0][0] == "text"
        assert graph_of(fabula) == late
        winter.write_text(book("the south", 2))
        assert statuses(fabula.ingest(winter)) == ["replaced"]
        assert fabula.check().violations == ()
    is_sound(store)


def test_a_document_that_fails_leaves_nothing(
    graph_url: str, winter: Path, store: Store, early: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, counts = threading.Event(), []
    stage = Store.stage_early

    def note(self: Store, *given: Any) -> Any:
        result = stage(self, *given)
        counts.append(staged(store))
        written.set()
        return result

    def wait(_: int, body: dict[str, Any]) -> None:
        if "messages" in body:
            written.wait(HOLDS)

    monkeypatch.setattr(Store, "stage_early", note)
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", STATIC)
    # No reply of the model can be used, and so the document fails, but not the run.
    with Endpoint(plan=lambda _: "nonsense", raw=wait) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        with Fabula(attempts=1) as fabula:
            assert statuses(fabula.ingest(winter)) == ["failed"]
            assert list(fabula.documents()) == []
    assert counts[0] > 0
    assert staged(store) == 0


END_LOCK = """
SHOW TRANSACTIONS YIELD transactionId AS id, metaData
WHERE any(name IN metaData.fabula_turn WHERE name STARTS WITH 'document')
TERMINATE TRANSACTIONS id YIELD message
RETURN message
"""


def begin_to_embed(store: Store) -> None:
    reembedding.begin(store, "default", "another", 8)


def give_up_embedding(store: Store) -> None:
    for step in (reembedding.give_up, reembedding.clear):
        space = store.space("default")
        assert space is not None
        step(store, space)


def lose_lock(store: Store) -> None:
    assert cypher(store, END_LOCK)


@pytest.mark.parametrize(
    "change, undo, error",
    [
        (begin_to_embed, give_up_embedding, "SpaceError"),
        (lose_lock, lambda _: None, "StoreError"),
    ],
)
def test_what_ends_an_ingest_meanwhile_leaves_nothing_for_good(
    held: HeldChat,
    winter: Path,
    store: Store,
    early: None,
    change: Callable[[Store], None],
    undo: Callable[[Store], None],
    error: str,
) -> None:
    thread, outcomes = ingest_beside(winter)
    until(lambda: staged(store) > 0, "nothing was staged while the model is asked")
    change(store)
    held.go.set()
    thread.join()
    assert outcomes == [error]
    assert not cypher(store, "MATCH (n:Passage|Document|Part) RETURN n")
    # Who has lost the lock leaves that to the next run: the server may be gone.
    assert staged(store) == 0 or error == "StoreError"
    undo(store)
    with Fabula() as fabula:
        assert statuses(fabula.ingest(winter)) == ["added"]
    is_sound(store)


def test_a_run_that_is_stopped_deletes_what_it_has_staged(
    held: HeldChat, winter: Path, store: Store, early: None
) -> None:
    stop = Stop()
    with ThreadPoolExecutor(1) as pool, Fabula() as fabula:
        outcomes = pool.submit(fabula.ingest, winter, stop=stop)
        until(lambda: staged(store) > 0, "nothing was staged while the model is asked")
        stop.set()
        held.go.set()
        assert statuses(outcomes.result()) == ["stopped"]
    assert not cypher(store, "MATCH (n:Staged|Passage|Document|Part) RETURN n")


@pytest.mark.usefixtures("online")
def test_staging_that_fails_in_the_middle_is_begun_again(
    winter: Path, store: Store, early: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "SMALL_ROWS", 0)
    stage, counts = Store.stage_early, []

    def count(_: int) -> None:
        counts.append(staged(store))
        raise StoreError("The server is not there.")

    def fail(self: Store, parts: Any, model: str, lock: Any, before: Any, _: object) -> Any:
        return stage(self, parts, model, lock, before, count)

    with Fabula(graphs=GRAPHS, cache=False) as fabula:
        assert statuses(fabula.ingest(winter)) == ["added"]
        whole = graph_of(fabula)
        monkeypatch.setattr(Store, "stage_early", fail)
        assert statuses(fabula.ingest(winter, rebuild=True)) == ["replaced"]
        assert counts[0] > 0
        assert graph_of(fabula) == whole
    is_sound(store)


def test_graphs_whose_gaps_are_asked_for_again_are_whole(
    graph_url: str, winter: Path, store: Store, early: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", STATIC)
    monkeypatch.setattr("fabula.graph.gaps.MAX_SHARE", 1.0)
    winter.write_text(book("the north", 3) + " Zyx the whale sang to the moon.")
    with Endpoint() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        with Fabula(graphs=GRAPHS, cache=False, chunk_tokens=40, attempts=1) as fabula:
            assert statuses(fabula.ingest(winter)) == ["added"]
            endpoint.withheld = {("Zyx the whale",): "nonsense"}
            [outcome] = fabula.ingest(winter, rebuild=True)
            assert outcome.status == "replaced"
            assert outcome.gaps
            endpoint.withheld = {}
            [again] = fabula.renew("gaps")
            assert (again.status, again.gaps) == ("replaced", ())
            assert "aspects" in again.graphs
    is_sound(store)
