"""Run the service as a process: listen, print the address, and shut down in order."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable

import uvicorn

from fabula.config.serving import TABLE, Serving
from fabula.errors import SettingsError
from fabula.library import App
from fabula.service.application import make_service
from fabula.service.core.keys import Keys
from fabula.service.http.admission import is_loopback
from fabula.service.http.connections import BACKLOG, make_limits, make_protocol
from fabula.service.observe.exporting import begin_log, begin_traces
from fabula.service.state import ServiceState
from fabula.store import schema

LOG = logging.getLogger("fabula.service")
SPARE_SECONDS = 2.0
"""How much longer than the grace the process may take to close its connections."""


def serve(app: App, ready: Callable[[str], None]) -> None:
    """Serve an App until the process is stopped.

    Args:
        app: The App.
        ready: Is called with a link that signs in, once the service answers.

    Raises:
        SettingsError: The address is in use or not allowed, or there is no key for it.
    """
    serving: Serving = app.settings.table(TABLE)
    _refuse_unkeyed(app, serving)
    end_traces = begin_traces()
    begin_log(serving)
    listener = _listen(serving)
    service = make_service(app)
    state: ServiceState = service.state.service_state
    address = (serving.url or _address(serving.host, listener)).rstrip("/")
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
        state,
        lambda: ready(f"{address}/enter?token={state.sessions.link()}"),
        end_traces,
    )
    try:
        server.run([listener])
    finally:
        if server.limit:
            server.limit.cancel()


def _refuse_unkeyed(app: App, serving: Serving) -> None:
    """Raise SettingsError if the service listens beyond this machine and nobody could use it."""
    schema.make_service(app.connect())
    # People use it with a key, by an OpenID provider, or as visitors of a public collection.
    has_others = bool(serving.public or (serving.oidc_issuer and serving.oidc_client_id))
    if not (is_loopback(serving.host) or has_others or Keys(app.connect()).is_any()):
        raise SettingsError(
            f"Fabula can't listen at {serving.host}, which other machines reach, without a valid "
            "key: make one with `fabula keys make NAME --role admin`."
        )


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it is ready, and limits the time of its shutdown.

    Args:
        config: The configuration of uvicorn.
        state: Is stopped at the shutdown.
        ready: Is called once the service answers.
        ended: Is called after the last response.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        state: ServiceState,
        ready: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._state = state
        self.limit: threading.Timer | None = None
        """Ends the process if the shutdown takes too long."""
        self._ready = ready
        self._ended = ended

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and call `ready`."""
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down. Nothing runs afterwards, as uvicorn raises the signal again."""
        self._state.stop()
        # A thread that works for a request can't be ended from outside; a process can. The graph is
        # then as if the service had been killed: jobs that were not complete continue later.
        self.limit = threading.Timer(self._state.seconds_left + SPARE_SECONDS, self._give_up)
        self.limit.daemon = True
        self.limit.start()
        await super().shutdown(sockets)
        self._ended()

    def _give_up(self) -> None:
        LOG.warning(
            "Not all work ended within serve.grace: the process ends without waiting for it."
        )
        self._ended()
        logging.shutdown()
        os._exit(0)


def _listen(serving: Serving) -> socket.socket:
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    # With IPPROTO_TCP given, as asyncio else leaves Nagle's algorithm on: answers would wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((serving.host, serving.port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Fabula can't listen at {serving.host}, port {serving.port}: {error.strerror}. Is one "
            "running already? Another port: `fabula serve --port 8041`."
        ) from error
    listener.listen(BACKLOG)
    return listener


def _address(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    # Wildcard addresses are no addresses to open.
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"
