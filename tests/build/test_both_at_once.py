"""Two commands at once, in every pair: one result or the other, whole, and nothing paid twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from endpoint import Endpoint
from fabula import Fabula
from fabula import store as store_module
from fabula.config.settings import STATIC
from fabula.errors import StoreError
from fabula.operations.documents import drop_graph, remove_document
from fabula.server import Address
from fabula.server.private import PrivateServer
from fabula.store import Store
from fabula.store.parts import stage
from forked import Forked

pytestmark = pytest.mark.replans

PATIENCE = 300.0
"""Seconds for what takes a few: against what never ends."""
HOLDS = 90.0
"""Seconds that a call is held at most: its asker gives it up, and asks again, after 120."""
WAITS = "Another Fabula is at work on"
STAGE = """
import sys, time
from database import connect
from fabula.server import Address
from graphs import put, small_graph
with connect(Address(sys.argv[1], "", "neo4j", sys.argv[2])) as store:
    store.prepare("default", "test-model", 8)
    staged = lambda _: (print("staged", flush=True), time.sleep(600))
    store.apply(small_graph(), "test-model", staged)
"""

TESTS = Path(__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (TESTS, TESTS / "support")))}
"""That of programs which import what tests share."""

LEAVES = """
import sys, threading, time
from database import connect
from fabula.server import Address
for _ in range(3):
    store = connect(Address(sys.argv[1], "", "neo4j", sys.argv[2]))
    sends = lambda: store.rows("core/find_space", collection="long" * 5_000_000)
    threading.Thread(target=sends, daemon=True).start()
    time.sleep(0.05)
    store.close()
    print("closed", flush=True)
"""


def story(season: str) -> str:
    return "\n\n".join(
        f"CHAPTER {number}\n\n"
        + " ".join(
            f"{name} walked to the {place} on day {number} of the {season}, and told nobody why."
            for name, place in (("Anna", "harbour"), ("Boris", "mill"), ("Clara", "church"))
        )
        for number in range(1, 7)
    )


class Held(Endpoint):
    """An endpoint that answers nothing before it is let go."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.go = threading.Event()
        self.raw = self.wait

    def wait(self, *_: object) -> None:
        self.go.wait(HOLDS)

    def until(self, calls: int) -> None:
        until(lambda: self.calls >= calls, "the endpoint was not called")

    @property
    def repeated(self) -> int:
        """The calls that were made before."""
        counts = Counter(json.dumps(body, sort_keys=True) for body in self.bodies)
        return counts.total() - len(counts)


def until(happened: Callable[[], bool], otherwise: str) -> None:
    late = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < late, otherwise
        time.sleep(0.01)


class Typed(Forked):
    """`fabula` in a process of its own; `settings` go into its environment."""

    def __init__(self, file: Path, *words: str | Path, **settings: str) -> None:
        own = {f"FABULA_{name}".upper(): one for name, one in settings.items()}
        super().__init__(file, *words, environment=os.environ | own)

    def says(self, words: str) -> None:
        until(lambda: words in self.output or self.poll() is not None, self.output)
        assert words in self.output

    def end(self) -> tuple[int, str]:
        code = self.wait(PATIENCE)
        assert "Traceback" not in self.output
        return code, self.output


