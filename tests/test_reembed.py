"""Another embedding model for a whole graph: questions go on, and a stopped run is taken up."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import connect, cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula.cli import main
from fabula.doctor import examine
from fabula.errors import ModelError, NotFound, SpaceError, StoreError
from fabula.model import DocumentGraph, Filters, Vector
from fabula.reembed import Reembedded
from fabula.server import Address
from fabula.settings import STATIC
from fabula.store import Store, reembedding
from fabula.store.space import Space
from graphs import Passage, small_graph

STATEMENTS = (
    "switch_reembedding_on",
    "find_to_embed",
    "save_next_embeddings",
    "schema_passage_vectors_next",
    "switch_space",
    "schema_drop_passage_vectors",
    "schema_passage_vectors",
    "switch_clearing_on",
    "schema_drop_passage_vectors_next",
    "switch_reembedding_off",
)
"""A run's, in order; what lies between two of them is found undone by the next run."""
KNOWN: dict[str, Any] = {
    "model": "offline",
    "chunk_tokens": 40,
    "levels": 0,
    "details": 1,
    "embedding_batch": 16,
}
"""Settings that make a graph fast."""
STORY = "\n\n".join(
    f"CHAPTER {number}\n\n"
    + " ".join(
        f"{name} walked to the {place} of town {day} in the long winter, and told nobody why."
        for day, (name, place) in enumerate(
            [("Anna", "harbour"), ("Boris", "mill"), ("Clara", "church"), ("Dmitri", "forest")] * 3
        )
    )
    for number in ("I", "II", "III")
)


class Crash(BaseException):
    """Stands for whatever ends a process; nothing catches it."""


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
    """A book and a graph with trees, in the static space; other tests find all as they know it."""
    path = tmp_path / "winter.txt"
    path.write_text(f"Title: Winter\nAuthor: Nobody\nLanguage: en\n\n{STORY}")
    with fabula() as service:
        [outcome] = service.ingest(path)
        store.replace(_static(small_graph(), service), service._kit.built_with)
    assert outcome.chunks > 10
    yield path
    cypher(store, "DROP INDEX passage_vectors_next IF EXISTS")
    cypher(store, "MATCH (s:EmbeddingSpace) REMOVE s.phase, s.next_model, s.next_dimensions")


def _static(graph: DocumentGraph, service: Fabula) -> DocumentGraph:
    def embedded(passages: Sequence[Passage]) -> tuple[Passage, ...]:
        rows = service._kit.embedder.embed([one.text for one in passages]).vectors
        return tuple(replace(one, embedding=row) for one, row in zip(passages, rows, strict=True))

    return replace(
        graph,
        chunks=embedded(graph.chunks),
        summaries=embedded(graph.summaries),
        details=embedded(graph.details),
    )


def fabula(server: Endpoint | None = None, model: str = "m", **flags: Any) -> Fabula:
    """A service that writes offline, and embeds with `model` at `server` or with static vectors."""
    known = KNOWN | flags
    if server is None:
        return Fabula(embedding_model=STATIC, **known)
    return Fabula(embedding_model=model, base_url=server.url, api_key="sk-test", **known)


def reembed(server: Endpoint | None = None, model: str = "m", **flags: Any) -> Reembedded:
    with fabula(server, model, **flags) as service:
        return service.reembed()


def passages(store: Store) -> int:
    [row] = cypher(store, "MATCH (n:Chunk|Summary|Detail) RETURN count(*) AS count")
    return int(row["count"])


def space(store: Store) -> Space:
    found = store.space()
    assert found is not None
    return found


def is_canonical(store: Store, model: str, dimensions: int) -> None:
    """One property, one index, one model, and nothing left of how it came to that."""
    now = space(store)
    assert (now.model, now.dimensions, now.phase, now.next_model) == (model, dimensions, "", "")
    [row] = cypher(
        store,
        "MATCH (n:Chunk|Summary|Detail) RETURN count(n.next_embedding) AS next, "
        "collect(DISTINCT size(n.embedding)) AS sizes",
    )
    assert row == {"next": 0, "sizes": [dimensions]}
    indexes = cypher(
        store,
        "SHOW INDEXES YIELD name, type, state, properties, options WHERE type = 'VECTOR' "
        "RETURN name, state, properties[0] AS property, options.indexConfig AS config",
    )
    assert [(row["name"], row["state"], row["property"]) for row in indexes] == [
        ("passage_vectors", "ONLINE", "embedding")
    ]
    config = indexes[0]["config"]
    assert config["vector.dimensions"] == dimensions
    assert config["vector.quantization.type"] == "NONE"
    settings = {entry.settings["embedding_model"] for entry in store.documents()}
    assert settings <= {model}


