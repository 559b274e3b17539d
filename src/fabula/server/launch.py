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
from fabula.server.progress import Progress, Report
from fabula.server.state import Home, LastStart

log = logging.getLogger(__name__)

STARTING = "Starting Neo4j"
USER_STORES = (Path("data", "transactions", "system"), Path("data", "databases", "system"))
"""Where Neo4j keeps who may ask it, from its home; the last of them tells that it was started."""
START_SECONDS = 300
"""Seconds: a server that was killed with much in its logs recovers before it answers."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """Starts the server of `home`; whoever calls it holds the home's lock."""

    home: Home
    heap: str
    page_cache: str

    def admin(self, report: Report) -> AdminTool:
        """Neo4j's admin tool, fetched first where it is missing."""
        return AdminTool(process.java(), self._jars(read_lock(), report))

    def launch(
        self,
        tool: AdminTool,
        last: LastStart | None,
        report: Report,
        settings: Mapping[str, str] = {},
    ) -> LastStart:
        """A server of the tool's jars that answers; on the ports of the `last` start if free.

        `settings` are added to those that every server has, for this start alone.
        """
        check_disk_space(self.home.path, SPARE_BYTES)
        report(Progress(STARTING))
        make_private(self.home.neo4j)
        make_private(self.home.conf)
        self._ensure_password(tool)
        try:
            return self._tried(tool, self._free_ports(last), report, settings)
        except PortTaken:
            # Another program took one between the look at it and the start.
            return self._tried(tool, self._free_ports(None), report, settings)

    def forget_old_jars(self) -> None:
        """Deletes what other lock lists named; no server may run from them any more."""
        digest = read_lock().digest
        for folder in self.home.programs.iterdir():
            if folder.name != digest:
                shutil.rmtree(folder, ignore_errors=True)

    def wait(self, server: LastStart, report: Report) -> None:
        """Returns when `server` answers; raises ServerError when it ends or takes too long."""
        begun = time.monotonic()
        while time.monotonic() - begun < START_SECONDS:
            if not process.is_running(server.pid, self.home):
                self.home.save_start(server.stopped())
                raise diagnose(self.home)
            # In this order: whose ports they are takes 25 ms to find out, each time.
            if process.answers(server.bolt) and process.listens(server.pid, server.ports):
                return
            time.sleep(0.1)
            report(Progress(STARTING))
        raise ServerError(
            f"The private Neo4j (process {server.pid}) has not answered for {START_SECONDS} s. See "
            f"{self.home.log}; `fabula db stop` ends it."
        )

    def _tried(
        self, tool: AdminTool, ports: LastStart, report: Report, settings: Mapping[str, str]
    ) -> LastStart:
        common = config.SETTINGS | config.memory(self.heap, self.page_cache) | dict(settings)
        config.write_conf(self.home.conf, common | config.addresses(ports) | config.QUICK_STOP)
        # Before there is a process: whoever finds it after a kill then knows where it listens.
        self.home.save_start(ports)
        pid = process.spawn(tool.java, tool.lib, self.heap, self.home)
        server = replace(ports, pid=pid, begun=process.start_time(pid))
        self.home.save_start(server)
        self.wait(server, report)
        return server

    def _free_ports(self, last: LastStart | None) -> LastStart:
        """The ports of the last start, unless another program has one of them now."""
        if last is not None and process.is_free(last.bolt) and process.is_free(last.http):
            return last.stopped()
        bolt, http = process.free_ports(2)
        return LastStart(bolt, http)

    def _jars(self, lock_list: LockList, report: Report) -> Path:
        make_private(self.home.programs)
        folder = self.home.programs / lock_list.digest
        lib = folder / "lib"
        if not is_installed(lock_list.artifacts, lib):
            doing = f"Fetching Neo4j {lock_list.version}"
            install(lock_list.artifacts, lib, doing, report)
        return lib

    def _ensure_password(self, tool: AdminTool) -> None:
        begun = (self.home.neo4j / "data" / "databases" / "system").is_dir()
        password = self.home.password()
        if begun and password is None:
            log.warning(
                "%s does not hold the password of the private Neo4j any more: it gets a new one, "
                "and users that were added to it are forgotten. Its graph stays.",
                self.home.credentials,
            )
            for store in USER_STORES:
                shutil.rmtree(self.home.neo4j / store, ignore_errors=True)
            begun = False
        if not begun:
            config.set_password(password or self.home.new_password(), tool, self.home.neo4j)
