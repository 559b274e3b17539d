"""Run a gateway: as a process of its own, in a thread of another program, or within the service."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from pydantic import SecretStr

from fabula.config.gateway import TABLE, GatewaySettings
from fabula.config.settings import Settings
from fabula.errors import FabulaError, SettingsError
from fabula.models.cache import ResponseCache
from fabula.models.rate_limit import MINUTE_SECONDS, RateLimit
from fabula.service.gateway.call_queue import CallQueue
from fabula.service.gateway.gateway_app import GatewayApp
from fabula.service.gateway.gateway_calls import GatewayCalls
from fabula.service.gateway.gateway_keys import GatewayKeys
from fabula.service.gateway.spending import Spending, SpendingFile, spending_limits
from fabula.service.gateway.upstream import Upstream
from fabula.service.http.admission import is_loopback
from fabula.service.http.connections import BACKLOG, make_limits, make_protocol
from fabula.service.observe.gateway_metrics import GatewayMetrics

LOG = logging.getLogger("fabula.service")
IDLE_SECONDS = 10
"""How long an idle connection stays open: longer than clients keep theirs (httpx: 5 s), so that
none sends a request into one that is just being closed; `http.connections` allows 15 s."""
START_SECONDS = 60.0
CLIENTS_KEY = "the program that started it"


class Gateway:
    """The parts of one gateway, made from settings. `app` is its ASGI application."""

    def __init__(self, settings: Settings, *, is_mounted: bool = False) -> None:
        """Make a gateway; nothing is called yet.

        Args:
            settings: Name the endpoint, its key, the limits and the folder of the cache.
            is_mounted: Whether a service serves it, which checks host names.

        Raises:
            SettingsError: There is no endpoint, or another gateway has the folder with the budgets.

        """
        own: GatewaySettings = settings.table(TABLE)
        self.keys = GatewayKeys(settings.home)
        self.metrics = GatewayMetrics()
        upstream = Upstream(settings)
        limits = spending_limits(own, settings.max_calls, settings.max_tokens)
        outlives = own.calls_a_minute or any(limit.period != "run" for limit in limits)
        self._file = SpendingFile(settings.home) if outlives else None
        rate_limit = RateLimit(settings.concurrency, own.calls_a_minute)
        if self._file is not None:
            now = time.monotonic()
            ages = self._file.starts(MINUTE_SECONDS)
            rate_limit.remember_starts(now - seconds for seconds in ages)
        queue, spending = CallQueue(rate_limit), Spending(limits, self._file)
        most = settings.cache_max_gb * 1e9
        self._cache = ResponseCache(settings.cache_folder, most) if settings.cache else None
        calls = GatewayCalls(upstream, queue, spending, self._cache, self.metrics, settings.prices)
        self.app = GatewayApp(
            own,
            self.keys,
            upstream,
            queue,
            spending,
            calls,
            self.metrics,
            is_mounted=is_mounted,
        )

    def close(self) -> None:
        """Close the files, after the application was closed."""
        if self._file is not None:
            self._file.close()
        if self._cache is not None:
            self._cache.close()


@dataclass(frozen=True, slots=True)
class RunningGateway:
    """A gateway that listens.

    Attributes:
        url: Its address, for FABULA_GATEWAY_URL.
        key: A key for its clients, as long as it runs; '' where none is needed.

    """

    url: str
    key: str

    def settings_for_clients(self, settings: Settings) -> Settings:
        """Return settings for a program behind the gateway, without the endpoint's key."""
        return settings.model_copy(
            update={
                "gateway_url": self.url,
                "gateway_key": SecretStr(self.key) if self.key else None,
                "api_key": None,
                "keyring": False,
                "base_url": None,
            }
        )


def run_gateway(settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve a gateway until the process is stopped.

    Args:
        settings: Of the gateway, the endpoint and the cache.
        ready: Is called with the address, once the gateway answers.

    Raises:
        SettingsError: The address is in use, needs a key, or there is no endpoint.

    """
    own: GatewaySettings = settings.table(TABLE)
    if not is_loopback(own.host) and not GatewayKeys(settings.home).list():
        raise SettingsError(
            f"A gateway can't listen at {own.host}, which other machines reach, without a key for "
            "its clients: make one with `fabula gateway keys make NAME`."
        )
    gateway = Gateway(settings)
    try:
        listener = listen(own.host, own.port)
        server = _Server(_config(gateway, own), lambda: ready(address_of(own.host, listener)))
        server.run([listener])
    finally:
        gateway.close()


@contextmanager
def serve_gateway(
    settings: Settings, host: str = "127.0.0.1", port: int = 0
) -> Iterator[RunningGateway]:
    """Serve a gateway from a thread of this process while the block runs.

    Args:
        settings: Name the endpoint, its key, the limits and the folder of the cache.
        host: The address to listen at. Beyond loopback, clients need the key that this yields.
        port: The port to listen at; 0 for a free one.

    Raises:
        SettingsError: The address is in use, or there is no endpoint.

    """
    tables = settings.tables | {
        TABLE: settings.table(TABLE).model_copy(update={"host": host, "port": port})
    }
    settings = settings.model_copy(update={"tables": tables})
    own: GatewaySettings = settings.table(TABLE)
    gateway = Gateway(settings)
    try:
        key = ""
        if own.require_key or not is_loopback(host):
            key = gateway.keys.make_temporary(CLIENTS_KEY)
        listener = listen(host, port)
        up = threading.Event()
        server = _Server(_config(gateway, own), up.set)
        thread = threading.Thread(
            target=server.run, args=([listener],), name="fabula-gateway", daemon=True
        )
        thread.start()
        if not up.wait(START_SECONDS):
            server.should_exit = True
            raise FabulaError("The gateway did not start.")
        try:
            yield RunningGateway(address_of(host, listener), key)
        finally:
            server.should_exit = True
            thread.join(own.grace + START_SECONDS)
    finally:
        gateway.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises SettingsError if the address is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # As in `service.process`: IPPROTO_TCP has asyncio turn Nagle's algorithm off.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"A gateway can't listen at {host}, port {port}: {error.strerror}. Is one running "
            "already? Another port: `fabula gateway --port 8042`."
        ) from error
    listener.listen(BACKLOG)
    return listener


def address_of(host: str, listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    port = listener.getsockname()[1]
    if host in ("0.0.0.0", "::"):
        # An address for this machine; others use its name or address.
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _config(gateway: Gateway, own: GatewaySettings) -> uvicorn.Config:
    return uvicorn.Config(
        gateway.app,
        log_config=None,
        http=make_protocol(make_limits()),
        ws="none",
        lifespan="on",
        backlog=BACKLOG,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=round(own.grace),
    )


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and call `ready`."""
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()
