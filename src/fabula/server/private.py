"""The private server as a whole: started on demand, found again by every later command."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from fabula.errors import ServerError
from fabula.server import archive, dumps, health, process
from fabula.server.artifacts import read_lock
from fabula.server.fetch import SPARE
from fabula.server.launch import Launcher
from fabula.server.private_files import make_home
from fabula.server.progress import IDLE, Progress, Report, quiet
from fabula.server.room import check_room, refused
from fabula.server.state import Address, Home, Remembered

LOG = logging.getLogger("fabula")

LOCK_PATIENCE = 600
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


class PrivateServer:
    """Neo4j Community on loopback, in folder `home`; `heap` and `page_cache` as 512m or 2g.

    With `keep_dumps` it keeps the last dumps of its graphs, at most one a day.
    """

    def __init__(self, home: Path, heap: str, page_cache: str, *, keep_dumps: bool = False) -> None:
        self._home = Home(home.expanduser().resolve())
        self._launcher = Launcher(self._home, heap, page_cache)
        self._keeps_dumps = keep_dumps

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
            if not self._pid(self._home.remembered()):
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

        Raises ServerError, which says what else may be done, where it is down again.
        """
        with self._alone(report):
            # First: it may be why the database is down, and a start would be in vain.
            check_room(self._home.path, SPARE)
            address = self._running()
            if address is None or health.trouble(address):
                self._stopped(report)
                address = self._started(report)
        if wrong := health.trouble(address):
            cure = "`fabula db restore` puts the newest dump in its place."
            none = "There is no dump of it; `fabula db destroy` begins again with an empty one."
            raise ServerError(f"{wrong} See {self.log_file}. {cure if self.dumps() else none}")
        return address

    def status(self) -> Status:
        """How the server is now."""
        remembered = self._home.remembered()
        pid = self._pid(remembered)
        address = self._running()
        lock_list = read_lock()
        broken = address is not None and health.trouble(address) != ""
        running: Literal["running", "broken"] = "broken" if broken else "running"
        return Status(
            state=running if address else "starting" if pid else "stopped",
            pid=pid,
            address=address,
            version=lock_list.version,
            memory=process.resident(pid) if pid else 0,
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

        remembered = self._home.remembered()
        if remembered is None or not remembered.pid:
            return "stopped"
        if self._runs(remembered):
            return remembered.bolt
        try:
            with FileLock(self._home.lock, timeout=0, mode=0o600):
                # A command that stopped it notes that only after the process has ended.
                remembered = self._home.remembered()
                return "ended" if remembered is not None and remembered.pid else "stopped"
        except Timeout:
            return "busy"

    def destroy(self, *, programs: bool = False, report: Report = quiet) -> None:
        """Stops the server and deletes its data and password, and with `programs` its jars."""
        if not self._home.path.is_dir():
            return
        with self._alone(report):
            self._stopped(report)
            programs_too = [self._home.programs] if programs else []
            for folder in [self._home.neo4j, self._home.dumps, *programs_too]:
                if folder.is_dir():
                    shutil.rmtree(folder)
            self._home.credentials.unlink(missing_ok=True)
            self._home.state.unlink(missing_ok=True)
            self._home.last_answer.unlink(missing_ok=True)

    def dump(self, file: Path, *, overwrite: bool = False, report: Report = quiet) -> None:
        """Writes all graphs to `file`; the server, where it runs, is stopped meanwhile.

        Passwords are not in it. Raises ServerError where `file` is there and not to be
        overwritten.
        """
        file = file.expanduser().resolve()
        archive.refuse_unwritable(file, overwrite)
        with self._alone(report):
            if not archive.has_data(self._home):
                raise ServerError(
                    f"There is nothing to dump: no server ever ran in {self._home.path}."
                )
            tool = self._launcher.admin(report)
            with self._still(report):
                doing = Progress(f"Dumping the graph to {file}")
                report(doing)
                try:
                    archive.dump(tool, self._home, file)
                except archive.Unrecovered:
                    # A server that was killed; only a start brings in what is in its logs.
                    self._started(report)
                    self._stopped(report)
                    report(doing)
                    archive.dump(tool, self._home, file)

    def load(self, file: Path, *, report: Report = quiet) -> None:
        """Replaces all graphs by those of `file`, which `dump` wrote; the password stays.

        Only once all of `file` is unpacked, and another server has opened it, is the server
        stopped, where it runs, and the old data given up: with a file that can't be loaded,
        nothing changes. A kill at any point leaves the old graphs or the new ones.
        """
        file = file.expanduser().resolve()
        archive.refuse_unreadable(file)
        with self._alone(report):
            tool = self._launcher.admin(report)
            report(Progress(f"Loading {file}"))
            unpacked = archive.unpacked(tool, self._launcher, file, report)
            with unpacked as scratch, self._still(report):
                archive.put_in_place(scratch, self._home)

    def keep_dump(self, report: Report = quiet) -> Path | None:
        """A dump that is kept beside the daily ones, the server being stopped meanwhile.

        None where no dumps are kept, or nothing is there.
        """
        with self._alone(report):
            if not self._keeps_dumps or not archive.has_data(self._home):
                return None
            tool = self._launcher.admin(report)
            with self._still(report):
                report(Progress("Keeping a dump of all graphs"))
                return dumps.keep(tool, self._home)

    def dumps(self) -> list[Path]:
        """The dumps that were kept, the newest first; `load` puts one back."""
        return dumps.kept(self._home)

    def _dump_daily(self, report: Report) -> None:
        """Keeps a dump of the server, which stands still, where one is due; never in the way."""
        if not self._keeps_dumps:
            return
        try:
            if dumps.is_due(self._home):
                report(Progress("Keeping a dump of all graphs, as once a day"))
                dumps.keep(self._launcher.admin(report), self._home)
        except archive.Unrecovered:
            LOG.info("the server was killed: a dump is kept once it was started and stopped")
        except (ServerError, OSError) as error:
            LOG.warning("No dump of the graphs was kept: %s", error)

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
                lock.acquire(timeout=LOCK_PATIENCE)
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
                f"{LOCK_PATIENCE // 60} minutes; it holds {self._home.lock}. End that process."
            ) from error
        except OSError as error:
            raise refused(error, self._home.path) from error

    def _running(self) -> Address | None:
        """The address, when the server runs and answers."""
        remembered = self._home.remembered()
        if remembered is None or not self._runs(remembered):
            return None
        # The password is for a process that was proven to be the server, and listens itself.
        if not process.listens(remembered.pid, remembered.ports):
            return None
        password = self._home.password()
        if password is None or not process.answers(remembered.bolt):
            return None
        return remembered.address(password)

    def _runs(self, remembered: Remembered) -> bool:
        return process.runs(remembered.pid, self._home, remembered.begun)

    def _pid(self, remembered: Remembered | None) -> int:
        """The server's process id; 0 when it does not run."""
        if remembered is not None and self._runs(remembered):
            return remembered.pid
        return process.search(self._home)

    def _started(self, report: Report) -> Address:
        remembered = self._home.remembered()
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
            server = replace(remembered, pid=pid, begun=process.begun(pid))
            self._home.remember(server)
            self._launcher.wait(server, report)
        else:
            raise ServerError(
                f"The private Neo4j runs as process {pid}, but {self._home.state}, which "
                "holds its ports, is gone. Run `fabula db stop` and try again."
            )
        return server.address(self._home.password() or "")

    def _stopped(self, report: Report) -> bool:
        remembered = self._home.remembered()
        pid = self._pid(remembered)
        if not pid:
            return False
        report(Progress(f"Stopping Neo4j (process {pid})"))
        if not process.end(pid, process.STOP_PATIENCE):
            report(Progress(f"It did not stop within {process.STOP_PATIENCE} s and was killed"))
        if remembered is not None:
            self._home.remember(remembered.stopped())
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
