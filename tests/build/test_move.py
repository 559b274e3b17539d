"""A collection is moved between two Neo4j servers, and is whole wherever that is interrupted."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

import pytest

from database import connect, cypher
from fabula import App
from fabula.app import server_pool
from fabula.build import move as move_module
from fabula.errors import CollectionMoved, FabulaError, NotFound, SpaceError, Stopped, StoreError
from fabula.graph.annotations import Annotation, LayerRecord, make_layer
from fabula.graph.decisions import Decision
from fabula.graph.hits import Filters
from fabula.graph.installed import graphs
from fabula.graph.queries import read_statement
from fabula.models.stop import Stop
from fabula.store import Store, collection_copy, database, locks, parts, server_registry
from fabula.store.annotations import edit_layer, read_layers
from fabula.store.decisions import save_decision
from fabula.store.integrity import check
from fabula.store.locks import process_lock
from fabula.store.server_registry import CollectionPlace, move_lock, read_registry
from fabula.text.anchoring import TextQuote
from forked import Forked
from graphs import (
    DIMENSIONS,
    MODEL,
    begin_collection,
    names_of,
    nodes,
    put,
    settled_of,
    small_cast,
    small_communities,
    small_discourse,
    small_graph,
    vector,
)
from two_servers import NOTHING, SHELF, TwoServers, belongings, start_two

pytestmark = pytest.mark.own_server
NAME = "novels / of 'two'"
"""A collection whose name is a beginning of another's."""
NEIGHBOUR = "novels"
SERVERS_PAGE = Path(__file__).parents[2] / "docs" / "servers.md"


class Crash(BaseException):
    """The process was killed."""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoServers]:
    two, servers = start_two(tmp_path_factory.mktemp("two"))
    yield two
    for server in servers:
        server.destroy()


