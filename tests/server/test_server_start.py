"""The private server: one for all processes, on loopback only, and found again after trouble."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import neo4j
import psutil
import pytest
from neo4j.exceptions import Neo4jError

from cases import for_each
from database import connect
from fabula.errors import Refused, ServerError, StoreError
from fabula.server import IDLE, Address, ServerProgress, process, trial
from fabula.server.private import PrivateServer
from fabula.server.state import Home, LastStart
from fabula.store.user_query import run_user_query
from servers import fabula_db, server_of

pytestmark = [pytest.mark.long, pytest.mark.own_server]

ODD = "a:b"
"""A folder's name that would be two in a class path."""
KEYS = ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "FABULA_API_KEY", "NEO4J_PASSWORD")
START = """
import json, sys
from pathlib import Path
from fabula.server.private import PrivateServer
address = PrivateServer(Path(sys.argv[1]), "256m", "64m").start()
print(json.dumps([address.uri, address.browser, address.username, address.password]))
"""


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Address]]]:
    """A home and what two processes, which started its server at once and ended, were told."""
    home = tmp_path_factory.mktemp("server") / ODD
    command = [sys.executable, "-c", START, str(home)]
    env = os.environ | dict.fromkeys(KEYS, "sk-not-for-neo4j")
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, umask=0) for _ in "12"
    ]
    outputs = [program.communicate()[0] for program in both]
    yield home, [Address(*json.loads(line)) for line in outputs]
    server_of(home).destroy(programs=True)


@pytest.fixture
def home(addresses: tuple[Path, list[Address]]) -> Path:
    return addresses[0]


@pytest.fixture
def address(home: Path) -> Address:
    """The address of the module's server, which runs."""
    return server_of(home).start()


def begun(folder: Path, home: Path) -> Path:
    """A home with the jars and the password of `home`, as if its server had run once."""
    (folder / "neo4j" / "data" / "databases" / "system").mkdir(parents=True)
    (folder / "server").symlink_to(home / "server")
    shutil.copy(home / "credentials.json", folder)
    return folder


def pids(home: Path) -> list[int]:
    mark = f"--home-dir={home.resolve() / 'neo4j'}"
    found = psutil.process_iter(["cmdline"])
    return [process.pid for process in found if mark in (process.info["cmdline"] or ())]


def refused_query(address: Address, query: str) -> str:
    """What the server says of a query that it refuses."""
    login = (address.username, address.password)
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=login) as driver,
        driver.session() as session,
        pytest.raises(Neo4jError) as refused,
    ):
        session.run(query).consume()
    return f"{refused.value.code} {refused.value.message}"


