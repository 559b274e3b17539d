"""Reaching a Neo4j: who cannot is told why in one line."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from pydantic import SecretStr

from database import connect
from fabula import App, Stop, Stopped
from fabula.config.settings import Settings
from fabula.errors import FabulaError, StoreError
from fabula.server import Address
from fabula.store import Store
from fabula.store.driver_errors import refuse_old_server

WAIT = 60
"""Seconds after which something hangs."""


def test_a_wrong_password_is_one_clear_line(address: Address) -> None:
    with pytest.raises(
        StoreError, match=r"refuses user 'neo4j' with this password.*NEO4J_PASSWORD"
    ):
        Store.connect(address.uri, "neo4j", "wrong", "neo4j")


def test_an_unreachable_server_is_one_clear_line() -> None:
    with pytest.raises(StoreError, match=r"No Neo4j answers at bolt://127.0.0.1:9.*NEO4J_URI"):
        Store.connect("bolt://127.0.0.1:9", "neo4j", "x", "neo4j")


def test_an_address_that_is_none_is_one_clear_line() -> None:
    with pytest.raises(StoreError, match="NEO4J_URI = localhost is not an address"):
        Store.connect("localhost", "neo4j", "x", "neo4j")


def test_a_database_that_is_not_there_is_named(address: Address) -> None:
    with pytest.raises(StoreError, match=r"has no database 'books'.*NEO4J_DATABASE"):
        Store.connect(address.uri, address.username, address.password, "books")


@pytest.mark.parametrize("version", ["5.26.1", "2025.12.0", "2026.05.3"])
def test_an_older_server_is_refused_with_what_is_needed(version: str) -> None:
    with pytest.raises(StoreError, match=f"version {version}, and Fabula needs 2026.06 or later"):
        refuse_old_server([("Neo4j Kernel", version), ("Cypher", "5")], "bolt://old")


@pytest.mark.parametrize("version", ["2026.06.0", "2026.08.1", "2027.01.0"])
def test_a_newer_server_is_welcome(version: str) -> None:
    refuse_old_server([("Neo4j Kernel", version)], "bolt://new")


def test_a_store_can_be_opened_again(address: Address) -> None:
    with connect(address) as first:
        first.version()
    with connect(address) as second:
        assert "community" in second.version()


class Gate:
    """Stands before a Neo4j, and lets nothing through until it is opened."""

    def __init__(self, address: Address) -> None:
        self._target = int(address.uri.rpartition(":")[2])
        self._server = socket.create_server(("127.0.0.1", 0))
        self.uri = f"bolt://127.0.0.1:{self._server.getsockname()[1]}"
        self.reached, self.opened = threading.Event(), threading.Event()
        self.left: list[threading.Event] = []
        """One for each connection, set once the driver has closed it."""
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                self.left.append(threading.Event())
                threading.Thread(target=self._join, args=(client, self.left[-1])).start()

    def _join(self, client: socket.socket, left: threading.Event) -> None:
        self.reached.set()
        assert self.opened.wait(WAIT)
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            back = threading.Thread(target=self._copy, args=(server, client))
            back.start()
            self._copy(client, server)
            left.set()
            back.join()

    def _copy(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


def test_a_connection_that_is_made_while_it_is_closed_is_closed_as_well(
    address: Address, tmp_path: Path
) -> None:
    gate = Gate(address)
    app = App(
        Settings(
            neo4j_uri=gate.uri,
            neo4j_username=address.username,
            neo4j_password=SecretStr(address.password),
            home=tmp_path,
        )
    )
    with closing(gate), ThreadPoolExecutor() as threads:
        first = threads.submit(app.connect)
        assert gate.reached.wait(WAIT)
        second = threads.submit(app.connect)
        app.close()
        assert not first.done(), "closing waits for nobody"
        gate.opened.set()
        for future in (first, second):
            assert isinstance(future.exception(WAIT), FabulaError)
            assert "is closed" in str(future.exception())
        assert gate.left
        assert all(left.wait(WAIT) for left in gate.left), "no connection is left open"


def test_a_connection_that_is_opened_for_a_statement_meanwhile_is_closed_after_it(
    address: Address,
) -> None:
    gate = Gate(address)
    gate.opened.set()
    with closing(gate), ThreadPoolExecutor() as threads:
        store = Store.connect(gate.uri, address.username, address.password, "neo4j")
        with store.session() as session:
            session.begin_transaction()  # keeps the only connection
            gate.opened.clear()
            gate.reached.clear()
            statement = threads.submit(store.version)
            assert gate.reached.wait(WAIT)
            store.close()
            gate.opened.set()
            statement.exception(WAIT)
        assert len(gate.left) > 1
        assert all(left.wait(WAIT) for left in gate.left), "no connection is left open"


def test_no_connection_is_said_goodbye_over_in_the_middle_of_a_statement(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that sends the statement failed at it, and left its session open for ever."""
    gate = Gate(address)
    gate.opened.set()

    def fail() -> None:
        pytest.fail("Another thread is sending a statement.")

    store = Store.connect(gate.uri, address.username, address.password, "neo4j")
    with closing(gate), store.session() as first, store.session() as second:
        for session in (first, second):
            session.begin_transaction()
            monkeypatch.setattr(session._connection, "goodbye", fail)
        store.close()
        assert len(gate.left) == 2
        assert all(left.wait(WAIT) for left in gate.left), "no connection is left open"


def test_who_waits_for_anothers_connection_is_stopped(address: Address, tmp_path: Path) -> None:
    gate, stop = Gate(address), Stop()
    settings = Settings(
        neo4j_uri=gate.uri,
        neo4j_username=address.username,
        neo4j_password=SecretStr(address.password),
        home=tmp_path,
    )
    with closing(gate), App(settings) as app, ThreadPoolExecutor() as threads:
        first = threads.submit(app.connect)
        assert gate.reached.wait(WAIT)
        waiting = threads.submit(lambda: app.collection().query("Who?", stop=stop))
        stop.set()
        assert isinstance(waiting.exception(WAIT), Stopped)
        assert not first.done()
        gate.opened.set()
        assert first.result(WAIT).version()


def test_a_statement_that_is_refused_holds_up_no_other_threads_statement(address: Address) -> None:
    """Version 6.4 of the driver looks at a connection after it has given it to another thread."""
    threads, statements = 6, 150

    def run(thread: int) -> float:
        longest = 0.0
        for n in range(statements):
            began = time.monotonic()
            if (n + thread) % 2:
                store.run("RETURN 1")
            else:
                with pytest.raises(StoreError):
                    store.run("RETURN 1 / 0")
            longest = max(longest, time.monotonic() - began)
        return longest

    with connect(address) as store, ThreadPoolExecutor(threads) as pool:
        runs = [pool.submit(run, thread) for thread in range(threads)]
        assert max(run.result(timeout=WAIT) for run in runs) < WAIT / 2
