"""The private server's data as a file: dumped, lost, loaded, and the same again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import cypher
from fabula import Fabula
from fabula.cli import main
from fabula.errors import ServerError
from fabula.model import Filters
from fabula.server import PrivateServer, archive
from fabula.server.state import Home
from graphs import DIMENSIONS, small_graph, vector

BUILT = {"embedding_model": "test-model"}
ALL = "MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties ORDER BY elementId(n)"


def db(*words: str | Path, code: int = 0, answer: str = "") -> Result:
    result = CliRunner().invoke(main, ["db", *map(str, words)], input=answer)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The folder of a private server of the test's own."""
    yield tmp_path / "home"
    PrivateServer(tmp_path / "home", "256m", "64m").destroy(programs=True)


def test_a_dumped_graph_is_loaded_as_it_was(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "graphs.dump"
    with Fabula() as fabula:
        fabula.store.prepare("test-model", DIMENSIONS)
        fabula.store.replace(small_graph(), BUILT)
        before = cypher(fabula.store, ALL)
    assert f"All graphs are in {file}" in db("dump", file).stdout
    assert [path.name for path in tmp_path.iterdir() if path != home] == [file.name]
    assert PrivateServer(home, "256m", "64m").status().state == "running", "as it was before"
    with Fabula() as fabula:
        fabula.remove("A")
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
        assert cypher(fabula.store, ALL) == before
        assert {index.state for index in fabula.store.indexes()} == {"ONLINE"}
        [entry] = fabula.documents()
        assert fabula.check(entry.id).violations == ()
        assert fabula.store.nearest(vector(0), 3, Filters(), "test-model")


def test_a_dump_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "graphs.dump"
    file.write_text("precious")
    assert "is there already: name another file, or give --force" in db("dump", file, code=1).output
    assert file.read_text() == "precious"
    assert "There is nothing to dump" in db("dump", file, "--force", code=1).output
    assert "There is no folder" in db("dump", tmp_path / "no" / "file", code=1).output


def test_load_asks_first_and_names_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "Aborted" in db("load", tmp_path / "file", code=1, answer="n\n").output
    assert "No such file" in db("load", "--yes", tmp_path / "file", code=1).output


def test_old_data_is_put_back_where_the_new_cannot_take_its_place(tmp_path: Path) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / "home" / "loading.x"
    databases, transactions = archive.STORES
    for file, words in (
        (home.neo4j / databases / "file", "old"),
        (folder / databases / "file", "new"),
        (folder / transactions / "file", "new"),
        (home.neo4j / transactions.parent, "in the way"),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(words)
    with pytest.raises(ServerError, match="can't be written"):
        archive.put_in_place(folder, home)
    assert (home.neo4j / databases / "file").read_text() == "old"
    assert not folder.exists()