@pytest.fixture
def app(two: TwoServers, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """A library of two servers; a collection and its neighbour are at home."""
    two.wipe()
    two.name_in(monkeypatch)
    with App() as app:
        two.add(app)
        fill(app.home_store, NAME)
        fill(app.home_store, NEIGHBOUR)
        yield app


@pytest.fixture
def other(two: TwoServers) -> Iterator[Store]:
    with connect(two.other) as store:
        yield store


def fill(store: Store, name: str) -> None:
    """Two books with all kinds of parts, a part of the whole collection, and a decision."""
    begin_collection(store, name)
    for source in ("a.txt", "b.txt"):
        made = small_graph(source, collection=name)
        cast = small_cast(made)
        told = small_communities(cast, [node.id for node in nodes(made, "Chunk")])
        put(store, [*made, names_of(made), cast, told, small_discourse(made)])
    put(store, [settled_of(names_of(made))])
    save_decision(store, name, Decision(1, "entities", "rename", ("Anna", "Ann"), by="me"), 0)
    annotate(store, name)


def annotate(store: Store, name: str, count: int = 3) -> None:
    """Notes on the first document, in several slices."""
    [entry, *_] = store.documents(name)
    quote = TextQuote("Anna")
    notes = (Annotation(quote, body=f"Note {number}", id=str(number)) for number in range(count))
    layer = make_layer(LayerRecord("notes", entry.id, by="me"), notes)
    edit_layer(store, name, entry.id, "notes", lambda _: layer)


def faults(store: Store, name: str) -> list[str]:
    """The invariants that `fabula check` finds broken; the reports made by hand break one."""
    return [fault.invariant for fault in check(store, graphs().values(), name).violations]


def move(app: App, server: str, name: str = NAME, stop: Stop | None = None) -> int:
    return app.collection(name).move(server, stop=stop, pause=0).nodes


def test_everything_is_moved_and_moved_back(app: App, other: Store) -> None:
    whole, neighbour = belongings(app.home_store, NAME), belongings(app.home_store, NEIGHBOUR)
    before = faults(app.home_store, NAME)
    assert len(whole[0]) > 80 and len(whole[1]) > 100 and len(whole[2]) == 1
    assert move(app, SHELF) == len(whole[0])
    assert belongings(other, NAME) == whole
    assert belongings(app.home_store, NAME) == NOTHING
    assert belongings(app.home_store, NEIGHBOUR) == neighbour
    assert app.collection(NAME).server == SHELF
    assert app.collections() == sorted([NAME, NEIGHBOUR])
    assert faults(app.home_store, NEIGHBOUR) == faults(other, NAME) == before
    hits = app.collection(NAME).store.nearest(vector(0), 3, Filters(NAME), MODEL)
    assert hits[0].score == pytest.approx(1, abs=1e-4)
    move(app, "home")
    assert belongings(app.home_store, NAME) == whole
    assert belongings(other, NAME) == NOTHING
    assert read_registry(app.home_store).places == {}
    assert app.collection(NAME).server == "home"
    # It takes changes again.
    put(app.home_store, small_graph("c.txt", collection=NAME))


def statements(monkeypatch: pytest.MonkeyPatch, last: int) -> list[str]:
    """Count the statements that are sent from now on, and crash before number `last`."""
    sent: list[str] = []

    def counting(name: str) -> str:
        if len(sent) == last:
            raise Crash
        sent.append(name)
        return read_statement(name)

    import fabula.store as store_module

    modules = (store_module, database, collection_copy, locks, parts, server_registry)
    for module in modules:
        monkeypatch.setattr(module, "read_statement", counting)
    return sent


def test_a_move_that_is_killed_before_any_of_its_statements_goes_on(
    app: App, two: TwoServers, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = belongings(app.home_store, NAME)
    monkeypatch.setattr(collection_copy, "NODES_PER_SLICE", 40)
    move(app, SHELF)
    with monkeypatch.context() as patched:
        sent = statements(patched, 10**6)
        move(app, "home")
        total = len(sent)
    assert total > 40
    targets = [SHELF, "home"]
    for last in range(1, total):
        target = targets[last % 2]
        with App() as crashing, monkeypatch.context() as patched:
            crashing.servers.refresh()
            statements(patched, last)
            with pytest.raises(Crash):
                move(crashing, target)
        app.servers.refresh()
        # Whoever reads now finds all of it, wherever it is.
        assert belongings(app.store_of(NAME), NAME) == whole, f"killed before statement {last}"
        move(app, target)
        assert belongings(app.store_of(NAME), NAME) == whole
        stores = {"home": app.home_store, SHELF: other}
        assert belongings(stores[target], NAME) == whole
        assert belongings(stores[targets[(last + 1) % 2]], NAME) == NOTHING
        left = "MATCH (n:CollectionCopy) RETURN n.name AS name"
        assert [cypher(store, left) for store in stores.values()] == [[], []]
        place = read_registry(app.home_store).place(NAME)
        assert place == CollectionPlace(NAME, target)
    assert faults(app.home_store, NEIGHBOUR) == faults(app.store_of(NAME), NAME)


def test_questions_are_answered_while_a_collection_is_moved(
    app: App, two: TwoServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_copy, "NODES_PER_SLICE", 10)
    found: list[tuple[bool, int]] = []
    failures: list[BaseException] = []
    is_over = threading.Event()

    def ask(asked: App) -> None:
        try:
            while not is_over.is_set():
                store = asked.store_of(NAME)
                hits = store.nearest(vector(0), 5, Filters(NAME), MODEL)
                found.append((store is asked.home_store, len(hits)))
        except BaseException as error:
            failures.append(error)
            raise

    # The mover's own process learns at once, the other one when it reads the registry again.
    monkeypatch.setattr(server_pool, "REGISTRY_SECONDS", 0.5)
    with App() as asking:
        asking.servers.refresh()
        readers = [threading.Thread(target=ask, args=(asked,)) for asked in (app, asking)]
        for reader in readers:
            reader.start()
        try:
            app.collection(NAME).move(SHELF, pause=10)
            until = time.monotonic() + 120
            while asking.store_of(NAME) is asking.home_store and time.monotonic() < until:
                time.sleep(0.05)
        finally:
            is_over.set()
            for reader in readers:
                reader.join()
    assert failures == []
    assert {count for _, count in found} == {5}
    assert {is_home for is_home, _ in found} == {True, False}


def test_writers_are_refused_while_it_is_moved_and_the_move_can_be_given_up(
    app: App, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = belongings(app.home_store, NAME)
    monkeypatch.setattr(collection_copy, "NODES_PER_SLICE", 10)
    stop = stop_after(3)
    with pytest.raises(Stopped):
        move(app, SHELF, stop=stop)
    assert app.collection(NAME).server == "home"
    assert cypher(other, "MATCH (n:Passage|Element|Document) RETURN count(n) AS n") != [{"n": 0}]
    store = app.home_store
    [entry, *_] = store.documents(NAME)
    said = "is being moved to server 'server2': questions are answered meanwhile"
    for write in (
        lambda: store.prepare(NAME, MODEL, DIMENSIONS),
        lambda: put(store, small_graph("c.txt", collection=NAME)),
        lambda: store.remove(NAME, entry.id),
        lambda: store.set_description(entry, "Another title", ""),
        lambda: save_decision(
            store, NAME, Decision(2, "entities", "rename", ("Boris", "Bo"), by="me"), 0
        ),
        lambda: annotate(store, NAME),
        lambda: app.collection(NAME).drop("aspects"),
        lambda: app.collection(NAME).ingest(Path(__file__)),
    ):
        with pytest.raises(CollectionMoved, match=said):
            write()
    assert belongings(store, NAME) == whole
    # Its neighbour takes changes.
    put(store, small_graph("c.txt", collection=NEIGHBOUR))
    with pytest.raises(FabulaError, match="can't be removed: it has"):
        app.remove_server(SHELF)
    move(app, "home")
    assert belongings(store, NAME) == whole
    assert belongings(other, NAME) == NOTHING
    assert read_registry(store).places == {}
    put(store, small_graph("c.txt", collection=NAME))


def stop_after(slices: int) -> Stop:
    """A stop that is set once it was checked so often."""

    class Counted(Stop):
        checked = 0

        def check(self) -> None:
            self.checked += 1
            if self.checked > slices:
                self.set()
            super().check()

    return Counted()


def test_long_layers_of_annotations_are_copied_in_short_slices(
    app: App, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotate(app.home_store, NAME, 2600)
    whole = belongings(app.home_store, NAME)
    [entry, *_] = app.home_store.documents(NAME)
    layers = read_layers(app.home_store, NAME, entry.id)
    longest = max(len(row["properties"].get("content", "")) for row in whole[0])
    monkeypatch.setattr(collection_copy, "CHARACTERS_PER_SLICE", longest)
    written: list[int] = []
    write = collection_copy._write

    def count(*values: Any, **more: Any) -> Any:
        written.append(sum(len(row.get("properties", {}).get("content", "")) for row in values[4]))
        return write(*values, **more)

    monkeypatch.setattr(collection_copy, "_write", count)
    move(app, SHELF)
    assert belongings(other, NAME) == whole
    assert read_layers(other, NAME, entry.id) == layers
    assert 0 < max(written) <= 2 * longest
    assert len([length for length in written if length]) >= 3


def test_the_copy_of_another_move_is_neither_continued_nor_removed(app: App, other: Store) -> None:
    # Another library has copied a collection of this name whole, and is about to switch to it.
    fill(other, NAME)
    foreign = belongings(other, NAME)
    cypher(
        other,
        "CREATE (:CollectionCopy {name: $name, slice: 9, phase: 'done', document: '', after: '', "
        "move: 'theirs'})",
        name=NAME,
    )
    whole = belongings(app.home_store, NAME)
    with pytest.raises(StoreError, match="has the copy of another move"):
        move(app, SHELF)
    assert belongings(other, NAME) == foreign
    assert belongings(app.home_store, NAME) == whole
    assert read_registry(app.home_store).places == {}
    put(app.home_store, small_graph("c.txt", collection=NAME))


def test_what_was_copied_before_a_dump_was_restored_is_not_continued(
    app: App, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_copy, "NODES_PER_SLICE", 10)
    with pytest.raises(Stopped):
        move(app, SHELF, stop=stop_after(4))
    # The dump is from before the move, and another text has come since.
    cypher(app.home_store, "MATCH (n:MovedCollection|CollectionPlace) DELETE n")
    app.servers.refresh()
    put(app.home_store, small_graph("c.txt", collection=NAME))
    whole = belongings(app.home_store, NAME)
    with pytest.raises(StoreError, match="one from before a dump was restored"):
        move(app, SHELF)
    assert belongings(app.home_store, NAME) == whole
    # What docs/servers.md says to do at the other server.
    [cure] = re.findall(r"```cypher\n(.*?)```", SERVERS_PAGE.read_text(), re.DOTALL)
    for statement in filter(str.strip, cure.split(";")):
        cypher(other, statement.replace("'novels'", "$name"), name=NAME)
    move(app, SHELF)
    assert belongings(other, NAME) == whole


def test_a_second_move_of_a_collection_is_refused_while_one_is_at_work(app: App) -> None:
    whole = belongings(app.home_store, NAME)
    with App() as beside, move_lock(beside.home_store, NAME):
        with pytest.raises(StoreError, match="Another process is moving collection"):
            move(app, SHELF)
        # That of another collection is not.
        move(app, SHELF, NEIGHBOUR)
    assert belongings(app.home_store, NAME) == whole


def test_what_was_staged_early_is_not_lost_in_a_move_that_begins_meanwhile(
    app: App, other: Store
) -> None:
    store = app.home_store
    whole = belongings(store, NAME)
    made = small_graph("c.txt", collection=NAME)
    [owner] = {part.owner for part in made if part.owner.graph == "text"}
    with process_lock(store, [f"{NAME}/{owner.document}"], run="staged early") as lock:
        staged = store.stage_early(made[:1], MODEL, lock)
        # The move does not wait for the models of a writer; the writer is refused at its end.
        move(app, SHELF)
        with pytest.raises(CollectionMoved, match="has been moved to server 'server2'"):
            store.apply(made, MODEL, lock=lock, staged=staged)
        store.discard_staged(lock)
    assert belongings(other, NAME) == whole
    assert belongings(store, NAME) == NOTHING
    put(app.store_of(NAME), made)
    assert len([*app.store_of(NAME).documents(NAME)]) == 3


def test_a_writer_that_learned_long_ago_where_a_collection_was_is_refused(
    app: App, two: TwoServers
) -> None:
    with App() as asleep:
        before = asleep.store_of(NAME)
        move(app, SHELF)
        with pytest.raises(CollectionMoved, match="has been moved to server 'server2'"):
            put(before, small_graph("c.txt", collection=NAME))
        with pytest.raises(CollectionMoved):
            before.prepare(NAME, MODEL, DIMENSIONS)
        asleep.servers.refresh()
        put(asleep.store_of(NAME), small_graph("c.txt", collection=NAME))
    assert belongings(app.home_store, NAME) == NOTHING


def test_what_cannot_be_moved_is_refused_and_nothing_is_changed(
    app: App, two: TwoServers, other: Store
) -> None:
    with pytest.raises(NotFound, match=r"There is no server 'server9'\. Did you mean server2"):
        move(app, "server9")
    with pytest.raises(NotFound, match="There is no collection 'nothing' with documents"):
        move(app, SHELF, "nothing")
    fill(other, NAME)
    foreign = belongings(other, NAME)
    with pytest.raises(StoreError, match="has another collection"):
        move(app, SHELF)
    assert belongings(other, NAME) == foreign
    cypher(
        app.home_store,
        "MATCH (n:Collection {name: $name}) SET n.phase = 'writing', n.next_model = 'm', "
        "n.next_dimensions = 8",
        name=NEIGHBOUR,
    )
    with pytest.raises(SpaceError, match="is being re-embedded"):
        move(app, SHELF, NEIGHBOUR)
    assert read_registry(app.home_store).places == {}
    put(app.home_store, small_graph("c.txt", collection=NAME))


def test_a_copy_that_lacks_something_is_removed(app: App, other: Store) -> None:
    cypher(
        app.home_store,
        "MATCH (n:Element {collection: $name}) WITH n LIMIT 1 SET n.document = 'nowhere'",
        name=NAME,
    )
    # Whether relationships lead to the node that is left out, or none does.
    with pytest.raises(StoreError, match=r"is not complete \(\d+ (nodes of \d+|relationships)"):
        move(app, SHELF)
    assert belongings(other, NAME) == NOTHING
    assert read_registry(app.home_store).places == {}
    put(app.home_store, small_graph("c.txt", collection=NAME))


def test_the_collection_that_is_read_after_a_move_back_is_the_one_of_now(
    app: App, two: TwoServers
) -> None:
    store = app.store_of(NAME)
    before = store.collection_version(NAME, ["text"])
    move(app, SHELF)
    put(app.store_of(NAME), small_graph("c.txt", collection=NAME))
    move(app, "home")
    assert app.store_of(NAME) is store
    assert store.collection_version(NAME, ["text"]) != before
    assert store.count_parts(NAME, "", ["text"]) == {"text": 3}


@pytest.mark.parametrize("seed", range(2))
def test_a_process_that_is_killed_is_continued_by_the_same_command(
    app: App, two: TwoServers, other: Store, tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    whole = belongings(app.home_store, NAME)
    kills = 0
    for attempt in range(4):
        words = ("collections", "move", NAME, "--to", SHELF, "--pause", "0")
        environment = two.environment() | {"FABULA_HOME": str(tmp_path / "h"), "HOME": "/tmp"}
        command = Forked(tmp_path / f"said {attempt}", *words, environment=environment)
        try:
            assert command.wait(draw.uniform(0.2, 1.5)) == 0, command.said
            break
        except TimeoutExpired:
            command.kill()
            command.wait(60)
            kills += 1
        app.servers.refresh()
        assert belongings(app.store_of(NAME), NAME) == whole
    move(app, SHELF)
    assert belongings(other, NAME) == whole
    assert belongings(app.home_store, NAME) == NOTHING


def test_the_old_copy_stays_until_every_process_has_read_where_it_is_now() -> None:
    from fabula.app import resources

    slowest = max(
        server_pool.EMPTY_REGISTRY_SECONDS, server_pool.REGISTRY_SECONDS, resources.ALONE_SECONDS
    )
    assert slowest + 5 < move_module.PAUSE_SECONDS
