"""Dumps that are kept without being asked for, and what a database that is down looks like."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from fabula import Fabula
from fabula.errors import DatabaseDown
from fabula.server import archive
from fabula.server import dumps as dumps_module
from fabula.server.private import PrivateServer
from fabula.server.state import Home
from fabula.store import Store, migration, migrations
from graphs import DIMENSIONS, MODEL, put, small_graph
from servers import fabula_db

pytestmark = [pytest.mark.long, pytest.mark.own_server, pytest.mark.server]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a private server of these tests' own."""
    home = tmp_path_factory.mktemp("dumps") / "home"
    yield home
    PrivateServer(home, "512m", "128m").destroy(programs=True)


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, with settings that keep dumps."""
    monkeypatch.setenv("FABULA_DUMPS", "true")
    monkeypatch.setenv("FABULA_HOME", str(folder))
    return folder


def titles() -> list[str]:
    with Fabula() as fabula:
        return [entry.title for entry in fabula.documents()]


def put_one(source: str) -> None:
    with Fabula() as fabula:
        fabula.open_store().prepare("default", MODEL, DIMENSIONS)
        put(fabula.open_store(), small_graph(source))


def interrupted(_: Store) -> None:
    raise KeyboardInterrupt


def age(dump: Path, days: float) -> Path:
    """Make a dump so many days older, by its name and its file's time; return where it is then."""
    made = time.time() - days * 86_400
    os.utime(dump, (made, made))
    name = datetime.fromtimestamp(made).astimezone().strftime("%Y-%m-%d-%H%M%S.dump")
    return dump.rename(dump.with_name(name))


def test_a_database_that_panicked_is_started_anew_and_a_dump_that_fails_is_in_nobodys_way(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert "There is no dump in" in fabula_db(home, "restore", "--yes").output
    put_one("a.txt")
    # A term that Lucene refuses, written past the store, which would not take it.
    with Fabula() as fabula:
        label = f"Passage{DIMENSIONS}"
        panics = (
            f"CYPHER 25 CREATE (n:{label} {{collection: 'default', document: 'd', kind: 'chunk', "
            "aspect: $long, level: 0}) WITH n "
            "CALL db.create.setNodeVectorProperty(n, 'embedding', $vector)"
        )
        with pytest.raises(Exception, match="apply the transaction"):
            fabula.open_store().run(
                panics, long="a" * 40_000, vector=[1.0] + [0.0] * (DIMENSIONS - 1)
            )
        with pytest.raises(DatabaseDown, match="Try again"):
            list(fabula.documents())
    assert "State     broken" in fabula_db(home, "status").output
    began = time.monotonic()
    with Fabula() as fabula:
        assert [entry.title for entry in fabula.documents()] == ["A"]
        # What the panic was about was written all the same.
        fabula.open_store().run(f"MATCH (n:{label}) WHERE size(n.aspect) = 40000 DELETE n")
    assert time.monotonic() - began < 180
    assert "State     running" in fabula_db(home, "status").output
    # A dump is due at the stop, and can't be kept.
    (home / "dumps").write_text("no folder")
    assert "Neo4j is stopped." in fabula_db(home, "stop").output
    assert "The daily dump of the graphs could not be made" in caplog.text
    (home / "dumps").unlink()


def test_an_empty_graphs_dump_stands_for_no_day_and_displaces_no_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    now = datetime(2031, 3, 2, 9).astimezone().timestamp()
    (home.neo4j / archive.STORES[0]).mkdir(parents=True)
    home.dumps.mkdir()
    (home.dumps / "2031-03-02-080000.dump").write_bytes(bytes(dumps_module.MIN_FULL_BYTES - 1))
    store = home.neo4j / archive.STORES[0] / "neostore"
    store.write_bytes(b"written after the dump")
    later = time.time() + 10
    os.utime(store, (later, later))
    assert dumps_module.is_due(home, now)
    full = home.dumps / "2031-03-02-083000.dump"
    full.write_bytes(bytes(dumps_module.MIN_FULL_BYTES))
    assert not dumps_module.is_due(home, now)
    assert not dumps_module.is_due(home, now + dumps_module.DAY_SECONDS - 1801)
    assert dumps_module.is_due(home, now + dumps_module.DAY_SECONDS)
    # Empty ones that follow leave it where it is.
    for day in range(3, 8):
        (home.dumps / f"2031-03-0{day}-090000.dump").write_bytes(b"empty")
    dumps_module.delete_old(home)
    assert [dump.name for dump in dumps_module.list_dumps(home)] == [
        "2031-03-07-090000.dump",
        full.name,
    ]


# A server is started nine times.
@pytest.mark.nightly
def test_what_is_kept_when_and_how_it_cures_a_damaged_database(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The graphs of this test are small ones.
    monkeypatch.setattr(dumps_module, "MIN_FULL_BYTES", 0)
    put_one("a.txt")
    fabula_db(home, "stop")
    dumps = home / "dumps"
    [first] = dumps.glob("*.dump")
    assert first.stat().st_mode & 0o777 == 0o600 and dumps.stat().st_mode & 0o777 == 0o700
    # Once a day at most, however much has changed.
    put_one("b.txt")
    fabula_db(home, "stop")
    assert [*dumps.glob("*.dump")] == [first]
    # A day later what was written is kept by the next start, and only the last three stay.
    for year in (2001, 2002, 2003):
        old = dumps / f"{year}-01-01-000000.dump"
        old.write_bytes(b"old")
        os.utime(old, (0, 0))
    first = age(first, 1.1)
    assert titles() == ["A", "B"]
    assert len([*dumps.glob("*.dump")]) == 3 and (dumps / "2003-01-01-000000.dump").is_file()
    assert str(first) in fabula_db(home, "status").output
    # Before it is migrated a graph of an older Fabula is dumped, however new the last one is.
    before = {*dumps.glob("*.dump")}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(migration, "VERSION", 2)
        patch.setattr(migrations, "MIGRATIONS", {2: [interrupted]})
        titles()
    assert len({*dumps.glob("*.dump")} - before) == 1
    # A database that is damaged is told with its cure, which is the newest dump.
    fabula_db(home, "stop")
    file = home / "neo4j" / "data" / "databases" / "neo4j" / "neostore"
    file.write_bytes(b"\xff" * file.stat().st_size)
    started = fabula_db(home, "start")
    assert started.exit_code == 1
    assert "`fabula db restore` puts the newest dump in its place" in started.output
    assert "State     broken" in fabula_db(home, "status").output
    restored = fabula_db(home, "restore", "--yes")
    assert restored.exit_code == 0, restored.output
    assert titles() == ["A", "B"], "as it was before"
