"""OpenAI's HTTP interface over the model, with everything that real endpoints do wrong."""

from __future__ import annotations

import base64
import bisect
import hashlib
import json
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import messages
from .batches import Batches
from .faults import Fault, Plan, none
from .model import vector

Complaint = tuple[int, Any]


@dataclass
class Endpoint:
    """A server on 127.0.0.1 and what it saw; a context manager that serves from a thread.

    `delay` and `retry_after` are seconds; `refuses` are parameters it answers 400 to, where
    `response_format` can be narrowed: `response_format=json_schema`.
    """

    plan: Plan = none
    withheld: Mapping[tuple[str, ...], Fault] = field(default_factory=dict)
    """What goes wrong with each prompt that has all of some words, whatever its turn."""
    delay: float = 0.0
    between: float = 0.0
    """Seconds between the pieces of a stream."""
    key: str | None = None
    models: Collection[str] | None = None
    refuses: Collection[str] = ()
    complaints: Mapping[str, Complaint] = field(default_factory=dict)
    """What it answers where it is sent such a parameter: a status, and a body as it is."""
    objection: Callable[[dict[str, Any]], Complaint | None] = lambda _: None
    """What it answers to a body that it does not like: a status, and a body as it is."""
    raw: Callable[[int, dict[str, Any]], Iterable[bytes | float] | None] = lambda *_: None
    """What the call of this number and body is answered with instead: all that goes over the
    connection, and seconds to pause in between."""
    embed: Callable[[str, int], NDArray[np.float32]] = vector
    """Makes the vector of a text, of so many dimensions."""
    most_at_once: int = 1_000_000
    held_from: int | None = None
    """The number of the first call that waits, as all after it do, until `release` is called.

    Whoever stops a run half way needs no luck so: without the calls that wait it can't end.
    """
    retry_after: str | None = "0.05"
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of every answer, beside its own."""
    cached_from: int = 1024
    """Tokens of the shortest beginning of a prompt that is cached; beyond, in blocks of 128."""
    dimensions: int = 64
    port: int = 0
    notes: Path | None = None
    """A file that gets a line for each request that was answered: its kind, its digest, the model,
    and its tokens: of the prompt, of these cached, and of the completion."""

    batches: Batches = field(default_factory=Batches)
    """Its files and batches."""
    calls: int = 0
    """Requests that came, refused ones too."""
    refused: int = 0
    """Requests that were answered with an error or not at all."""
    paid_calls: int = 0
    paid_tokens: int = 0
    """What was answered whole, and the tokens that it told of both kinds: what it would charge."""
    in_flight: int = 0
    in_flight_most: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """The requests' bodies, in order of arrival."""
    times: list[float] = field(default_factory=list)
    """When they came: time.monotonic()."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._prompts: list[str] = []
        self._released = threading.Event()
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.endpoint = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def release(self) -> None:
        """Let all calls go that wait, and hold up no more."""
        self.held_from = None
        released, self._released = self._released, threading.Event()
        released.set()

    def hold(self, number: int) -> None:
        """Have the call of this number wait for `release`, if it is one of those held up."""
        released, first = self._released, self.held_from
        if first is not None and number >= first:
            released.wait()

    def serve(self) -> None:
        """Serve until shut down."""
        self._server.serve_forever(poll_interval=0.02)

    def enter(self, body: dict[str, Any]) -> tuple[int, Fault | None, bool]:
        """Count a request: its number, its planned fault, and whether too many are under way."""
        with self._lock:
            self.calls += 1
            number = self.calls
            self.in_flight += 1
            crowded = self.in_flight > self.most_at_once
            if not crowded:
                self.in_flight_most = max(self.in_flight_most, self.in_flight)
            self.bodies.append(body)
            self.times.append(time.monotonic())
            text = " ".join(message["content"] for message in body.get("messages", ()))
            for words, fault in self.withheld.items():
                if all(word in text for word in words):
                    return number, fault, crowded
            return number, self.plan(number), crowded

    def answered(self, body: dict[str, Any], usage: Mapping[str, Any]) -> None:
        """Count a request that was answered whole, and note it, where notes are taken."""
        with self._lock:
            self.paid_calls += 1
            self.paid_tokens += usage.get("prompt_tokens", 0)
            self.paid_tokens += usage.get("completion_tokens", 0)
        if self.notes is not None:
            digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
            with self._lock, self.notes.open("a", encoding="utf-8") as notes:
                cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
                sent, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
                kind = "embeddings" if "input" in body else "chat"
                notes.write(f"{kind} {digest} {body['model']} {sent} {cached} {written}\n")

    def cached(self, body: dict[str, Any]) -> int:
        """How many of a prompt's tokens begin an earlier one as well; it is remembered."""
        prompt = messages.whole_prompt(body)
        with self._lock:
            # The one that begins as a text does is its neighbour in their order.
            place = bisect.bisect_left(self._prompts, prompt)
            near = self._prompts[max(0, place - 1) : place + 1]
            self._prompts.insert(place, prompt)
        shared = max((_shared(one, prompt) for one in near), default=0) // 4
        beyond = shared - self.cached_from
        return self.cached_from + beyond // 128 * 128 if beyond >= 0 else 0

    def leave(self, *, refused: bool) -> None:
        """Count a request that was answered."""
        with self._lock:
            self.in_flight -= 1
            self.refused += refused


