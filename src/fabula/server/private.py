"""The private server as a whole: started on demand, found again by every later command."""

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
from fabula.server import archive, dumps, health, process, repair
from fabula.server.admin import AdminTool
from fabula.server.artifacts import read_lock
from fabula.server.disk_space import check_disk_space, write_error
from fabula.server.fetch import SPARE_BYTES
from fabula.server.launch import Launcher
from fabula.server.private_files import make_home
from fabula.server.progress import IDLE, Progress, Report, quiet
from fabula.server.state import Address, Home, LastStart

LOG = logging.getLogger("fabula")

T = TypeVar("T")
LOCK_SECONDS = 600
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Status:
    """How the server is; `memory`, `data` and `programs` in bytes, `pid` 0 when it is stopped.

    A server that is broken runs, and its database does not.
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
    """A dump that was kept: when it was made, in seconds since the epoch, and its size."""

    file: Path
    made_at: float
    bytes: int


class PrivateServer:
    """Neo4j Community on loopback, in folder `home`; `heap` and `page_cache` as 512m or 2g.

    With `keep_dumps` it keeps the last dumps of its graphs, at most one a day; `clock` tells the
    time by which they are named and fall due.
    """

    def __init__(
        self,
        home: Path,
        heap: str,
        page_cache: str,
        *,
        keep_dumps: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._home = Home(home.expanduser().resolve())
        self._launcher = Launcher(self._home, heap, page_cache)
        self._keeps_dumps = keep_dumps
        self._clock = clock

    @property
    def log_file(self) -> Path:
        """Neo4j's log."""
        return self._home.log

    def start(self, report: Report = quiet) -> Address:
        """The address of the running server, which is fetched and started first where needed.

        Costs some hundredths of a second when it runs already. Raises ServerError.
        """
        if (address := self._running()) is not None:
            return address
        with self._alone(report):
            # Another process may have started it while this one waited.
            if (address := self._running()) is not None:
                return address
            if not self._pid(self._home.last_start()):
                self._dump_daily(report)
            return self._started(report)

    def stop(self, report: Report = quiet) -> bool:
        """Ends the server cleanly; False when it did not run."""
        if not self._home.path.is_dir():
            return False
        with self._alone(report):
            ran = self._stopped(report)
            if ran:
                self._dump_daily(report)
            return ran

    def mend(self, report: Report = quiet) -> Address:
        """The address of the server, started anew where its database is down: nothing else helps.

        A transaction log that can't be read to its end is repaired. Raises ServerError, which says
        what else may be done, where the database is down again.
        """
        with self._alone(report):
            # First: it may be why the database is down, and a start would be in vain.
            check_disk_space(self._home.path, SPARE_BYTES)
            address = self._running()
            begun = repair.measure_log(self._home)
            if address is None or health.find_problem(address):
                self._stopped(report)
                begun = repair.measure_log(self._home)
                address = self._started(report)
            wrong = health.find_problem(address)
            if wrong and repair.is_log_unreadable(self._home, begun):
                address = self._repaired(report)
                wrong = health.find_problem(address)
        if wrong:
            raise ServerError(f"{wrong} See {self.log_file}. {self._advice()}")
        return address

    def find_users(self) -> list[str]:
        """Return which other processes have a connection to the server, in words."""
        remembered = self._home.last_start()
        pid = self._pid(remembered)
        if remembered is None or not pid:
            return []
        clients = process.find_clients(remembered.bolt, pid)
        return [
            f"process {client} ({command or 'its name is not known'})"
            if client
            else "a process of another user"
            for client, command in sorted(clients.items())
        ]

    def check_room(self, needed: int) -> None:
        """Raises ServerError where the disk of the server's data has fewer bytes free."""
        check_disk_space(self._home.path, needed)

    def status(self) -> Status:
        """How the server is now."""
        remembered = self._home.last_start()
        pid = self._pid(remembered)
        address = self._running()
        lock_list = read_lock()
        broken = address is not None and health.find_problem(address) != ""
        running: Literal["running", "broken"] = "broken" if broken else "running"
        return Status(
            state=running if address else "starting" if pid else "stopped",
            pid=pid,
            address=address,
            version=lock_list.version,
            memory=process.memory_in_use(pid) if pid else 0,
            data=_size(self._home.neo4j),
            programs=_size(self._home.programs),
        )

    def state(self) -> int | Literal["ended", "stopped", "busy"]:
        """Return the Bolt port of the server whose process runs, or how it went down.

        "ended": the process died by itself, as one that was killed or had no memory; "stopped": a
        command stopped it, or it was never started; "busy": a command is just starting or stopping
        it. Costs about a millisecond, starts nothing, and does not tell whether the server answers.
        """
        from filelock import FileLock, Timeout

        remembered = self._home.last_start()
        if remembered is None or not remembered.pid:
            return "stopped"
        if self._runs(remembered):
            return remembered.bolt
        try:
            with FileLock(self._home.lock, timeout=0, mode=0o600):
                # A command that stopped it notes that only after the process has ended.
                remembered = self._home.last_start()
                return "ended" if remembered is not None and remembered.pid else "stopped"
        except Timeout:
            return "busy"

    def destroy(
        self, *, programs: bool = False, dumps: bool = False, report: Report = quiet
    ) -> None:
        """Stops the server and deletes its data and password.

        With `programs` it deletes its jars, too, and with `dumps` the dumps that were kept.
        """
        if not self._home.path.is_dir():
            return
        with self._alone(report):
            self._stopped(report)
            folders = [self._home.neo4j, self._home.torn_logs]
            folders += [self._home.programs] if programs else []
            folders += [self._home.dumps] if dumps else []
            for folder in folders:
                if folder.is_dir():
                    shutil.rmtree(folder)
            self._home.credentials.unlink(missing_ok=True)
            self._home.state.unlink(missing_ok=True)
            self._home.last_answer.unlink(missing_ok=True)

    def refuse_unwritable(self, file: Path, *, overwrite: bool) -> None:
        """Raises ServerError where `dump` would not write `file`."""
        archive.refuse_unwritable(file.expanduser().absolute(), overwrite)

    def dump(self, file: Path, *, overwrite: bool = False, report: Report = quiet) -> None:
        """Writes all graphs to `file`; the server, where it runs, is stopped meanwhile.

        Passwords are not in it. Raises ServerError where `file` is there and not to be
        overwritten.
        """
        file = file.expanduser().absolute()
        archive.refuse_unwritable(file, overwrite)
        with self._alone(report):
            if not archive.has_data(self._home):
                raise ServerError(
                    f"There is nothing to dump: no server ever ran in {self._home.path}."
                )
            tool = self._launcher.admin(report)
            with self._still(report):
                doing = Progress(f"Dumping the graph to {file}")
                self._recovered(lambda: archive.dump(tool, self._home, file), doing, report)

    def load(self, file: Path, *, report: Report = quiet) -> None:
        """Replaces all graphs by those of `file`, which `dump` wrote; the password stays.

        Only once all of `file` is unpacked, and another server has opened it, is the server
        stopped, where it runs, and the old data given up: with a file that can't be loaded,
        nothing changes. A kill at any point leaves the old graphs or the new ones.
        """
        file = file.expanduser().absolute()
        archive.refuse_unreadable(file)
        with self._alone(report):
            tool = self._launcher.admin(report)
            report(Progress(f"Loading {file}"))
            unpacked = archive.unpack(tool, self._launcher, file, report)
            with unpacked as scratch, self._still(report):
                archive.put_in_place(scratch, self._home)

    def keep_dump(self, report: Report = quiet, *, unless_since: float = inf) -> Path | None:
        """A dump that is kept, the server being stopped meanwhile, whenever the last one was made.

        None where no dumps are kept, nothing is there, or one was made `unless_since` then. Raises
        ServerError where it fails.
        """
        with self._alone(report):
            if not self._keeps_dumps or not archive.has_data(self._home):
                return None
            newest = self.newest_dump()
            if newest is not None and newest.made_at >= unless_since:
                return None
            dumps.check_space_for_dump(self._home)  # before anybody is cut off
            tool = self._launcher.admin(report)
            with self._still(report):
                return self._dump_kept(tool, Progress("Keeping a dump of all graphs"), report)

    def dumps(self) -> list[Path]:
        """The dumps that were kept, the newest first; `load` puts one back."""
        return dumps.list_dumps(self._home)

    def newest_dump(self) -> Dump | None:
        """Return the newest dump that was kept, with its time and size."""
        for file in dumps.list_dumps(self._home):
            with suppress(FileNotFoundError):  # another process may delete it as an old one
                return Dump(file, dumps.made_at(file), file.stat().st_size)
        return None

    def _dump_daily(self, report: Report) -> None:
        """Keeps a dump of the server, which stands still, where one is due; never in the way."""
        if not self._keeps_dumps:
            return
        try:
            if dumps.is_due(self._home, self._clock()):
                doing = Progress("Keeping a dump of all graphs, as once a day")
                self._dump_kept(self._launcher.admin(report), doing, report)
        except (ServerError, OSError) as error:
            LOG.error("No dump of the graphs was kept: %s", error)

    def _dump_kept(self, tool: AdminTool, doing: Progress, report: Report) -> Path:
        return self._recovered(
            lambda: dumps.make_dump(tool, self._home, self._clock()), doing, report
        )

    def _recovered(self, dump: Callable[[], T], doing: Progress, report: Report) -> T:
        """Return what `dump` returns; the server stands still before and after.

        After a kill the server is started and stopped first: only that brings in what is in its
        logs.
        """
        report(doing)
        try:
            return dump()
        except archive.Unrecovered:
            self._started(report)
            self._stopped(report)
            report(doing)
            return dump()

    @contextmanager
    def _still(self, report: Report) -> Iterator[None]:
        """A server that runs is stopped meanwhile and started again afterwards."""
        ran = self._stopped(report)
        try:
            yield
        finally:
            if ran:
                self._started(report)

    @contextmanager
    def _alone(self, report: Report) -> Iterator[None]:
        """Keeps every other process from starting or stopping the server meanwhile."""
        from filelock import FileLock, Timeout

        try:
            make_home(self._home.path, self._home)
            lock = FileLock(self._home.lock, mode=0o600)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                report(Progress("Waiting for another Fabula that starts or stops the server"))
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

    def _running(self) -> Address | None:
        """The address, when the server runs and answers."""
        remembered = self._home.last_start()
        if remembered is None or not self._runs(remembered):
            return None
        # The password is for a process that was proven to be the server, and listens itself.
        if not process.listens(remembered.pid, remembered.ports):
            return None
        password = self._home.password()
        if password is None or not process.answers(remembered.bolt):
            return None
        return remembered.address(password)

    def _runs(self, remembered: LastStart) -> bool:
        return process.is_running(remembered.pid, self._home, remembered.begun)

    def _pid(self, remembered: LastStart | None) -> int:
        """The server's process id; 0 when it does not run."""
        if remembered is not None and self._runs(remembered):
            return remembered.pid
        return process.find_server(self._home)

    def _advice(self) -> str:
        """Return what a person can do about a database that can't be opened."""
        if self.dumps():
            return "`fabula db restore` puts the newest dump in its place."
        return (
            "There is no dump of it. Nothing was deleted: keep a copy of "
            f"{self._home.neo4j / 'data'} before you try anything else. Only where its texts can "
            "be ingested again, `fabula db destroy` begins with an empty graph."
        )

    def _repaired(self, report: Report) -> Address:
        """Return the address of the server once it has cut off the unreadable end of its log.

        A copy of the transaction logs is kept. Where the database does not open even so, the logs
        are put back as they were.
        """
        self._stopped(report)
        report(Progress("Repairing the transaction log, which can't be read to its end"))
        copy = repair.set_logs_aside(self._home)
        tolerant = replace(self._launcher, heap=repair.HEAP)
        tool = tolerant.admin(report)
        try:
            server = tolerant.launch(tool, self._home.last_start(), report, repair.TOLERANT)
            is_open = not health.find_problem(server.address(self._home.password() or ""))
        except ServerError:  # as where there is too little memory; the plain start says the rest
            is_open = False
        self._stopped(report)
        if not is_open:
            repair.put_logs_back(self._home, copy)
            return self._started(report)
        try:
            archive.check(tool, self._home)
            found = "Neo4j's own check finds the graph in order."
        except ServerError as error:
            found = f"Neo4j's own check of the graph says: {error} `fabula check` tells more."
        LOG.warning(
            "The end of the graph's transaction log could not be read, as happens when its disk "
            "fills up. Neo4j has recovered everything that was committed before, and has cut off "
            "the rest. %s A copy of the log as it was is in %s; delete it once all is well.",
            found,
            copy,
        )
        return self._started(report)

    def _started(self, report: Report) -> Address:
        remembered = self._home.last_start()
        pid = self._pid(remembered)
        if pid and self._home.password() is None:
            self._stopped(report)  # only a start can give it a new one
            pid = 0
        if not pid:
            tool = self._launcher.admin(report)
            self._launcher.forget_old_jars()
            server = self._launcher.launch(tool, remembered, report)
        elif remembered is not None:
            # Started by a process that did not live to see it ready.
            server = replace(remembered, pid=pid, begun=process.start_time(pid))
            self._home.save_start(server)
            self._launcher.wait(server, report)
        else:
            raise ServerError(
                f"The private Neo4j runs as process {pid}, but {self._home.state}, which "
                "holds its ports, is gone. Run `fabula db stop` and try again."
            )
        return server.address(self._home.password() or "")

    def _stopped(self, report: Report) -> bool:
        remembered = self._home.last_start()
        pid = self._pid(remembered)
        if not pid:
            return False
        report(Progress(f"Stopping Neo4j (process {pid})"))
        address = self._running()
        if address is not None and health.is_down(address):
            # Asked to stop, it would write behind the entry at which its log broke off
            # (`repair`). All that was committed is in the log.
            process.kill(pid)
        elif not process.end(pid, process.STOP_SECONDS):
            report(Progress(f"It did not stop within {process.STOP_SECONDS} s and was killed"))
        if remembered is not None:
            self._home.save_start(remembered.stopped())
        return True


def _size(folder: Path) -> int:
    """The bytes of all files under `folder`."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size
        except FileNotFoundError:
            continue  # a running server deletes files
    return total