def ask(address: Address, password: str, query: str = "RETURN 1") -> int:
    """The status of a query over HTTP."""
    login = base64.b64encode(f"{address.username}:{password}".encode()).decode()
    request = urllib.request.Request(
        address.browser.replace("/browser/", "/db/neo4j/query/v2"),
        data=json.dumps({"statement": query}).encode(),
        headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_two_processes_that_start_it_at_once_end_with_one_server(
    addresses: tuple[Path, list[Address]],
) -> None:
    home, [first, second] = addresses
    assert first == second
    assert len(pids(home)) == 1


def test_it_survives_the_command_that_started_it(home: Path, address: Address) -> None:
    [pid] = pids(home)
    assert os.getsid(pid) == pid, "a session of its own: no Ctrl-C of a terminal reaches it"
    assert process.answers(int(address.uri.rsplit(":", 1)[1]))


def test_a_start_of_a_running_server_only_looks_at_it(home: Path, address: Address) -> None:
    seen: list[ServerProgress] = []
    assert server_of(home).start(seen.append) == address
    assert seen == []


def test_it_listens_on_loopback_only(home: Path, address: Address) -> None:
    [pid] = pids(home)
    connections = psutil.Process(pid).net_connections("inet")
    listening = [
        connection.laddr for connection in connections if connection.status == psutil.CONN_LISTEN
    ]
    assert {one.ip.removeprefix("::ffff:") for one in listening} == {"127.0.0.1"}
    ports = {f":{one.port}" for one in listening}
    assert ports == {address.uri[-6:], address.browser[-15:-9]}


def test_only_the_generated_password_opens_it(address: Address) -> None:
    assert ask(address, address.password) == 202
    assert ask(address, "neo4j") == 401


def test_nothing_in_the_home_is_open_to_others(home: Path, address: Address) -> None:
    for path in [home, *home.rglob("*")]:
        if path.suffix != ".jar":  # which is the same file in Maven's cache
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path


def test_the_password_is_for_the_user_alone(home: Path, address: Address) -> None:
    assert address.password not in repr(address)
    [pid] = pids(home)
    assert address.password not in " ".join(psutil.Process(pid).cmdline())


def test_it_inherits_no_keys(home: Path, address: Address) -> None:
    [pid] = pids(home)
    inherited = psutil.Process(pid).environ()
    assert "PATH" in inherited
    assert not set(KEYS) & set(inherited)
    assert "sk-not-for-neo4j" not in inherited.values()


@for_each(
    ("url", "refusal"),
    [
        ("file:///proc/self/environ", "allow_csv_import_from_file_urls' is false"),
        ("file:///import/x.csv", "allow_csv_import_from_file_urls' is false"),
        ("http://127.0.0.1:{port}/", "blocked"),
        ("http://localhost:{port}/", "blocked"),
        ("http://[::1]:{port}/", "blocked"),
        ("http://[::ffff:127.0.0.1]:{port}/", "blocked"),
        ("http://0x7f000001:{port}/", "blocked|Couldn't load|Invalid URL"),
        ("ftp://127.0.0.1/", "blocked"),
    ],
)
def test_no_query_reads_a_file_or_asks_an_address(url: str, refusal: str, address: Address) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.2)
        whole = url.format(port=other.getsockname()[1])
        message = refused_query(address, f"LOAD CSV FROM '{whole}' AS line RETURN line")
        assert re.search(refusal, message), message
        with pytest.raises(TimeoutError):
            other.accept()


DOUBLED = "RETURN size(reduce(text = 'abcdefgh', i IN range(1, 40) | text + text))"
"""A statement that wants all memory soon."""


@pytest.mark.parametrize(
    "query",
    [
        DOUBLED,
        "UNWIND range(1, 1000000000) AS x RETURN size(collect(x))",
    ],
    ids=["untracked", "tracked"],
)
def test_a_query_that_wants_all_memory_fails_alone(
    query: str, home: Path, address: Address
) -> None:
    before = pids(home)
    assert "OutOfMemoryError" in refused_query(address, query)
    assert ask(address, address.password, "CREATE (n:Kept) DELETE n") == 202
    assert pids(home) == before


def test_where_memory_ends_the_setting_that_gives_more_is_named(address: Address) -> None:
    with connect(address) as store:
        with pytest.raises(Refused, match=r"needs more memory .* FABULA_NEO4J_HEAP=1g"):
            run_user_query(store, DOUBLED, {})
        # In a session, which tries once: the driver tries a statement of its own for half a minute.
        with (
            pytest.raises(StoreError, match=r"needs more memory .* FABULA_NEO4J_HEAP=1g"),
            store.session() as session,
        ):
            session.run(DOUBLED).consume()


def test_browse_prints_where_the_browser_page_answers_and_how_to_log_in(
    home: Path, address: Address
) -> None:
    result = fabula_db(home, "browse")
    assert result.exit_code == 0, result.output
    for words in (address.page, address.uri, address.username, address.password):
        assert words in result.stdout
    with urllib.request.urlopen(address.page, timeout=120) as page:
        assert b"<title>Neo4j Browser</title>" in page.read()


