"""The daily dump of the private Neo4j while the service runs.

Neo4j Community dumps a database only while it stands still. So once a day, at `serve.dump_hour`,
the service releases its jobs, answers new requests with 503, stops the server, dumps the graph and
starts the server again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from fabula.config.connect import private_server
from fabula.errors import FabulaError

if TYPE_CHECKING:
    from fabula.config.serving import Serving
    from fabula.library import App
    from fabula.service.core.maintenance import Maintenance
    from fabula.service.core.supervisor import Supervisor
    from fabula.service.observe.metrics import Metrics

LOG = logging.getLogger("fabula.service")
POLL_SECONDS = 5.0
"""How often it is checked whether a dump is due."""
WELL_MINUTES = 5
"""For how long Neo4j must have been well before it is stopped for a dump. One that began while it
was starting after a crash made 64 s of absence 151 s."""
FIRST_ESTIMATE_SECONDS = 60.0
"""How long a dump is said to take before one was made; later, as long as the last one took."""
OLD_SECONDS = 2 * 86_400.0
"""From this age on, the last dump is too old."""
WARNING_SECONDS = 86_400.0
"""How often that is said in the log."""
REASON = "A dump of all graphs is being made."


@dataclass(frozen=True, slots=True)
class DumpStatus:
    """The dumps of the private server, for the admin page and for metrics.

    Attributes:
        is_ours: Whether the server is the private one; of another's, nothing is known.
        is_on: Whether dumps are kept (the setting `dumps`).
        file: The newest dump, '' where there is none.
        age_seconds: Its age, None where there is none.
        bytes: Its size.
        next_at: When the next one is made, in seconds since the epoch.
        is_old: Whether the newest is too old, or there is none after as long.
        problem: Why the last attempt failed, '' where it did not.
    """

    is_ours: bool
    is_on: bool = False
    file: str = ""
    age_seconds: float | None = None
    bytes: int = 0
    next_at: float = 0.0
    is_old: bool = False
    problem: str = ""


class DailyDump:
    """Makes a dump each day at an hour, in a thread of its own.

    Args:
        app: Whose private Neo4j is dumped.
        serving: At which hour, and how long a stop may take.
        maintenance: Told of the pause.
        supervisor: Knows whether Neo4j is well, and starts it again.
        metrics: Given the size and age of the last dump.
        clock: Tells the time in seconds since the epoch.
    """

    def __init__(
        self,
        app: App,
        serving: Serving,
        maintenance: Maintenance,
        supervisor: Supervisor,
        metrics: Metrics,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._serving, self._maintenance, self._supervisor = serving, maintenance, supervisor
        self._clock = clock
        settings = app.settings
        self._server = None if settings.neo4j_uri else private_server(settings, clock)
        self._is_on = settings.dumps
        self._is_closing = threading.Event()
        self._looking = threading.Lock()
        self._began = clock()
        self._next_at = find_next(self._began, serving.dump_hour)
        self._is_put_off = False
        self._took = FIRST_ESTIMATE_SECONDS
        self._warned_at = float("-inf")
        self._problem = ""
        metrics.watch("dump", self._measure)

    def start(self, pause_jobs: Callable[[str], AbstractContextManager[None]]) -> None:
        """Start the thread.

        Args:
            pause_jobs: Releases all jobs, and takes none while its block runs; given the reason.
        """
        if self._server is None or not self._is_on:
            return
        thread = threading.Thread(
            target=self._watch_clock, args=(pause_jobs,), name="daily-dump", daemon=True
        )
        thread.start()

    def close(self) -> None:
        """Make no more dumps; one that is under way goes on."""
        self._is_closing.set()

    def describe(self) -> DumpStatus:
        """Return how the dumps are now."""
        if self._server is None:
            return DumpStatus(is_ours=False)
        newest = self._server.newest_dump()
        age = None if newest is None else max(0.0, self._clock() - newest.made_at)
        oldest = self._clock() - self._began if age is None else age
        return DumpStatus(
            is_ours=True,
            is_on=self._is_on,
            file="" if newest is None else str(newest.file),
            age_seconds=age,
            bytes=0 if newest is None else newest.bytes,
            next_at=self._next_at,
            is_old=self._is_on and oldest > OLD_SECONDS,
            problem=self._problem,
        )

    def run_if_due(self, pause_jobs: Callable[[str], AbstractContextManager[None]]) -> bool:
        """Make the dump if its hour has come, and return whether one was tried.

        A dump that is due waits until Neo4j has been well for WELL_MINUTES.
        """
        with self._looking:
            now = self._clock()
            if now < self._next_at or self._server is None:
                return False
            if self._supervisor.seconds_well() < 60 * WELL_MINUTES:
                if not self._is_put_off:
                    LOG.warning(
                        "The daily dump is due and waits until Neo4j has been well for %d minutes.",
                        WELL_MINUTES,
                    )
                self._is_put_off = True
                return False
            self._is_put_off = False
            due_at, self._next_at = self._next_at, find_next(now, self._serving.dump_hour)
        began = time.monotonic()
        LOG.info("%s The service is back in about %.0f s.", REASON, self._took)
        try:
            # Jobs first, as releasing them may take a while; then requests.
            with pause_jobs(REASON), self._maintenance.begin(REASON, self._took):
                if not self._maintenance.wait_for_requests(self._serving.grace):
                    LOG.warning("Requests that were still under way end without an answer.")
                dump = self._server.make_dump(unless_since=due_at)
                # It may have been down before.
                self._server.start()
                self._supervisor.follow_server()
        except (FabulaError, OSError) as error:
            self._problem = str(error)
            LOG.error("The daily dump of the graphs failed: %s", error)
            self._supervisor.start_server()
            return True
        self._problem = ""
        self._took = time.monotonic() - began
        if dump is None:
            LOG.info("Another process has made today's dump.")
        else:
            size = dump.stat().st_size / 1e6
            LOG.info("The dump is %s (%.1f MB); it took %.0f s.", dump, size, self._took)
        return True

    def warn_if_old(self) -> None:
        """Say in the log, once a day, that the last dump is too old."""
        now = self._clock()
        if now - self._warned_at < WARNING_SECONDS or not (status := self.describe()).is_old:
            return
        self._warned_at = now
        if status.age_seconds is None:
            LOG.warning("There is no dump of the graphs yet.%s", _because(self._problem))
            return
        days = status.age_seconds / 86_400
        LOG.warning("The last dump is %.1f days old.%s", days, _because(self._problem))

    def _watch_clock(self, pause_jobs: Callable[[str], AbstractContextManager[None]]) -> None:
        while not self._is_closing.wait(POLL_SECONDS):
            try:
                self.run_if_due(pause_jobs)
                self.warn_if_old()
            except Exception:
                LOG.exception("Unexpected error at the daily dump.")

    def _measure(self) -> Mapping[str, Mapping[str, float]]:
        status = self.describe()
        if not (status.is_ours and status.is_on):
            return {}
        levels = {"fabula_dump_failed": {"last": float(bool(status.problem))}}
        if status.age_seconds is not None:
            levels["fabula_dump_age_seconds"] = {"newest": status.age_seconds}
            levels["fabula_dump_bytes"] = {"newest": float(status.bytes)}
        return levels


def find_next(now: float, hour: int) -> float:
    """Return when the clock shows that full hour next, by local time; times since the epoch."""
    local = datetime.fromtimestamp(now).astimezone().replace(tzinfo=None)
    at = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    if at <= local:
        at += timedelta(days=1)
    # Without a zone: a day in which clocks are changed has another length.
    return at.astimezone().timestamp()


def _because(problem: str) -> str:
    return f" The last attempt failed: {problem}" if problem else ""
