"""The service as a process: it listens, says where, and ends without cutting answers short."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable

import uvicorn

from fabula.app import App
from fabula.config.serving import TABLE, Serving
from fabula.errors import SettingsError
from fabula.service import make_service
from fabula.service.core.keys import Keys
from fabula.service.http.admission import is_loopback
from fabula.service.http.connections import BACKLOG, make_limits, make_protocol
from fabula.service.observe.exporting import begin_log, begin_traces
from fabula.service.state import House, make_schema

LOG = logging.getLogger("fabula.service")
SPARE_SECONDS = 2.0
"""How long after the grace the process ends at the latest, to close connections in order."""


def serve(app: App, ready: Callable[[str], None]) -> None:
    """Serves until it is stopped; `ready` is told a link that signs in, once it answers.

    Raises SettingsError where it can't listen there, or may not: nobody would be let in.
    """
    serving: Serving = app.settings.table(TABLE)
    _refuse_unkeyed(app, serving)
    end_traces = begin_traces()
    begin_log(serving)
    service = make_service(app)
    house: House = service.state.house
    listening = _listen(serving)
    address = (serving.url or _address(serving.host, listening)).rstrip("/")
    server = _Server(
        uvicorn.Config(
            service,
            log_config=None,
            http=make_protocol(make_limits()),
            ws="none",
            backlog=BACKLOG,
            access_log=False,
            server_header=False,
            proxy_headers=bool(serving.proxies),
            forwarded_allow_ips=list(serving.proxies),
            timeout_graceful_shutdown=round(serving.grace),
        ),
        house,
        lambda: ready(f"{address}/enter?token={house.sessions.link()}"),
        end_traces,
    )
    try:
        server.run([listening])
    finally:
        if server.limit:
            server.limit.cancel()


def _refuse_unkeyed(app: App, serving: Serving) -> None:
    """Raises SettingsError where nobody could be let in from beyond this machine."""
    make_schema(app.store)
    if not is_loopback(serving.host) and not Keys(app.store).is_any():
        raise SettingsError(
            f"Fabula listens at {serving.host}, beyond this machine, only for keys, and there is "
            "none that holds: make one with `fabula keys make NAME --role admin`."
        )


class _Server(uvicorn.Server):
    """Tells when it answers, and when it has answered the last."""

    def __init__(
        self,
        config: uvicorn.Config,
        house: House,
        ready: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._house = house
        self.limit: threading.Timer | None = None
        """Ends the process where it does not end by itself."""
        self._ready = ready
        self._ended = ended

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, and says so."""
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends. The signal that it was ended by is raised again at once: nothing runs after it."""
        self._house.stop()
        # A thread that works for a request can't be ended from outside; a process can. Whatever
        # was not complete is in the graph as if the service had been killed, and goes on later.
        self.limit = threading.Timer(self._house.seconds_left + SPARE_SECONDS, self._give_up)
        self.limit.daemon = True
        self.limit.start()
        await super().shutdown(sockets)
        self._ended()

    def _give_up(self) -> None:
        LOG.warning("Not all work ended within serve.grace; the service ends without it.")
        self._ended()
        logging.shutdown()
        os._exit(0)


def _listen(serving: Serving) -> socket.socket:
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    # Named TCP, or asyncio leaves Nagle's algorithm on: answers then wait 40 ms for the client.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((serving.host, serving.port))
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"Fabula can't listen at {serving.host}, port {serving.port}: {error.strerror}. Is one "
            "running already? Another port: `fabula serve --port 8041`."
        ) from error
    listening.listen(BACKLOG)
    return listening


def _address(host: str, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"