def test_status_says_where_it_is_and_what_it_takes_up(home: Path, address: Address) -> None:
    status = server_of(home).status()
    assert (status.state, status.address, [status.pid]) == ("running", address, pids(home))
    assert 100e6 < status.memory < 2e9
    assert 150e6 < status.programs < 400e6
    assert 0 < status.data < 100e6
    output = fabula_db(home, "status").stdout
    assert f"running (process {status.pid})" in output
    assert address.uri in output


def test_commands_say_that_another_server_is_configured(
    home: Path, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://elsewhere:7687")
    result = fabula_db(home, "start")
    assert "bolt://elsewhere:7687" in result.stderr
    assert address.uri in result.stdout


def test_logs_print_as_many_lines_as_asked(home: Path, address: Address) -> None:
    log = server_of(home).log_file.read_text()
    assert fabula_db(home, "logs", "--lines", "3").stdout == "".join(log.splitlines(True)[-3:])


def test_a_start_that_was_killed_before_it_knew_the_process_is_gone_on_with(
    home: Path, address: Address
) -> None:
    remembered = Home(home).last_start()
    assert remembered is not None
    Home(home).save_start(replace(remembered, pid=0))
    assert server_of(home).start() == address
    assert Home(home).last_start() == remembered


def test_the_ports_are_remembered_before_there_is_a_process(
    home: Path, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = begun(tmp_path / "other", home)

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "spawn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        server_of(other).start()
    remembered = Home(other).last_start()
    assert remembered is not None
    assert f":{remembered.bolt}\n" in (other / "neo4j" / "conf" / "neo4j.conf").read_text()


def test_a_server_that_does_not_open_its_graph_is_told_from_one_that_does(
    home: Path, address: Address
) -> None:
    remembered = Home(home).last_start()
    assert remembered is not None
    query = trial.Edit("RETURN $number AS number", {"number": "7"})
    answer = trial.run(remembered, address.password, query)
    assert answer and answer["data"]["values"] == [["7"]]
    assert trial.run(remembered, "wrong", query) is None
    assert trial.run(LastStart(*process.free_ports(2)), address.password, query) is None


def test_data_that_another_server_has_open_is_left_alone(
    home: Path, address: Address, tmp_path: Path
) -> None:
    other = begun(tmp_path / "other", home)
    shutil.rmtree(other / "neo4j" / "data")
    (other / "neo4j" / "data").symlink_to(home / "neo4j" / "data")
    with pytest.raises(ServerError, match=r"Another server has the data .* open"):
        server_of(other).start()
    assert pids(other) == []
    assert ask(address, address.password) == 202


def test_a_server_that_dies_at_its_start_says_why_and_where_its_log_is(
    home: Path, tmp_path: Path
) -> None:
    other = begun(tmp_path / "other", home)
    with pytest.raises(ServerError, match=r"too little memory.*Too small maximum heap"):
        PrivateServer(other, "1m", "64m").start()
    with pytest.raises(ServerError, match=r"stopped while it started: .*console\.log"):
        PrivateServer(other, "256m", "-1m").start()
    assert server_of(other).status().state == "stopped"


def test_it_goes_on_after_a_kill_and_a_stop_with_all_that_it_held(
    home: Path, address: Address, tmp_path: Path
) -> None:
    keep = "CREATE CONSTRAINT kept FOR (n:Kept) REQUIRE n.id IS UNIQUE"
    assert ask(address, address.password, keep) == 202
    assert ask(address, address.password, "CREATE (:Kept {id: 1})") == 202
    (home / "server" / "former").mkdir()
    [pid] = pids(home)
    killed = psutil.Process(pid)
    killed.kill()
    psutil.wait_procs([killed], timeout=120)
    assert server_of(home).status().state == "stopped"
    # A dump needs what only the logs of the killed server hold: it is started, in spite of its
    # stale process id, and stopped cleanly.
    seen: list[ServerProgress] = []
    last = Home(home).last_start()
    assert last is not None
    # A connection of any other program may have got one of them meanwhile.
    are_free = process.is_free(last.bolt) and process.is_free(last.http)
    server_of(home).dump(tmp_path / "file", report=seen.append)
    assert (tmp_path / "file").is_file()
    assert "Starting Neo4j" in {progress.doing for progress in seen}
    assert seen[-1] == IDLE
    assert pids(home) == [], "as it was before"
    assert not (home / "server" / "former").exists(), "jars that no server runs from any more"
    assert "Stopped." in server_of(home).log_file.read_text().splitlines()[-1]
    assert fabula_db(home, "stop").stdout == "Neo4j was not running.\n"
    remembered = Home(home).last_start()
    assert remembered is not None
    if are_free:
        assert remembered.address(address.password) == address, "the ports of the last start"
    with socket.create_server(("127.0.0.1", remembered.bolt)):
        moved = server_of(home).start()
    assert moved.uri != address.uri
    assert moved.password == address.password
    assert ask(moved, moved.password, "CREATE (:Kept {id: 1})") == 400, "it is there already"
    login = (moved.username, moved.password)
    with neo4j.GraphDatabase.driver(moved.uri, auth=login) as driver, driver.session() as session:
        # Who has a turn is idle, and the server would wait 70 s for him.
        session.begin_transaction(timeout=0).run("CREATE (:Turn)").consume()
        started = time.monotonic()
        assert fabula_db(home, "stop").stdout == "Neo4j is stopped.\n"
        assert time.monotonic() - started < 65


def test_a_damaged_state_of_a_running_server_is_told_and_made_again(
    home: Path, address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    before, running = Home(home).last_start(), pids(home)
    for damage in ('{"bolt": 1e400, "http": 99999999, "pid": -1}', "[" * 100_000, "", "\0"):
        caplog.clear()
        Home(home).state.write_text(damage)
        assert server_of(home).start() == address
        assert "state.json is damaged" in caplog.text
        assert (Home(home).last_start(), pids(home)) == (before, running)
    Home(home).state.unlink()
    assert server_of(home).start() == address


def test_a_lost_password_is_told_and_another_made_and_the_graph_stays(
    home: Path, address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    assert ask(address, address.password, "MERGE (:Graph {id: 7})") == 202
    Home(home).credentials.unlink()
    assert Home(home).password() is None, "as where they are damaged"
    Home(home).credentials.write_text('{"password": [[1e400]]}')
    renewed = server_of(home).start()
    assert "credentials.json does not hold the password" in caplog.text
    assert renewed.password != address.password
    query = "MATCH (n:Graph {id: 7}) RETURN 1 / count(n)"
    assert ask(renewed, renewed.password, query) == 202
    assert ask(renewed, address.password) == 401
    assert len(pids(home)) == 1


def test_who_uses_the_server_is_asked_before_it_is_stopped(
    addresses: tuple[Path, list[Address]], tmp_path: Path
) -> None:
    home, [address, _] = addresses
    server = server_of(home)
    address = server.start()
    assert server.find_users() == []
    using = (
        "import neo4j, sys; _, uri, *auth = sys.argv;"
        "driver = neo4j.GraphDatabase.driver(uri, auth=tuple(auth));"
        "driver.verify_connectivity(); print('ready', flush=True); input()"
    )
    words = [sys.executable, "-c", using, address.uri, address.username, address.password]
    pid = server.status().pid
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        for command in (("stop",), ("dump", str(tmp_path / "file"))):
            result = fabula_db(home, *command)
            assert result.exit_code == 1
            assert f"The private Neo4j is in use by process {program.pid} (" in result.output
            assert "Give --yes to stop it nevertheless" in result.output
        assert server.status().pid == pid, "it was not stopped"
        assert address.password not in result.output
        assert "is in use by" in fabula_db(home, "destroy").output
        assert fabula_db(home, "dump", "--yes", str(tmp_path / "file")).exit_code == 0
        program.communicate("\n")
    assert (tmp_path / "file").is_file()
    server.start()
    assert server.find_users() == []
