"""One start of the server: its jars, password, ports and configuration, then its process."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabula.errors import ServerError
from fabula.server import config, process
from fabula.server.admin import AdminTool
from fabula.server.artifacts import LockList, read_lock
from fabula.server.diagnosis import PortTaken, diagnose
from fabula.server.disk_space import check_disk_space
from fabula.server.fetch import SPARE_BYTES, install, is_installed
from fabula.server.private_files import make_private
from fabula.server.progress import ProgressReport, ServerProgress
from fabula.server.state import Home, LastStart

log = logging.getLogger(__name__)

STARTING = "Starting Neo4j"
USER_STORES = (Path("data", "transactions", "system"), Path("data", "databases", "system"))
"""Where Neo4j keeps its users, from its home. The last folder shows that it was ever started."""
START_SECONDS = 300
"""How long a start may take. A server that was killed with much in its logs first recovers it."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """Starts the server of a home; the caller holds the home's lock."""

    home: Home
    heap: str
    page_cache: str

    def admin(self, report: ProgressReport) -> AdminTool:
        """Return Neo4j's admin tool; its jars are fetched first if they are missing."""
        return AdminTool(process.java(), self._jars(read_lock(), report))

    def launch(
        self,
        tool: AdminTool,
        last: LastStart | None,
        report: ProgressReport,
        settings: Mapping[str, str] = {},
    ) -> LastStart:
        """Start a server and return it once it answers.

        Args:
            tool: The admin tool; the server runs from its jars.
            last: The last start, whose ports are used again if they are free.
            report: Told of the progress.
            settings: Settings of Neo4j for this start alone.

        Raises:
            ServerError: The server did not start, or did not answer in time.
        """
        check_disk_space(self.home.path, SPARE_BYTES)
        report(ServerProgress(STARTING))
        make_private(self.home.neo4j)
        make_private(self.home.conf)
        self._ensure_password(tool)
        try:
            return self._try(tool, self._free_ports(last), report, settings)
        except PortTaken:
            # Another program took one between the check and the start.
            return self._try(tool, self._free_ports(None), report, settings)

    def forget_old_jars(self) -> None:
        """Delete the jars of other lock lists; no server may run from them any more."""
        digest = read_lock().digest
        for folder in self.home.programs.iterdir():
            if folder.name != digest:
                shutil.rmtree(folder, ignore_errors=True)

    def wait(self, server: LastStart, report: ProgressReport) -> None:
        """Return when a server answers. Raise ServerError if it ends or takes too long."""
        began = time.monotonic()
        while time.monotonic() - began < START_SECONDS:
            if not process.is_running(server.pid, self.home):
                self.home.save_start(server.without_process())
                raise diagnose(self.home)
            # In this order, because finding out whose ports they are takes 25 ms each time.
            if process.answers(server.bolt) and process.listens(server.pid, server.ports):
                return
            time.sleep(0.1)
            report(ServerProgress(STARTING))
        raise ServerError(
            f"The private Neo4j (process {server.pid}) has not answered for {START_SECONDS} s. See "
            f"{self.home.log}; `fabula db stop` ends it."
        )

    def _try(
        self, tool: AdminTool, ports: LastStart, report: ProgressReport, settings: Mapping[str, str]
    ) -> LastStart:
        common = config.SETTINGS | config.memory(self.heap, self.page_cache) | dict(settings)
        config.write_conf(self.home.conf, common | config.addresses(ports) | config.QUICK_STOP)
        # Before the process exists, so that its ports are known to whoever finds it after a kill.
        self.home.save_start(ports)
        pid = process.spawn(tool.java, tool.lib, self.heap, self.home)
        server = replace(ports, pid=pid, begun=process.start_time(pid))
        self.home.save_start(server)
        self.wait(server, report)
        return server

    def _free_ports(self, last: LastStart | None) -> LastStart:
        """Return the ports of the last start unless another program uses one, or else new ones."""
        if last is not None and process.is_free(last.bolt) and process.is_free(last.http):
            return last.without_process()
        bolt, http = process.free_ports(2)
        return LastStart(bolt, http)

    def _jars(self, lock_list: LockList, report: ProgressReport) -> Path:
        make_private(self.home.programs)
        folder = self.home.programs / lock_list.digest
        lib = folder / "lib"
        if not is_installed(lock_list.artifacts, lib):
            doing = f"Fetching Neo4j {lock_list.version}"
            install(lock_list.artifacts, lib, doing, report)
        return lib

    def _ensure_password(self, tool: AdminTool) -> None:
        was_started = (self.home.neo4j / "data" / "databases" / "system").is_dir()
        password = self.home.password()
        if was_started and password is None:
            log.warning(
                "%s does not hold the password of the private Neo4j any more. The server gets a "
                "new password, and users that were added to it are lost. Its graph stays.",
                self.home.credentials,
            )
            for store in USER_STORES:
                shutil.rmtree(self.home.neo4j / store, ignore_errors=True)
            was_started = False
        if not was_started:
            config.set_password(password or self.home.new_password(), tool, self.home.neo4j)
