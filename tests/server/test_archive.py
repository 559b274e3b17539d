"""The private server's data as a file: dumped, lost, loaded, and the same again."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from commands import run as run_command
from database import cypher
from fabula import Fabula
from fabula.errors import ServerError
from fabula.graph.hits import Filters
from fabula.server import archive
from fabula.server.private import PrivateServer
from fabula.server.state import SCRATCH, Home
from graphs import DIMENSIONS, put, small_graph, vector

pytestmark = [pytest.mark.long, pytest.mark.own_server]

NODES = "MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties ORDER BY elementId(n)"
ENDS = (
    "MATCH (n)-[r]->(m) RETURN n.id AS start, type(r) AS type, properties(r) AS properties,"
    " m.id AS end ORDER BY elementId(r)"
)


db = partial(run_command, "db")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The folder of a private server of the test's own."""
    yield tmp_path / "home"
    PrivateServer(tmp_path / "home", "256m", "64m").destroy(programs=True)


@pytest.mark.server
def test_a_dumped_graph_is_loaded_as_it_was(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "graphs.dump"
    with Fabula() as fabula:
        fabula.open_store().prepare("default", "test-model", DIMENSIONS)
        put(fabula.open_store(), small_graph())
        nodes, ends = cypher(fabula.open_store(), NODES), cypher(fabula.open_store(), ENDS)
    assert f"All graphs are in {file}" in db("dump", file).stdout
    assert [path.name for path in tmp_path.iterdir() if path != home] == [file.name]
    assert PrivateServer(home, "256m", "64m").status().state == "running", "as it was before"
    # A file that is no dump changes nothing, and does not even stop the server.
    bad = tmp_path / "bad.dump"
    bad.write_text("this is no dump")
    pid = PrivateServer(home, "256m", "64m").status().pid
    with pytest.raises(ServerError, match=r"bad\.dump could not be loaded.*as it was\.$"):
        PrivateServer(home, "256m", "64m").load(bad)
    assert PrivateServer(home, "256m", "64m").status().pid == pid
    # The data goes, and the password with it; the dump holds neither.
    db("destroy", "--yes")
    db("load", "--yes", file)
    assert {path.name for path in home.iterdir()} <= {"neo4j", "server", "lock"}
    with Fabula() as fabula:
        assert cypher(fabula.open_store(), NODES) == nodes
        assert cypher(fabula.open_store(), ENDS) == ends
        assert {index.state for index in fabula.open_store().indexes()} == {"ONLINE"}
        assert fabula.open_store().nearest(vector(0), 3, Filters("default"), "test-model")


def test_a_dump_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "graphs.dump"
    file.write_text("precious")
    assert "exists already: name another file, or give --force" in db("dump", file, code=1).output
    assert file.read_text() == "precious"
    assert "There is nothing to dump" in db("dump", file, "--force", code=1).output
    assert "There is no folder" in db("dump", tmp_path / "no" / "file", code=1).output


def test_load_asks_first_and_names_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "Aborted" in db("load", tmp_path / "file", code=1, answer="n\n").output
    assert "No such file" in db("load", "--yes", tmp_path / "file", code=1).output


class Killed(BaseException):
    """The end of the process: nothing that comes after it is done."""


@contextmanager
def killed_after(renames: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that lives for so many renames, and dies in the midst of the first deletion."""
    rename, rmtree, lived = Path.rename, shutil.rmtree, 0

    def count(source: Path, target: Path) -> Path:
        nonlocal lived
        if lived == renames:
            raise Killed
        lived += 1
        return rename(source, target)

    def half(folder: Path, ignore_errors: bool = False) -> None:
        rmtree(folder / "neo4j", ignore_errors=ignore_errors)
        raise Killed

    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(Path, "rename", count)
        patch.setattr(shutil, "rmtree", half)
        yield


def write(folder: Path, words: str, stores: Sequence[Path] = archive.STORES) -> None:
    for store in stores:
        (folder / store).mkdir(parents=True)
        (folder / store / "file").write_text(words)


def graph(home: Home) -> dict[Path, str]:
    """What a server would find as its graph."""
    stores = [store for store in archive.STORES if (home.neo4j / store).is_dir()]
    return {store: (home.neo4j / store / "file").read_text() for store in stores}


def loaded_in_part(
    folder: Path, former: Sequence[Path], renames: int, monkeypatch: pytest.MonkeyPatch
) -> Home:
    """A home with `former` stores where a load was killed after so many renames."""
    home, scratch = Home(folder), Home(folder / f"{SCRATCH}x")
    write(home.neo4j, "old", former)
    write(scratch.neo4j, "new")
    with killed_after(renames, monkeypatch):
        archive.put_in_place(scratch, home)
    return home


@pytest.mark.parametrize("stores", [0, 1, 2], ids=["fresh home", "half a graph", "a graph"])
def test_a_load_that_is_killed_leaves_the_old_graph_or_the_new_one_whole(
    stores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = dict.fromkeys(archive.STORES[:stores], "old")
    new = dict.fromkeys(archive.STORES, "new")
    # One for each store that goes and each that comes, one before them and the one that commits.
    commit = 1 + stores + len(archive.STORES) + 1
    for renames in range(commit + 1):
        # What puts the old graph back may be killed as well, at each of its own renames.
        for later in range(commit + 1):
            case = tmp_path / f"{renames} {later}"
            home = loaded_in_part(case, list(old), renames, monkeypatch)
            with killed_after(later, monkeypatch):
                archive.recover(home)
            archive.recover(home)
            assert graph(home) == (new if renames == commit else old), case.name
            assert {path.name for path in case.iterdir()} <= {"neo4j"}, "nothing is left over"
            if graph(home) and not old:
                assert stat.S_IMODE(home.neo4j.stat().st_mode) == 0o700


def test_every_command_recovers_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = loaded_in_part(tmp_path / "home", archive.STORES, 3, monkeypatch)
    assert set(graph(home).values()) == {"old", "new"}
    assert db("stop").stdout == "Neo4j was not running.\n"
    assert graph(home) == dict.fromkeys(archive.STORES, "old")


def test_old_data_is_put_back_where_the_new_cannot_take_its_place(tmp_path: Path) -> None:
    home, scratch = Home(tmp_path / "home"), Home(tmp_path / "home" / f"{SCRATCH}x")
    databases, transactions = archive.STORES
    write(home.neo4j, "old", [databases])
    write(scratch.neo4j, "new")
    (home.neo4j / transactions.parent).mkdir()
    (home.neo4j / transactions).write_text("in the way")
    with pytest.raises(ServerError, match="can't be written"):
        archive.put_in_place(scratch, home)
    assert graph(home) == {databases: "old"}
    assert {path.name for path in home.path.iterdir()} == {"neo4j"}
