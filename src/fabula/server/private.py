"""The private server as a whole: it is started on demand and found again by later commands."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Literal, TypeVar

from fabula.errors import ServerError
from fabula.server import archive, dumps, health, process, repair, running
from fabula.server.admin import AdminTool
from fabula.server.artifacts import read_lock
from fabula.server.disk_space import check_disk_space, write_error
from fabula.server.fetch import SPARE_BYTES
from fabula.server.launch import Launcher
from fabula.server.private_files import make_home
from fabula.server.progress import IDLE, ProgressReport, ServerProgress, ignore_progress
from fabula.server.state import Address, Home, LastStart
from fabula.server.trial import Edit

LOG = logging.getLogger("fabula")

T = TypeVar("T")
LOCK_SECONDS = 600
"""How long to wait for another process that starts or stops the server."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state of the server.

    Attributes:
        state: 'broken' means that the server runs and its database does not.
        pid: Its process id; 0 if it is stopped.
        address: Where it answers; None if it does not.
        version: The version of Neo4j.
        memory: How many bytes of memory it uses.
        data: How many bytes its data, logs and configuration take.
        programs: How many bytes its jars take.
    """

    state: Literal["stopped", "starting", "running", "broken"]
    pid: int
    address: Address | None
    version: str
    memory: int
    data: int
    programs: int


@dataclass(frozen=True, slots=True)
class Dump:
    """A dump: its file, when it was made in seconds since the epoch, and its size."""

    file: Path
    made_at: float
    bytes: int


class PrivateServer:
    """Neo4j Community on loopback, which no other machine can reach."""

    def __init__(
        self,
        home: Path,
        heap: str,
        page_cache: str,
        *,
        keep_dumps: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Name the server; nothing is started.

        Args:
            home: Its folder.
            heap: The size of its heap, such as 512m or 2g.
            page_cache: The size of its page cache.
            keep_dumps: Whether to keep the last dumps of its graphs, at most one a day.
            clock: The time by which dumps are named and due, in seconds since the epoch.
        """
        self._home = Home.of(home)
        self._launcher = Launcher(self._home, heap, page_cache)
        self._keep_dumps = keep_dumps
        self._clock = clock

    @property
    def log_file(self) -> Path:
        """Return Neo4j's log."""
        return self._home.log

    def start(self, report: ProgressReport = ignore_progress) -> Address:
        """Return the address of the server, which is fetched and started first if needed.

        This takes some hundredths of a second if it runs already.

        Raises:
            ServerError: The server could not be fetched or started.
        """
        if (address := running.find_address(self._home)) is not None:
            return address
        with self._hold_lock(report):
            # Another process may have started it while this one waited.
            if (address := running.find_address(self._home)) is not None:
                return address
            if not self._find_pid(self._home.last_start()):
                self._dump_daily(report)
            return self._start(report)

    def stop(self, report: ProgressReport = ignore_progress) -> bool:
        """Stop the server cleanly; return False if it did not run."""
        if not self._home.path.is_dir():
            return False
        with self._hold_lock(report):
            was_running = self._stop(report)
            if was_running:
                self._dump_daily(report)
            return was_running

    def repair(self, report: ProgressReport = ignore_progress) -> Address:
        """Return the address of the server; restart it if its database has stopped.

        A transaction log that can't be read to its end is repaired.

        Raises:
            ServerError: The database does not start; the message says what else can be done.
        """
        with self._hold_lock(report):
            # First, because a full disk may be why the database stopped, and a start would fail.
            check_disk_space(self._home.path, SPARE_BYTES)
            address = running.find_address(self._home)
            log_bytes = repair.measure_log(self._home)
            if address is None or health.find_problem(address):
                self._stop(report)
                log_bytes = repair.measure_log(self._home)
                address = self._start(report)
            problem = health.find_problem(address)
            if problem and repair.is_log_unreadable(self._home, log_bytes):
                address = self._repair(report)
                problem = health.find_problem(address)
        if problem:
            raise ServerError(f"{problem} See {self.log_file}. {self._make_advice()}")
        return address

    def find_users(self) -> list[str]:
        """Return descriptions of the other processes that have a connection to the server."""
        remembered = self._home.last_start()
        pid = self._find_pid(remembered)
        if remembered is None or not pid:
            return []
        clients = process.find_clients(remembered.bolt, pid)
        return [
            f"process {client} ({command or 'its name is not known'})"
            if client
            else "a process of another user"
            for client, command in sorted(clients.items())
        ]

    def status(self) -> ServerStatus:
        """Return the state of the server now."""
        remembered = self._home.last_start()
        pid = self._find_pid(remembered)
        address = running.find_address(self._home)
        lock_list = read_lock()
        is_broken = address is not None and health.find_problem(address) != ""
        answering: Literal["running", "broken"] = "broken" if is_broken else "running"
        return ServerStatus(
            state=answering if address else "starting" if pid else "stopped",
            pid=pid,
            address=address,
            version=lock_list.version,
            memory=process.memory_in_use(pid) if pid else 0,
            data=_size(self._home.neo4j),
            programs=_size(self._home.programs),
        )

    def state(self) -> int | Literal["ended", "stopped", "busy"]:
        """Return the Bolt port of the server if its process runs, or why it does not.

        This takes about a millisecond, starts nothing, and does not say whether the server answers.

        Returns:
            The port; "ended" if the process died by itself, for example because it was killed;
            "stopped" if a command stopped it or it was never started; "busy" if a command is
            starting or stopping it.
        """
        from filelock import FileLock, Timeout

        remembered = self._home.last_start()
        if remembered is None or not remembered.pid:
            return "stopped"
        if running.is_running(self._home, remembered):
            return remembered.bolt
        try:
            with FileLock(self._home.lock, timeout=0, mode=0o600):
                # A command that stops it records that only after the process has ended.
                remembered = self._home.last_start()
                return "ended" if remembered is not None and remembered.pid else "stopped"
        except Timeout:
            return "busy"

    def destroy(
        self,
        *,
        programs: bool = False,
        dumps: bool = False,
        report: ProgressReport = ignore_progress,
    ) -> None:
        """Stop the server and delete its data and password.

        Args:
            programs: Whether to delete its jars as well.
            dumps: Whether to delete its dumps as well.
            report: Told of the progress.
        """
        if not self._home.path.is_dir():
            return
        with self._hold_lock(report):
            self._stop(report)
            folders = [self._home.neo4j, self._home.torn_logs, self._home.last_answers]
            folders += [self._home.programs] if programs else []
            folders += [self._home.dumps] if dumps else []
            for folder in folders:
                if folder.is_dir():
                    shutil.rmtree(folder)
            self._home.credentials.unlink(missing_ok=True)
            self._home.state.unlink(missing_ok=True)

    def refuse_unwritable(self, file: Path, *, overwrite: bool) -> None:
        """Raise ServerError if `dump` could not write a file."""
        archive.refuse_unwritable(file.expanduser().absolute(), overwrite)

    def dump(
        self, file: Path, *, overwrite: bool = False, report: ProgressReport = ignore_progress
    ) -> None:
        """Write all graphs to a file, without passwords. A running server is stopped meanwhile.

        Raises:
            ServerError: The file can't be written, or exists and is not to be overwritten.
        """
        file = file.expanduser().absolute()
        archive.refuse_unwritable(file, overwrite)
        with self._hold_lock(report):
            if not archive.has_data(self._home):
                raise ServerError(
                    f"There is nothing to dump: no server ever ran in {self._home.path}."
                )
            tool = self._launcher.admin(report)
            with self._pause_server(report):
                doing = ServerProgress(f"Dumping the graph to {file}")
                self._dump_recovered(lambda: archive.dump(tool, self._home, file), doing, report)

    def load(
        self, file: Path, *, edit: Edit | None = None, report: ProgressReport = ignore_progress
    ) -> int:
        """Replace all graphs by those of a file that `dump` wrote; the password stays.

        The file is unpacked and opened by another server first. Only then is the running server
        stopped and its data replaced, so a file that can't be loaded changes nothing. A kill at any
        point leaves the old graphs or the new ones.

        Args:
            file: The file.
            edit: Changes the new graphs before anybody sees them.
            report: Told of the progress.

        Returns:
            The number that `edit` returned; 0 without one.

        Raises:
            ServerError: The file can't be loaded.
        """
        file = file.expanduser().absolute()
        archive.refuse_unreadable(file)
        with self._hold_lock(report):
            tool = self._launcher.admin(report)
            report(ServerProgress(f"Loading {file}"))
            unpacked = archive.unpack(tool, self._launcher, file, report, edit)
            with unpacked as (scratch, edited), self._pause_server(report):
                archive.put_in_place(scratch, self._home)
        return edited

    def make_dump(
        self, report: ProgressReport = ignore_progress, *, unless_since: float = inf
    ) -> Path | None:
        """Make a dump now; the server is stopped meanwhile.

        Args:
            report: Told of the progress.
            unless_since: No dump is made if there is one that was made at or after this time.

        Returns:
            The dump; None if none was made: dumps are switched off, or there is no data.

        Raises:
            ServerError: The dump could not be made.
        """
        with self._hold_lock(report):
            if not self._keep_dumps or not archive.has_data(self._home):
                return None
            newest = self.newest_dump()
            if newest is not None and newest.made_at >= unless_since:
                return None
            dumps.check_space_for_dump(self._home)  # before the server is stopped
            tool = self._launcher.admin(report)
            with self._pause_server(report):
                return self._make_dump(tool, ServerProgress("Making a dump of all graphs"), report)

    def list_dumps(self) -> list[Path]:
        """Return the dumps, newest first; `load` restores one."""
        return dumps.list_dumps(self._home)

    def newest_dump(self) -> Dump | None:
        """Return the newest dump; None if there is none."""
        for file in dumps.list_dumps(self._home):
            with suppress(FileNotFoundError):  # another process may delete it as an old one
                return Dump(file, dumps.made_at(file), file.stat().st_size)
        return None

    def _dump_daily(self, report: ProgressReport) -> None:
        """Make a dump of the stopped server if one is due. A failure is only logged."""
        if not self._keep_dumps:
            return
        try:
            if dumps.is_due(self._home, self._clock()):
                doing = ServerProgress("Making the daily dump of all graphs")
                self._make_dump(self._launcher.admin(report), doing, report)
        except (ServerError, OSError) as error:
            LOG.error("The daily dump of the graphs could not be made: %s", error)

    def _make_dump(self, tool: AdminTool, doing: ServerProgress, report: ProgressReport) -> Path:
        return self._dump_recovered(
            lambda: dumps.make_dump(tool, self._home, self._clock()), doing, report
        )

    def _dump_recovered(
        self, dump: Callable[[], T], doing: ServerProgress, report: ProgressReport
    ) -> T:
        """Return what `dump` returns; the server is stopped before and afterwards."""
        report(doing)
        try:
            return dump()
        except archive.Unrecovered:
            # After a kill, only a start and a stop recover what is in the logs.
            self._start(report)
            self._stop(report)
            report(doing)
            return dump()

    @contextmanager
    def _pause_server(self, report: ProgressReport) -> Iterator[None]:
        """Stop a running server, and start it again at the end of the block."""
        was_running = self._stop(report)
        try:
            yield
        finally:
            if was_running:
                self._start(report)

    @contextmanager
    def _hold_lock(self, report: ProgressReport) -> Iterator[None]:
        """Keep other processes from starting or stopping the server until the block ends."""
        from filelock import FileLock, Timeout

        try:
            make_home(self._home.path, self._home)
            lock = FileLock(self._home.lock, mode=0o600)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                report(ServerProgress("Waiting for another Fabula that starts or stops the server"))
                lock.acquire(timeout=LOCK_SECONDS)
            try:
                archive.recover(self._home)
                self._home.recover_ports()
                yield
            finally:
                lock.release()
                report(IDLE)
        except Timeout as error:
            raise ServerError(
                "Another process has been starting or stopping the private Neo4j for "
                f"{LOCK_SECONDS // 60} minutes; it holds {self._home.lock}. End that process."
            ) from error
        except OSError as error:
            raise write_error(error, self._home.path) from error

    def _find_pid(self, remembered: LastStart | None) -> int:
        """Return the server's process id; 0 if it does not run."""
        if remembered is not None and running.is_running(self._home, remembered):
            return remembered.pid
        return process.find_server(self._home)

    def _make_advice(self) -> str:
        """Return what the user can do about a database that can't be opened."""
        if self.list_dumps():
            return "`fabula db restore` puts the newest dump in its place."
        return (
            "There is no dump of it. Nothing was deleted: make a copy of "
            f"{self._home.neo4j / 'data'} before you try anything else. If its texts can be "
            "ingested again, `fabula db destroy` lets you begin with an empty graph."
        )

    def _repair(self, report: ProgressReport) -> Address:
        """Have the server cut off the unreadable end of its transaction log; return its address."""
        self._stop(report)
        report(ServerProgress("Repairing the transaction log, which can't be read to its end"))
        # The logs are restored from it if the database does not open even so.
        copy = repair.set_logs_aside(self._home)
        tolerant = replace(self._launcher, heap=repair.HEAP)
        tool = tolerant.admin(report)
        try:
            server = tolerant.launch(tool, self._home.last_start(), report, repair.TOLERANT)
            is_open = not health.find_problem(server.address(self._home.password() or ""))
        except ServerError:  # for example too little memory; the ordinary start reports it
            is_open = False
        self._stop(report)
        if not is_open:
            repair.put_logs_back(self._home, copy)
            return self._start(report)
        try:
            archive.check(tool, self._home)
            result = "Neo4j's own check found no error in the graph."
        except ServerError as error:
            result = f"Neo4j's own check of the graph: {error} `fabula check` says more."
        LOG.warning(
            "The end of the graph's transaction log could not be read, as happens when its disk "
            "fills up. Neo4j has recovered everything that was committed before, and has cut off "
            "the rest. %s A copy of the log as it was is in %s; delete it once everything works.",
            result,
            copy,
        )
        return self._start(report)

    def _start(self, report: ProgressReport) -> Address:
        remembered = self._home.last_start()
        pid = self._find_pid(remembered)
        if pid and self._home.password() is None:
            self._stop(report)  # only a new start can set a password
            pid = 0
        if not pid:
            tool = self._launcher.admin(report)
            self._launcher.forget_old_jars()
            server = self._launcher.launch(tool, remembered, report)
        elif remembered is not None:
            # It was started by a process that ended before the server was ready.
            server = replace(remembered, pid=pid, begun=process.start_time(pid))
            self._home.save_start(server)
            self._launcher.wait(server, report)
        else:
            raise ServerError(
                f"The private Neo4j runs as process {pid}, but {self._home.state}, which "
                "records its ports, is missing. Run `fabula db stop` and try again."
            )
        return server.address(self._home.password() or "")

    def _stop(self, report: ProgressReport) -> bool:
        remembered = self._home.last_start()
        pid = self._find_pid(remembered)
        if not pid:
            return False
        report(ServerProgress(f"Stopping Neo4j (process {pid})"))
        address = running.find_address(self._home)
        if address is not None and health.is_down(address):
            # An orderly stop would write behind the entry at which its log broke off (`repair`).
            # Everything that was committed is in the log.
            process.kill(pid)
        elif not process.end(pid, process.STOP_SECONDS):
            report(
                ServerProgress(f"It did not stop within {process.STOP_SECONDS} s and was killed")
            )
        if remembered is not None:
            self._home.save_start(remembered.without_process())
        return True


def _size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size
        except FileNotFoundError:
            continue  # a running server deletes files
    return total
