"""The private server merges the segments of its vector indexes, as its settings ask it to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest

from fabula.errors import ServerError
from fabula.server import config
from fabula.server.private import PrivateServer
from servers import server_of

pytestmark = [pytest.mark.own_server, pytest.mark.server]

BOOKS = 49
"""One fewer than what the server merges by default."""
INDEX = """
CREATE VECTOR INDEX vectors FOR (n:Passage) ON n.embedding
OPTIONS {indexConfig: {`vector.dimensions`: 4, `vector.similarity_function`: 'cosine'}}
"""
BOOK = "UNWIND range(1, 20) AS x CREATE (:Passage {embedding: [1.0, x, $book, 1.0]})"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateServer]:
    server = server_of(tmp_path_factory.mktemp("server") / "home")
    server.start()
    yield server
    server.destroy(programs=True)


def segments(server: PrivateServer) -> int:
    """Files of which Lucene keeps one a segment."""
    folder = server.log_file.parents[1] / "data" / "databases" / "neo4j" / "schema" / "index"
    return len(list(folder.glob("vector*/**/*.si")))


def test_the_server_runs_with_the_settings_that_no_statement_lists(server: PrivateServer) -> None:
    lines = [
        json.loads(line)["message"]
        for line in server.log_file.with_name("debug.log").read_text().splitlines()
    ]
    [said] = [message for message in lines if "DBMS provided settings" in message]
    settings = {line.strip() for line in said.splitlines()}
    internal = {name: value for name, value in config.SETTINGS.items() if "internal" in name}
    assert internal
    assert {f"{name}={value}" for name, value in internal.items()} <= settings


def test_books_that_come_in_one_by_one_do_not_leave_a_segment_each(server: PrivateServer) -> None:
    address = server.start()
    login = (address.username, address.password)
    with neo4j.GraphDatabase.driver(address.uri, auth=login) as driver:
        driver.execute_query(INDEX)
        driver.execute_query("CALL db.awaitIndexes(600)")
        for book in range(BOOKS):
            driver.execute_query(BOOK, book=float(book))
    server.stop()  # until then the small ones are in memory only
    assert 1 <= segments(server) <= 12


def test_a_server_that_does_not_know_a_setting_refuses_it_by_name(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = server.log_file.parents[2]
    other = tmp_path / "other"
    (other / "neo4j" / "data" / "databases" / "system").mkdir(parents=True)
    (other / "server").symlink_to(home / "server")
    shutil.copy(home / "credentials.json", other)
    monkeypatch.setitem(config.SETTINGS, "internal.dbms.index.vector.dropped", "1")
    with pytest.raises(ServerError, match=r"No declared setting.*index\.vector\.dropped"):
        server_of(other).start()
