"""A disk that fills up while a graph is written, and a transaction log that was torn by it."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import neo4j
import pytest
from neo4j.exceptions import DriverError, Neo4jError

from database import connect
from fabula.config.connect import MIN_FREE_BYTES
from fabula.config.connect import connect as connect_to
from fabula.config.settings import Settings
from fabula.errors import ServerError
from fabula.server import Address, health, process
from fabula.server.private import PrivateServer
from fabula.server.progress import ignore_progress
from graphs import DIMENSIONS, MODEL, put, small_graph

pytestmark = [pytest.mark.long, pytest.mark.own_server, pytest.mark.server]

WRITERS = 4


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Neo4j's jars, for homes on small disks to point at."""
    home = tmp_path_factory.mktemp("programs") / "home"
    home.mkdir()
    server = PrivateServer(home, "512m", "64m")
    server._launcher.admin(ignore_progress)
    return home / "server"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
        refusal = done.stderr.strip() if done.returncode else ""
    except OSError as error:
        refusal = str(error)
    if refusal:
        pytest.skip(f"a small disk can't be mounted here: {refusal}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def make_server(folder: Path, programs: Path) -> PrivateServer:
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "server").symlink_to(programs)
    return PrivateServer(home, "512m", "64m")


def fill(folder: Path, leave: int) -> Path:
    """Write a file that leaves so many bytes free."""
    file = folder / "fill"
    with file.open("wb") as stream, suppress(OSError):
        while (free := shutil.disk_usage(folder).free) > leave:
            stream.write(bytes(min(free - leave, 2**20)))
            stream.flush()
    return file


def write_until_full(address: Address, disk: Path) -> int:
    """Have several threads write, fill the disk, and return how many nodes were committed."""
    counts = [0] * WRITERS
    has_begun = threading.Event()
    auth = (address.username, address.password)

    def write(driver: neo4j.Driver, number: int) -> None:
        with suppress(Neo4jError, DriverError):
            while True:
                rows = [{"text": os.urandom(300).hex()} for _ in range(500)]
                with driver.session() as session:
                    session.run("UNWIND $rows AS row CREATE (n:T) SET n = row", rows=rows).consume()
                counts[number] += len(rows)
                has_begun.set()

    with neo4j.GraphDatabase.driver(address.uri, auth=auth) as driver:
        threads = [
            threading.Thread(target=write, args=(driver, number)) for number in range(WRITERS)
        ]
        for thread in threads:
            thread.start()
        assert has_begun.wait(120)
        fill(disk, 100_000)
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
    return sum(counts)


def count_nodes(address: Address) -> int:
    with connect(address) as store:
        return int(store.run("MATCH (n:T) RETURN count(n) AS count")[0]["count"])


@pytest.mark.kill
def test_a_server_whose_disk_was_full_starts_again_with_all_that_was_committed(
    disk: Path, programs: Path
) -> None:
    server = make_server(disk, programs)
    try:
        address = server.start()
        committed = write_until_full(address, disk)
        assert committed and health.is_down(address)
        with pytest.raises(ServerError, match=r"is full: .* Make room"):
            server.repair()
        (disk / "fill").unlink()
        # The server still runs. Asked to stop in good order, it would write on behind the place
        # at which its log broke off.
        address = server.repair()
        assert count_nodes(address) >= committed
        assert not (disk / "home" / "torn_logs").exists(), "there was nothing to repair"
    finally:
        server.destroy()


@pytest.mark.nightly
def test_a_log_that_is_torn_is_repaired_and_a_copy_of_it_is_kept(
    tmp_path: Path, programs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = make_server(tmp_path, programs)
    home = tmp_path / "home"
    try:
        address = server.start()
        with connect(address) as store:
            store.run("UNWIND range(1, 5000) AS i CREATE (:T {text: toString(i)})")
        pid = server.status().pid
        process.kill(pid)
        [log] = (home / "neo4j" / "data" / "transactions" / "neo4j").glob("neostore.transaction.*")
        whole = log.read_bytes()
        # What a server has left whose disk was full: entries that are none, behind the last whole.
        log.write_bytes(whole + b"\xff" * 70_000)
        address = server.repair()
        assert count_nodes(address) == 5000
        [copy] = (home / "torn_logs").rglob(f"neo4j/{log.name}")
        assert copy.read_bytes() == whole + b"\xff" * 70_000
        assert "Neo4j's own check found no error in the graph" in caplog.text
        assert str(home / "torn_logs") in caplog.text and "destroy" not in caplog.text
        # From now on it starts as ever.
        server.stop()
        assert count_nodes(server.start()) == 5000
        conf = (home / "neo4j" / "conf" / "neo4j.conf").read_text()
        assert "fail_on_corrupted_log_files" not in conf
    finally:
        server.destroy()


def test_writing_ends_in_words_before_the_disk_is_full(
    disk: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make_server(disk, programs)
    settings = Settings(home=disk / "home", dumps=False)
    try:
        with connect_to(settings, None) as store:
            store.prepare("default", MODEL, DIMENSIONS)
            put(store, small_graph("a.txt"))
            filled = fill(disk, MIN_FREE_BYTES - 10_000_000)
            with pytest.raises(ServerError, match=r"is full: .* needs 200 MB .* Make room"):
                put(store, small_graph("b.txt"))
            assert [entry.title for entry in store.documents("default")] == ["A"]
            filled.unlink()
            put(store, small_graph("b.txt"))
            assert [entry.title for entry in store.documents("default")] == ["A", "B"]
    finally:
        server.destroy()
