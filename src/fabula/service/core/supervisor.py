"""Watch Neo4j while the service runs, and start the private server again if it has died.

The driver alone notices an outage late, as it retries for half a minute. The supervisor checks the
process and the port twice a second, so that clients are refused at once, and the log says why.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Literal
from urllib.parse import urlsplit

from fabula.config.connect import private_server, reconnect
from fabula.errors import DatabaseDown, FabulaError
from fabula.library import App
from fabula.service.core.maintenance import Maintenance, Outage

LOG = logging.getLogger("fabula.service")
CHECK_SECONDS = 0.5
"""How often the private server's process and port are checked, which takes about a millisecond."""
OTHER_CHECK_SECONDS = 2.0
"""How often the port of another server is checked."""
CONNECT_SECONDS = 1.0
"""How long a connection to the port may take."""
MAX_TIMEOUTS = 2
"""How many connections in a row must time out before a server counts as down."""
DATABASE_SECONDS = 5.0
"""How often the private server is asked whether its database answers: a server may outlive it."""
RETRY_SECONDS = 0.5
"""How long the driver retries a statement: once, about a second after the first attempt."""
RETRY_AFTER_SECONDS = 5
"""The Retry-After during an outage; a start of Neo4j takes 10 to 25 s."""
FIRST_PAUSE_SECONDS = 2.0
MAX_PAUSE_SECONDS = 60.0
"""How long to wait after a start that failed; twice as long after each."""
BOLT_PORT = 7687

Condition = Literal["up", "ended", "stopped", "away"]
"""`ended`: the private server's process died by itself; `stopped`: a command stopped it on purpose;
`away`: no connection to the port can be made."""


class Supervisor:
    """A thread that knows whether Neo4j can be asked, and starts the private server when it died.

    A server of NEO4J_URI is watched in the same way, but never started. A private server that a
    command stopped on purpose (`fabula db stop`) is left alone until another command starts it.

    Args:
        app: Whose Neo4j is watched.
        maintenance: Says when it is stopped on purpose.
        clock: Tells the time in seconds since the epoch, by which dumps are due.
    """

    def __init__(
        self, app: App, maintenance: Maintenance, clock: Callable[[], float] = time.time
    ) -> None:
        self._app, self._maintenance, self._clock = app, maintenance, clock
        self._well_since = clock()
        self._server = None if app.settings.neo4j_uri else private_server(app.settings)
        parts = urlsplit(app.settings.neo4j_uri or "")
        self._place = (parts.hostname or "", parts.port or BOLT_PORT)
        self._is_cluster = parts.scheme.startswith("neo4j")
        self._outage: Outage | None = None
        self._down_since = 0.0
        self._timeouts = 0
        self._asked_database_at = 0.0
        self._must_start = False
        """A start of ours failed, which leaves the server stopped: it is tried again."""
        self._pause = FIRST_PAUSE_SECONDS
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="neo4j-supervisor", daemon=True)

    def start(self) -> None:
        """Begin to watch. Statements are from now on tried again for RETRY_SECONDS only."""
        reconnect(self._app.settings, self._app.connect(), RETRY_SECONDS)
        self._thread.start()

    def follow_server(self) -> None:
        """Point the store at the private server that whoever stopped it has started again.

        It may be at another port by now. Raises StoreError and ServerError.
        """
        reconnect(self._app.settings, self._app.connect(), RETRY_SECONDS)

    def start_server(self) -> None:
        """Have the private server started, though a command of ours stopped it on purpose."""
        self._must_start = True

    def close(self) -> None:
        """Stop watching. A start of Neo4j that is under way goes on in its own process."""
        self._is_closing.set()

    def outage(self) -> Outage | None:
        """Return why Neo4j can't be asked now, or None where it can. It never waits."""
        return self._maintenance.current() or self._outage

    def seconds_well(self) -> float:
        """Return for how long there has been no outage, dumps apart; 0 while there is one."""
        return 0.0 if self._outage else max(0.0, self._clock() - self._well_since)

    def _watch(self) -> None:
        seconds = CHECK_SECONDS if self._server else OTHER_CHECK_SECONDS
        while not self._is_closing.wait(seconds if self._outage is None else CHECK_SECONDS):
            try:
                self._check()
            except FabulaError as error:
                LOG.warning("Neo4j is not available yet: %s", error)
                self._is_closing.wait(self._lengthen_pause())
            except Exception:
                LOG.exception("Watching over Neo4j failed; it is tried again.")
                self._is_closing.wait(self._lengthen_pause())

    def _check(self) -> None:
        if self._maintenance.current():
            return
        condition = self._condition()
        if condition == "up" and self._outage is None:
            self._must_start = False
            self._check_database()
        elif condition == "up":
            self._recover()
        elif condition == "ended" or (self._must_start and self._server):
            self._restart("Neo4j has ended unexpectedly; it is being started again.")
        elif condition == "stopped":
            self._fall(
                "Neo4j was stopped by a command; any command that needs it, such as `fabula "
                "doctor`, starts it.",
                "Neo4j is stopped.",
            )
        else:
            host, port = self._place
            self._fall(f"Neo4j can't be reached at {host}, port {port}.", "Neo4j can't be reached.")

    def _condition(self) -> Condition:
        if self._server:
            state = self._server.state()
            if state == "busy":
                return "away"
            if isinstance(state, str):
                return state
            self._place = ("127.0.0.1", state)
        try:
            socket.create_connection(self._place, CONNECT_SECONDS).close()
        except TimeoutError:
            self._timeouts += 1
            if self._outage is None and self._timeouts < MAX_TIMEOUTS:
                return "up"
        except OSError:
            pass
        else:
            self._timeouts = 0
            return "up"
        # Of a cluster the address names one member, and the driver knows the others.
        return "up" if self._is_cluster and self._is_answered() else "away"

    def _is_answered(self) -> bool:
        try:
            self._app.connect().rows("core/find_time")
        except FabulaError:
            return False
        return True

    def _check_database(self) -> None:
        """Start the private server anew where it runs and its database is down."""
        if self._server is None or time.monotonic() - self._asked_database_at < DATABASE_SECONDS:
            return
        try:
            self._app.connect().rows("core/find_time")
        except DatabaseDown:
            self._restart("Neo4j's database stopped at an error; Neo4j is being started again.")
        except FabulaError:
            # It may just be ending: the next check of the process will see that.
            return
        finally:
            self._asked_database_at = time.monotonic()

    def _restart(self, message: str) -> None:
        assert self._server
        self._fall(message, "Neo4j has ended unexpectedly and is being started again.")
        self._must_start = True
        self._server.repair()
        self._recover()

    def _recover(self) -> None:
        if self._server:
            reconnect(self._app.settings, self._app.connect(), RETRY_SECONDS)
        else:
            # Its address stays, and the driver connects anew by itself.
            self._app.connect().rows("core/find_time")
        seconds = time.monotonic() - self._down_since
        self._must_start = False
        self._pause = FIRST_PAUSE_SECONDS
        self._well_since = self._clock()
        self._outage = None
        LOG.warning("Neo4j is back after %.0f s.", seconds)

    def _fall(self, message: str, reason: str) -> None:
        """Note that Neo4j is down, and log once why."""
        if self._outage is None:
            self._down_since = time.monotonic()
        if self._outage is None or self._outage.reason != reason:
            LOG.warning("%s", message)
        self._outage = Outage(reason, RETRY_AFTER_SECONDS)

    def _lengthen_pause(self) -> float:
        pause, self._pause = self._pause, min(MAX_PAUSE_SECONDS, 2 * self._pause)
        return pause