def _has(body: dict[str, Any], name: str) -> bool:
    """Whether a body has the parameter `name`, or `name=type`."""
    param, _, value = name.partition("=")
    return param in body and (not value or body[param].get("type") == value)


def _shared(one: str, other: str) -> int:
    """The length of the beginning that two texts share."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


class _Server(ThreadingHTTPServer):
    endpoint: Endpoint
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is its own business."""


class _Refusal(Exception):
    """An error to answer with: status, headers, OpenAI's error body."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        retry_after: str | None = None,
    ):
        error = {"message": message, "type": "error", "param": param, "code": code}
        self.status, self.body, self.retry_after = status, {"error": error}, retry_after


class _Spoken(Exception):
    """An answer to give as it is."""

    def __init__(self, status: int, body: Any) -> None:
        self.status, self.body = status, body


class _Cut(Exception):
    """The connection is to end now."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server
    _is_inside = False
    _body: dict[str, Any] | None = None
    """The request that is answered as a model answers."""
    _used: Mapping[str, Any] = MappingProxyType({})

    def log_message(self, *_: object) -> None:
        """Say nothing: pytest's output is for people."""

    def finish(self) -> None:
        """Close both files, also where the client has gone: one left open keeps the socket open."""
        try:
            super().finish()
        except OSError:
            self.rfile.close()

    def do_GET(self) -> None:
        if self.server.endpoint.batches.serves(self.path):
            self._do_batches(b"")
            return
        names = self.server.endpoint.models or ()
        self._send(200, {"object": "list", "data": [{"id": n, "object": "model"} for n in names]})

    def do_DELETE(self) -> None:
        self._do_batches(b"")

    def _do_batches(self, data: bytes) -> None:
        kind = self.headers.get("Content-Type", "")
        status, content = self.server.endpoint.batches.do(
            self.command, self.path, data, kind, self._answer_line
        )
        self._write(status, "application/json", content)

    def _answer_line(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the answer to a line of a batch."""
        endpoint = self.server.endpoint
        _, fault, _ = endpoint.enter(body)
        self._used = {}
        try:
            self._check(body, fault, crowded=False)
            if path.endswith("/embeddings"):
                answer = self._embeddings(body, fault)
            else:
                answer = self._completion(body, fault)
        except _Refusal as refusal:
            endpoint.leave(refused=True)
            return refusal.status, refusal.body
        endpoint.answered(body, self._used)
        endpoint.leave(refused=False)
        return 200, answer

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if endpoint.batches.serves(self.path):
            self._do_batches(data)
            return
        body = json.loads(data)
        number, fault, crowded = endpoint.enter(body)
        self._is_inside, self._body = True, None
        self._used = {}
        try:
            endpoint.hold(number)
            self._attack(endpoint.raw(number, body))
            self._check(body, fault, crowded=crowded)
            time.sleep(endpoint.delay + (1.0 if fault == "slow" else 0.0))
            self._body = body
            self._answer(body, fault)
        except _Refusal as refusal:
            self._send(refusal.status, refusal.body, retry_after=refusal.retry_after)
        except _Spoken as spoken:
            self._send(spoken.status, spoken.body)
        except _Cut:
            self.close_connection = True
        finally:
            self._leave(refused=True)

    def _leave(self, *, refused: bool) -> None:
        """Count a request as answered, once, before its last bytes: who has them may ask anew."""
        if self._is_inside:
            self._is_inside = False
            if self._body is not None and not refused:
                self.server.endpoint.answered(self._body, self._used)
            self.server.endpoint.leave(refused=refused)

    def _attack(self, raw: Iterable[bytes | float] | None) -> None:
        if raw is None:
            return
        for part in raw:
            if isinstance(part, bytes):
                self.wfile.write(part)
                self.wfile.flush()
            else:
                time.sleep(part)
        raise _Cut

    def _check(self, body: dict[str, Any], fault: Fault | None, *, crowded: bool) -> None:
        endpoint = self.server.endpoint
        if endpoint.key and self.headers["Authorization"] != f"Bearer {endpoint.key}":
            raise _Refusal(401, "Incorrect API key provided.", code="invalid_api_key")
        if endpoint.models is not None and body["model"] not in endpoint.models:
            name = body["model"]
            raise _Refusal(404, f"The model '{name}' does not exist", code="model_not_found")
        self._check_parameters(body)
        if crowded or fault == "rate_limit":
            wait = endpoint.retry_after
            raise _Refusal(429, "Rate limit reached", code="rate_limit", retry_after=wait)
        if fault == "quota":
            raise _Refusal(429, "You exceeded your current quota", code="insufficient_quota")
        if fault == "error":
            raise _Refusal(500, "The server had an error")
        if fault == "blocked":
            raise _Refusal(400, "The prompt triggered the filter", code="content_filter")
        if fault == "context":
            message = "This model's maximum context length is 9 tokens, see max_tokens."
            raise _Refusal(400, message, code="context_length_exceeded", param="messages")

    def _check_parameters(self, body: dict[str, Any]) -> None:
        endpoint = self.server.endpoint
        if objection := endpoint.objection(body):
            raise _Spoken(*objection)
        for name, complaint in endpoint.complaints.items():
            if _has(body, name):
                raise _Spoken(*complaint)
        for name in endpoint.refuses:
            param = name.partition("=")[0]
            if _has(body, name):
                message = f"Unsupported parameter: '{param}' is not supported with this model."
                raise _Refusal(400, message, code="unsupported_parameter", param=param)

    def _answer(self, body: dict[str, Any], fault: Fault | None) -> None:
        if fault == "web_page":
            self._write(200, "text/html", b"<html>Welcome</html>")
        elif self.path.endswith("/embeddings"):
            self._send(200, self._embeddings(body, fault), cut=fault == "cut")
        elif self.path.endswith("/rerank"):
            self._send(200, messages.ranked(body))
        elif not self.path.endswith("/chat/completions"):
            raise _Refusal(404, "404 page not found")
        elif body.get("stream"):
            self._stream(body, fault)
        else:
            self._send(200, self._completion(body, fault), cut=fault == "cut")

    def _embeddings(self, body: dict[str, Any], fault: Fault | None) -> dict[str, Any]:
        if fault in ("empty", "wrong_shape"):
            return {"object": "list", "data": [] if fault == "empty" else ["no vector"]}
        texts = body["input"][1:] if fault == "missing_row" else body["input"]
        data = []
        for index, text in enumerate(texts):
            endpoint = self.server.endpoint
            row = endpoint.embed(text, endpoint.dimensions) * np.float32(3)
            row = {"zero": row * 0, "nan": row * np.float32("nan")}.get(fault or "", row)
            packed = body.get("encoding_format") == "base64"
            shown = (
                base64.b64encode(row.astype("<f4").tobytes()).decode()
                if packed
                else [*map(float, row)]
            )
            data.append({"object": "embedding", "index": index, "embedding": shown})
        usage = {"prompt_tokens": messages.tokens(*texts), "total_tokens": messages.tokens(*texts)}
        self._used = usage
        return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}

    def _completion(self, body: dict[str, Any], fault: Fault | None) -> dict[str, Any]:
        message, reason = messages.message(body, fault)
        choice = {"index": 0, "message": message, "finish_reason": reason}
        usage = self._usage(body, message["content"])
        return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}

    def _usage(self, body: dict[str, Any], text: str | None) -> dict[str, Any]:
        cached = {"cached_tokens": self.server.endpoint.cached(body)}
        self._used = {**messages.usage(body, text), "prompt_tokens_details": cached}
        return self._used

    def _stream(self, body: dict[str, Any], fault: Fault | None) -> None:
        message, reason = messages.message(body, fault)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self._end_headers()
        words = (message["content"] or "").split(" ") if message["content"] else []
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": f" {word}" if n else word} for n, word in enumerate(words)]
        if message["refusal"]:
            deltas.append({"refusal": message["refusal"]})
        if fault == "cut_before":
            deltas = deltas[:1]
        if fault in ("cut", "unfinished"):
            deltas = deltas[: 1 + len(words) // 2]
        for delta in deltas:
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            time.sleep(self.server.endpoint.between)
        if fault in ("cut", "cut_before"):
            self.wfile.flush()
            raise _Cut
        if fault != "unfinished":
            self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
            if body.get("stream_options", {}).get("include_usage"):
                self._event({"choices": [], "usage": self._usage(body, message["content"])})
        self._leave(refused=False)
        if fault != "unfinished":
            self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _event(self, event: dict[str, Any]) -> None:
        self._chunk(b"data: " + json.dumps({"id": "x", **event}).encode() + b"\n\n")

    def _end_headers(self) -> None:
        for name, value in self.server.endpoint.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _send(
        self, status: int, body: Any, *, retry_after: str | None = None, cut: bool = False
    ) -> None:
        data = json.dumps(body).encode()
        self._write(status, "application/json", data, retry_after=retry_after, cut=cut)

    def _write(
        self,
        status: int,
        kind: str,
        data: bytes,
        *,
        retry_after: str | None = None,
        cut: bool = False,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self._end_headers()
        if not cut:
            self._leave(refused=status != 200)
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.wfile.flush()
        if cut:
            raise _Cut