def finds_each_passage(store: Store, service: Fabula) -> None:
    """The nearest to a text's own vector says just that text; of every fourth."""
    embedder = service._kit.embedder
    rows = cypher(store, "MATCH (n:Chunk|Summary|Detail) RETURN n.text AS text ORDER BY n.id")
    for text in [row["text"] for row in rows[::4]]:
        [vector] = embedder.embed([text.strip()]).vectors
        hits = store.nearest(vector, 5, Filters(), embedder.model)
        assert hits[0].score == pytest.approx(1, abs=1e-4)
        assert text in {hit.text for hit in hits if hit.score > hits[0].score - 1e-4}


# The whole way


def test_a_graph_takes_another_model_and_finds_each_passage_in_it(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    done = reembed(endpoint)
    assert (done.model, done.dimensions, done.passages) == ("m", 48, passages(store))
    assert done.usage.calls == endpoint.calls >= done.passages / 16
    is_canonical(store, "m", 48)
    with fabula(endpoint) as service:
        finds_each_passage(store, service)


def test_and_back_to_static_vectors_which_cost_nothing(
    story: Path, store: Store, wide: Endpoint
) -> None:
    with fabula() as service:
        question = service._kit.embedder.embed(["Anna walked to the harbour"]).vectors[0]
    before = store.nearest(question, 10, Filters(), STATIC)
    reembed(wide)
    is_canonical(store, "m", 256)
    assert reembed().usage.calls == 0
    is_canonical(store, STATIC, 256)
    assert store.nearest(question, 10, Filters(), STATIC) == before


def test_one_model_with_other_dimensions_is_another_space(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    reembed(endpoint)
    endpoint.dimensions = 32
    with fabula(endpoint, details=2, cache=False) as service:
        with pytest.raises(SpaceError, match="reembed --embedding-model m`"):
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


def test_a_model_that_is_not_there_leaves_the_graph_alone(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    endpoint.models = ["other"]
    with pytest.raises(ModelError, match="'m' does not exist"):
        reembed(endpoint)
    is_canonical(store, STATIC, 256)


def test_a_model_that_is_gone_is_found_out_though_its_vectors_are_kept(
    story: Path, store: Store, endpoint: Endpoint
) -> None:
    reembed(endpoint)
    reembed()
    endpoint.models = ["other"]
    with pytest.raises(ModelError, match="'m' does not exist"):
        reembed(endpoint)
    is_canonical(store, STATIC, 256)


def test_who_asks_with_another_model_is_told_the_cure(story: Path, endpoint: Endpoint) -> None:
    cure = f"FABULA_EMBEDDING_MODEL={STATIC}, or run `fabula reembed --embedding-model m`"
    with fabula(endpoint) as service, pytest.raises(SpaceError, match=cure):
        service.retrieve("Who walked?")


def test_the_command_says_what_it_did(
    story: Path, store: Store, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    known = ["--base-url", endpoint.url, "--embedding-model", "m", "--embedding-batch", "64"]
    main(["reembed", *known], standalone_mode=False)
    said = capsys.readouterr().out
    assert f"embeddings of m, 48 dimensions: {passages(store)} passages embedded" in said
    assert f"{endpoint.calls} calls" in said


# Meanwhile


class Reader(threading.Thread):
    """Asks for one passage in both spaces, over and over, with a store that stays open."""

    def __init__(self, address: Address, asked: dict[str, Vector], text: str) -> None:
        super().__init__(daemon=True)
        self.address, self.asked, self.text = address, asked, text
        self.answered: list[tuple[str, ...]] = []
        self.wrong: list[str] = []
        self.slowest = 0.0
        self.stop = threading.Event()

    def run(self) -> None:
        with connect(self.address) as store:
            while not self.stop.is_set():
                # The old one first: a swap between the two answers both, and never none.
                self.answered.append(
                    tuple(m for m, vector in self.asked.items() if self._finds(store, m, vector))
                )

    def _finds(self, store: Store, model: str, vector: Vector) -> bool:
        began = time.monotonic()
        try:
            hits = store.nearest(vector, 3, Filters(), model)
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
            service.embedding_model: service._kit.embedder.embed([row["text"].strip()]).vectors[0]
            for service in (old, new)
        }
        reader = Reader(address, asked, row["text"])
        reader.start()
        while not reader.answered:
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
        with pytest.raises(SpaceError, match="FABULA_EMBEDDING_MODEL=m"):
            service.retrieve("Who walked?")


def test_documents_come_in_again_when_it_has_ended(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "schema_passage_vectors_next", endpoint)
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
    late = Store.replace

    def begun(self: Store, *given: Any) -> None:
        if has_ended:
            reembed(wide)
        else:
            stop(monkeypatch, "find_to_embed", wide)
        late(self, *given)

    monkeypatch.setattr(Store, "replace", begun)
    said = "was given embeddings of m" if has_ended else "is being re-embedded with m"
    with fabula() as service, pytest.raises(SpaceError, match=said):
        service.ingest(other)
    assert passages(store) == count
    reembed(wide)
    is_canonical(store, "m", 256)


def test_a_document_may_be_removed_while_it_is_under_way(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "schema_passage_vectors_next", endpoint)
    with fabula() as service:
        service.remove("Winter")
    reembed(endpoint)
    is_canonical(store, "m", 48)


def test_a_second_run_at_once_is_refused(story: Path, store: Store, endpoint: Endpoint) -> None:
    with reembedding.turn(store), pytest.raises(StoreError, match="Another `fabula reembed`"):
        reembed(endpoint)
    reembed(endpoint)
    is_canonical(store, "m", 48)


# Stopped and taken up again


def stop(monkeypatch: pytest.MonkeyPatch, statement: str, server: Endpoint | None = None) -> None:
    """A run that ends just before `statement`, as if its process had been killed there."""
    rows = Store.rows

    def crashing(self: Store, name: str, **parameters: Any) -> list[dict[str, Any]]:
        if name == statement:
            raise Crash
        return rows(self, name, **parameters)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "rows", crashing)
        with pytest.raises(Crash):
            reembed(server)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_stopped_anywhere_the_same_command_goes_on(
    story: Path,
    store: Store,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
) -> None:
    stop(monkeypatch, statement, endpoint)
    swapped = STATEMENTS.index(statement) > STATEMENTS.index("switch_space")
    with fabula(endpoint) if swapped else fabula() as service:
        assert service.retrieve("Who walked to the harbour?")
    with fabula() if swapped else fabula(endpoint) as service, pytest.raises(SpaceError):
        service.retrieve("Who walked to the harbour?")
    reembed(endpoint)
    is_canonical(store, "m", 48)
    with fabula(endpoint) as service:
        finds_each_passage(store, service)


@pytest.mark.parametrize(
    "statement",
    ["find_to_embed", "switch_space", "schema_passage_vectors", "switch_reembedding_off"],
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


def test_who_was_stopped_after_giving_up_is_told_to_go_on_with_the_old_model(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "find_to_embed", endpoint)
    stop(monkeypatch, "schema_drop_passage_vectors_next")
    said = f"is being re-embedded with {STATIC}.*run `fabula reembed --embedding-model {STATIC}`"
    with fabula() as service:
        with pytest.raises(SpaceError, match=said):
            service.ingest(story)
        assert service.check().notes == (f"The graph is being re-embedded with {STATIC}.",)
        assert [one.well for one in examine(service) if one.name == "indexes"] == [True]
    reembed()
    is_canonical(store, STATIC, 256)


@pytest.mark.parametrize(
    ("statement", "online"),
    [
        ("find_to_embed", "passage_vectors online, passage_texts online"),
        ("switch_clearing_on", "passage_vectors_next online, passage_texts online"),
    ],
)
def test_the_doctor_looks_at_the_index_that_questions_are_answered_from(
    story: Path,
    store: Store,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    online: str,
) -> None:
    stop(monkeypatch, statement, endpoint)
    with fabula(endpoint) as service:
        [check] = [one for one in examine(service) if one.name == "indexes"]
        assert (check.well, check.says) == (True, online)
        index = online.split()[0]
        cypher(store, f"DROP INDEX {index}")
        [check] = [one for one in examine(service) if one.name == "indexes"]
    assert not check.well
    cure = "run `fabula reembed --embedding-model m`, which goes on"
    assert check.says == f"{index} is missing: {cure}"
    reembed(endpoint)
    is_canonical(store, "m", 48)


def test_a_third_model_takes_the_place_of_one_that_was_stopped(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "switch_space", endpoint)
    reembed(endpoint, "third")
    is_canonical(store, "third", 48)


def test_what_was_embedded_before_a_failure_is_not_asked_for_again(
    story: Path, store: Store, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, "schema_passage_vectors_next", endpoint)
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
    story: Path, store: Store, address: Address, endpoint: Endpoint
) -> None:
    count = passages(store)
    endpoint.delay = 0.3
    command = [str(Path(sys.executable).with_name("fabula")), "reembed", "--base-url", endpoint.url]
    known = ["--embedding-model", "m", "--embedding-batch", "8", "--concurrency", "2"]
    for wait in (0.1, 0.5):
        calls = endpoint.calls
        process = subprocess.Popen([*command, *known], stdout=subprocess.DEVNULL)
        while endpoint.calls < calls + 2:
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
    endpoint.delay = 0.0
    reembed(endpoint)
    is_canonical(store, "m", 48)
    asked = sum(len(body["input"]) for body in endpoint.bodies)
    # Beside the word that tells the dimensions: what was under way when each was killed.
    assert asked <= count + 3 + 2 * 2 * 8
