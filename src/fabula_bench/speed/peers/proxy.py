"""Between a peer and the model endpoint: every call passes here and is counted as it is answered.

So that calls and tokens of all systems are counted in one way: as the endpoint's `usage` says.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from http.client import HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.error import HTTPError

from fabula.errors import ModelError
from fabula.models.usage import Usage

OPENAI = "https://api.openai.com/v1"


class Proxy:
    """A server on 127.0.0.1 in front of `base_url`; a context manager that serves from a thread.

    It holds the key, so that no peer needs it, and lets `at_once` calls through at a time.
    `timeout` is in seconds.
    """

    def __init__(self, base_url: str | None, key: str, at_once: int, timeout: float) -> None:
        self.base_url, self.key, self.timeout = (base_url or OPENAI).rstrip("/"), key, timeout
        self.gate = threading.Semaphore(at_once)
        self.last = time.monotonic()
        """When a call last began or was answered."""
        self._lock = threading.Lock()
        self._spent: dict[str, Usage] = {}
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def count(self, model: str, usage: Usage) -> None:
        """Adds a call, or its failure."""
        with self._lock:
            self.last = time.monotonic()
            self._spent[model] = self._spent.get(model, Usage()) + usage

    def take(self) -> dict[str, Usage]:
        """What was spent since the last time, by model."""
        with self._lock:
            spent, self._spent = self._spent, {}
        return spent

    def dimensions(self, model: str) -> int:
        """The length of the embedding model's vectors; the call that tells it is not counted.

        Raises ModelError.
        """
        call = self.request("/embeddings", json.dumps({"model": model, "input": ["yes"]}).encode())
        try:
            with urllib.request.urlopen(call, timeout=self.timeout) as got:
                return len(json.load(got)["data"][0]["embedding"])
        except (OSError, HTTPException, ValueError, LookupError, TypeError) as error:
            raise ModelError(f"{self.base_url} has no vectors of {model}: {error}") from error

    def request(self, path: str, body: bytes) -> urllib.request.Request:
        """The call at the endpoint."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        return urllib.request.Request(f"{self.base_url}{path}", body, headers)


class _Server(ThreadingHTTPServer):
    proxy: Proxy
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A peer that went away is its own business."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        proxy = self.server.proxy
        self._begun = False
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model = str(body.get("model", ""))
        wants_usage = (body.get("stream_options") or {}).get("include_usage", False)
        call = proxy.request(self.path.removeprefix("/v1"), json.dumps(_adjusted(body)).encode())
        proxy.last = time.monotonic()
        try:
            with proxy.gate, urllib.request.urlopen(call, timeout=proxy.timeout) as answer:
                if "event-stream" in answer.headers.get("Content-Type", ""):
                    self._pass_stream(answer, model, wants_usage=wants_usage)
                else:
                    self._pass(answer, model)
        except HTTPError as error:
            proxy.count(model, Usage(faults=1))
            self._send(error.code, error.headers, error.read())
        except (OSError, HTTPException, ValueError) as error:
            proxy.count(model, Usage(faults=1))
            if self._begun:
                self.close_connection = True
                return
            problem = {
                "error": {"message": f"The endpoint failed: {error}", "type": "server_error"}
            }
            self._send(502, {}, json.dumps(problem).encode())

    def _pass(self, answer: HTTPResponse, model: str) -> None:
        reply = _whole(json.loads(answer.read()), model)
        if isinstance(reply.get("data"), list):
            # Endpoints may send rows in any order, and not every client looks.
            reply["data"].sort(key=lambda row: row["index"])
        # Counted first: who has the reply may ask what it cost.
        self.server.proxy.count(model, _usage(reply.get("usage")))
        self._begun = True
        self._send(200, answer.headers, json.dumps(reply).encode())

    def _pass_stream(self, answer: HTTPResponse, model: str, *, wants_usage: bool) -> None:
        """Events as they come; that of the usage only to a client that asked for it."""
        self._begun = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        usage = None
        for line in answer:
            payload = line.removeprefix(b"data:").strip()
            event = json.loads(payload) if payload.startswith(b"{") else {}
            usage = event.get("usage") or usage
            sent = b"data: " + json.dumps(_whole(event, model)).encode() + b"\n" if event else line
            if payload == b"[DONE]":
                self.server.proxy.count(model, _usage(usage))
            if event.get("usage") and not event.get("choices") and not wants_usage:
                continue
            self.wfile.write(b"%x\r\n%s\r\n" % (len(sent), sent))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _send(self, status: int, headers: Any, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if headers.get("Retry-After"):
            self.send_header("Retry-After", headers["Retry-After"])
        self.end_headers()
        self.wfile.write(data)


def _adjusted(body: dict[str, Any]) -> dict[str, Any]:
    """A stream's usage is asked for, and one text is a list of one: it means the same."""
    if body.get("stream"):
        options = body.get("stream_options") or {}
        return body | {"stream_options": options | {"include_usage": True}}
    if isinstance(body.get("input"), str):
        return body | {"input": [body["input"]]}
    return body


def _whole(reply: dict[str, Any], model: str) -> dict[str, Any]:
    """A reply with the fields that some endpoints leave out, and some clients can't do without."""
    return {"created": int(time.time()), "model": model, **reply}


def _usage(usage: Any) -> Usage:
    counts = usage if isinstance(usage, dict) else {}
    return Usage(
        calls=1,
        prompt_tokens=counts.get("prompt_tokens") or 0,
        completion_tokens=counts.get("completion_tokens") or 0,
        cached_tokens=(counts.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
    )