Begin = Callable[..., Typed]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    with Held() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        for name in ("CHUNK_TOKENS=40", "LEVELS=1", "DETAILS=1", "CONCURRENCY=2"):
            monkeypatch.setenv(*f"FABULA_{name}".split("=")[:2])
        monkeypatch.setenv("FABULA_EMBEDDING_MODEL", STATIC)
        yield endpoint
        endpoint.go.set()


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Types commands; what still runs at the end is ended."""
    typed: list[Typed] = []

    def start(*words: str | Path, **settings: str) -> Typed:
        typed.append(Typed(tmp_path / f"said {len(typed)}", *words, **settings))
        return typed[-1]

    yield start
    for one in typed:
        one.kill()
        one.wait()


@pytest.fixture
def winter(tmp_path: Path) -> Path:
    path = tmp_path / "winter.txt"
    path.write_text(story("winter"))
    return path


def is_whole(season: str, store: Store) -> None:
    """One document, of that season, sound, and nothing beside it."""
    with Fabula() as fabula:
        found = fabula.check()
        assert (found.documents, found.violations, found.notes) == (1, (), ())
        assert found.graphs == {"aspects": 1}
    rows = cypher(store, "MATCH (n:Chunk) RETURN n.text CONTAINS $season AS its", season=season)
    assert rows
    assert all(row["its"] for row in rows)
    assert not cypher(store, "MATCH (n:Staged|Retired) RETURN n")
    assert not cypher(store, "MATCH (n:Lock) WHERE NOT n.id =~ '[0-9a-f]+/[0-9]+' RETURN n")


# One process waits for the other


@pytest.mark.parametrize("name", ["winter.txt", "copy.txt"], ids=["document", "text"])
def test_a_second_ingest_of_the_same_waits_and_pays_nothing(
    graph_url: str, store: Store, held: Held, begin: Begin, winter: Path, name: str
) -> None:
    same = winter.with_name(name)
    same.write_text(winter.read_text())
    first = begin("ingest", winter)
    held.until(2)
    # A cache of its own: no reply of the first one's would save it a call.
    second = begin("ingest", same, cache_folder=f"{winter.parent}/other cache")
    second.says(WAITS)
    assert held.calls == 2
    held.go.set()
    code, said = first.end()
    assert (code, "1 added" in said) == (0, True), said
    code, said = second.end()
    assert (code, "1 unchanged" in said, said.count(WAITS)) == (0, True, 1), said
    assert held.repeated == 0
    is_whole("winter", store)


def test_a_build_waits_for_an_ingest_and_takes_what_it_made(
    graph_url: str, store: Store, held: Held, begin: Begin, winter: Path
) -> None:
    held.go.set()
    assert begin("ingest", winter).end()[0] == 0
    held.go.clear()
    winter.write_text(story("summer"))
    calls = held.calls
    first = begin("ingest", winter)
    held.until(calls + 2)
    second = begin("build", "aspects", "--set", "aspects.levels=2")
    second.says(WAITS)
    held.go.set()
    assert first.end()[0] == 0
    code, said = second.end()
    assert (code, "1 replaced" in said) == (0, True), said
    assert held.repeated == 0
    is_whole("summer", store)


def test_other_documents_are_made_side_by_side(
    graph_url: str, store: Store, held: Held, begin: Begin, winter: Path
) -> None:
    summer = winter.with_name("summer.txt")
    summer.write_text(story("summer"))
    first = begin("ingest", winter)
    held.until(2)
    second = begin("ingest", summer)
    held.until(4)
    held.go.set()
    for one in (first, second):
        code, said = one.end()
        assert (code, "1 added" in said, WAITS in said) == (0, True, False), said
    with Fabula() as fabula:
        found = fabula.check()
    assert (found.documents, found.violations, found.notes) == (2, (), ())


def test_whoever_waits_for_a_killed_one_goes_on_at_once(
    graph_url: str, store: Store, held: Held, begin: Begin, winter: Path
) -> None:
    first = begin("ingest", winter)
    held.until(2)
    second = begin("ingest", winter)
    second.says(WAITS)
    first.kill()
    held.until(4)
    held.go.set()
    code, said = second.end()
    assert (code, "1 added" in said) == (0, True), said
    is_whole("winter", store)


def test_ctrl_c_ends_the_waiting(
    graph_url: str, store: Store, held: Held, begin: Begin, winter: Path
) -> None:
    first = begin("ingest", winter)
    held.until(2)
    second = begin("ingest", winter)
    second.says(WAITS)
    second.interrupt()
    code, said = second.end()
    assert (code, "0 documents are done, 1 was under way" in said) == (130, True), said
    held.go.set()
    assert first.end()[0] == 0
    is_whole("winter", store)


def test_a_store_is_closed_though_another_thread_is_sending_a_statement(address: Address) -> None:
    # Ctrl-C waits for no thread, and in the middle of a statement the driver fails to close.
    command = [sys.executable, "-c", LEAVES, address.uri, address.password]
    left = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert (left.returncode, left.stdout) == (0, "closed\n" * 3), left.stderr


def test_what_a_killed_client_staged_is_swept_by_the_next_and_a_slow_ones_is_not(
    ready: Store, address: Address
) -> None:
    command = [sys.executable, "-c", STAGE, address.uri, address.password]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT) as slow:
        assert slow.stdout is not None
        slow.stdout.readline()
        staged = "MATCH (n:Staged) RETURN count(n) AS count"
        before = cypher(ready, staged)
        assert before != [{"count": 0}]
        ready.prepare("default", "test-model", 8)
        assert cypher(ready, staged) == before
        slow.kill()
    # The server learns of it by itself, and needs a moment for that.
    until(lambda: ready.find_abandoned_runs() != [], "the server keeps a dead client's turn")
    ready.prepare("default", "test-model", 8)
    assert cypher(ready, staged) == [{"count": 0}]


# One command begins and ends while the other is about to switch in what it has staged


def edited(winter: Path, monkeypatch: pytest.MonkeyPatch, other: Callable[[], Any]) -> None:
    """The document comes in, is edited, and comes in again, `other` being done meanwhile."""

    def staged(*given: Any, **named: Any) -> Any:
        out = stage(*given, **named)
        monkeypatch.setattr(store_module, "stage", stage)
        other()
        return out

    with Fabula() as fabula:
        fabula.ingest(winter)
        winter.write_text(story("summer"))
        monkeypatch.setattr(store_module, "stage", staged)
        fabula.ingest(winter)


@pytest.fixture
def let_go(graph_url: str, held: Held) -> None:
    held.go.set()


@pytest.mark.usefixtures("let_go")
@pytest.mark.parametrize("what", ["remove", "drop"])
def test_what_is_removed_while_it_is_replaced_comes_in_whole(
    store: Store, winter: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def take_out() -> None:
        with Fabula() as fabula:
            remove_document(fabula, "winter.txt") if what == "remove" else drop_graph(
                fabula, "aspects"
            )

    edited(winter, monkeypatch, take_out)
    is_whole("summer", store)


@pytest.mark.usefixtures("let_go")
def test_what_is_dropped_while_it_is_built_comes_in_whole(
    store: Store, winter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def staged(*given: Any, **named: Any) -> Any:
        out = stage(*given, **named)
        with Fabula() as other:
            drop_graph(other, "aspects")
        return out

    with Fabula() as fabula:
        fabula.ingest(winter)
        monkeypatch.setattr(store_module, "stage", staged)
        [outcome] = fabula.build("aspects", rebuild=True)
    assert outcome.status == "replaced"
    is_whole("winter", store)


@pytest.mark.usefixtures("let_go")
def test_an_ingest_that_has_lost_its_turn_is_told_and_the_old_document_stays(
    store: Store, winter: Path, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    def restart() -> None:
        cypher(
            store,
            "SHOW TRANSACTIONS YIELD transactionId AS id, metaData "
            "WHERE any(name IN metaData.fabula_turn WHERE name STARTS WITH 'document') "
            "TERMINATE TRANSACTIONS id YIELD message RETURN message",
        )

    with pytest.raises(StoreError, match=r"connection .* was lost.*Try again"):
        edited(winter, monkeypatch, restart)
    with Fabula() as fabula:
        fabula.ingest(winter)
    assert held.repeated == 0
    is_whole("summer", store)


# The server goes away


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a private server."""
    home = tmp_path_factory.mktemp("both") / "home"
    yield home
    PrivateServer(home, "512m", "128m").destroy(programs=True)


@pytest.mark.nightly
@pytest.mark.parametrize("what", ["stop", "load", "destroy"])
def test_an_ingest_whose_server_goes_away_ends_with_a_sentence_and_goes_on(
    home: Path, held: Held, begin: Begin, winter: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_HOME", str(home))
    monkeypatch.setenv("FABULA_NEO4J_HEAP", "512m")
    server = PrivateServer(home, "512m", "128m")
    server.start()
    if what == "load":
        server.dump(home.with_name("file"))
    first = begin("ingest", winter)
    held.until(2)
    words = {"stop": ("--yes",), "load": (home.with_name("file"), "--yes"), "destroy": ("--yes",)}[
        what
    ]
    # Two loads at once: the second waits for the first.
    for one in [begin("db", what, *words) for _ in range(2 if what == "load" else 1)]:
        assert one.end()[0] == 0
    held.go.set()
    code, said = first.end()
    assert (code, "ry again in a moment" in said) == (1, True), said
    with Fabula() as fabula:
        [outcome] = fabula.ingest(winter)
        assert outcome.status == "added"
        assert fabula.check().violations == ()
        remove_document(fabula, "winter.txt")
    assert held.repeated == 0
