"""`fabula serve` sends its traces where OpenTelemetry's own variables say, to the last one."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from fabula import tracing
from jobs_over_http import BASE, begin, until
from killed_service import Killed, endpoint, killed
from stories import WINTER

pytestmark = pytest.mark.long

__all__ = ["endpoint", "killed"]


@dataclass
class Collector:
    """What OpenTelemetry's collector is to a service: it takes spans by OTLP over HTTP."""

    url: str = ""
    services: set[str] = field(default_factory=set)
    spans: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Their names and attributes."""

    def take(self, path: str, body: bytes) -> None:
        assert path == "/v1/traces"
        for one in ExportTraceServiceRequest.FromString(body).resource_spans:
            told = {each.key: each.value.string_value for each in one.resource.attributes}
            self.services.add(told["service.name"])
            for scope in one.scope_spans:
                for span in scope.spans:
                    own = {each.key: each.value.string_value for each in span.attributes}
                    self.spans.append((span.name, own))


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *values: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_port}"
    yield collector
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_spans_arrive_to_the_last_one(killed: Killed, collector: Collector, end: int) -> None:
    # None goes before it ends: the first would else be sent after five seconds.
    killed.environment |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_BSP_SCHEDULE_DELAY": "60000",
    }
    with killed.up(end) as client:
        job = begin(client, "traced", {"winter.txt": WINTER})
        assert until(client, job)["state"] == "succeeded"
        response = client.post(f"{BASE}/collections/traced/ask", json={"question": "Who is Anna?"})
        assert response.status_code == 200, response.text
    assert collector.services == {"fabula"}
    counted = Counter(name for name, _ in collector.spans)
    assert (counted["job ingest"], counted["retrieval traced"]) == (1, 1)
    assert counted["POST"] >= 2
    [worked] = [own for name, own in collector.spans if name == "job ingest"]
    assert worked[tracing.JOB] == job
    assert "Anna" not in str(collector.spans), "no text is told"
