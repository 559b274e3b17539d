"""OpenAI's interface of files and batches, with everything that real ones do wrong."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any, Literal

BatchFault = Literal[
    "expired",  # half of the lines are answered, the others say that it expired
    "cancelled",  # somebody cancelled it, with half of the lines answered
    "token_limit",  # refused as a whole: more tokens than the queue takes
    "wrong_line",  # refused as a whole, for its second line
    "unknown",  # refused as a whole, for a reason that no splitting cures
]
AnswerLine = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]
"""The status and the answer to the body of a line for a path."""


@dataclass
class Batches:
    """The files and batches of an endpoint, and what was paid for."""

    looks: int = 1
    """How often a batch is still in progress when it is asked about."""
    drop: float = 0.0
    """The share of lines that are in neither of a batch's files."""
    fail: float = 0.0
    """The share of lines that are answered with status 500."""
    faults: dict[int, BatchFault] = field(default_factory=dict)
    """What goes wrong with the batch of this number, from 1."""
    line_faults: Callable[[int], int | None] = lambda _: None
    """The status that the line of this number, over all batches, is answered with instead."""
    odd_lines: Sequence[str] = ()
    """Lines that are added to each output."""
    max_lines: int | None = None
    """A larger batch is refused at its creation."""
    max_bytes: int | None = None
    """A larger file is refused when it is uploaded."""
    seed: int = 0
    before: Callable[[str], None] = lambda _: None
    """Called before each request is done, with its method and path."""
    after: Callable[[str], int | None] = lambda _: None
    """Called when a request was done; a status that it returns is answered instead, as by a server
    that fails after it has done its work."""
    instead: Callable[[str], tuple[int, bytes] | None] = lambda _: None
    """Called before each request; what it returns is answered, and nothing is done."""
    shown: Callable[[str], bytes | None] = lambda _: None
    """Called when a request was done; a content that it returns is answered in place of its own."""
    has_batches: bool = True

    files: dict[str, bytes] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    """How often the line with each `custom_id` was answered and charged."""
    delivered: set[str] = field(default_factory=set)
    """The ids of the lines that were in a file that somebody could read."""
    sizes: list[int] = field(default_factory=list)
    """The lines of each batch that was created."""
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _lines: int = 0
    _tries: Counter[str] = field(default_factory=Counter)

    def serves(self, path: str) -> bool:
        return re.search(r"/(files|batches)(/|\?|$)", path) is not None

    def do(
        self, method: str, path: str, data: bytes, kind: str, answer: AnswerLine
    ) -> tuple[int, bytes]:
        """Answer a request: a status and a content."""
        bare, _, query = path.partition("?")
        name = f"{method} {re.sub('.*/v1', '', bare)}"
        if not self.has_batches:
            return _error(404, "404 page not found")
        self.before(name)
        if (other := self.instead(name)) is not None:
            return other
        with self._lock:
            status, content = self._do(method, bare, query, data, kind, answer)
        if (failure := self.after(name)) is not None:
            return failure, b'{"error": {"message": "The server had an error"}}'
        if (page := self.shown(name)) is not None:
            return 200, page
        return status, content

    def _do(
        self, method: str, path: str, query: str, data: bytes, kind: str, answer: AnswerLine
    ) -> tuple[int, bytes]:
        if match := re.search(r"/files/([^/]+)(/content)?$", path):
            if match[1] not in self.files:
                return _error(404, "No such File object")
            if method == "DELETE":
                del self.files[match[1]]
                self.deleted.append(match[1])
                return 200, b'{"deleted": true}'
            return 200, self.files[match[1]]
        if path.endswith("/files"):
            return self._upload(data, kind)
        if match := re.search(r"/batches/([^/]+)(/cancel)?$", path):
            batch = self.batches.get(match[1])
            if batch is None:
                return _error(404, "No batch found")
            if match[2]:
                batch["status"] = "cancelling"
                batch["fault"] = "cancelled"
            else:
                self._advance(batch, answer)
            return 200, json.dumps(_shown(batch)).encode()
        if method == "POST":
            return self._create(json.loads(data))
        return 200, self._list(query)

    def _upload(self, data: bytes, kind: str) -> tuple[int, bytes]:
        parts = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + data)
        [content] = [part.get_payload(decode=True) for part in parts.walk() if part.get_filename()]
        assert isinstance(content, bytes)
        if self.max_bytes is not None and len(content) > self.max_bytes:
            return _error(413, "The file is too large")
        id = f"file-{len(self.files) + len(self.deleted) + 1}"
        self.files[id] = content
        return 200, json.dumps({"id": id, "object": "file", "bytes": len(content)}).encode()

    def _create(self, body: dict[str, Any]) -> tuple[int, bytes]:
        content = self.files.get(body["input_file_id"])
        if content is None:
            return _error(400, "No such File object")
        assert body["completion_window"] == "24h"
        lines = [json.loads(line) for line in content.splitlines()]
        assert lines and all(line["url"] == body["endpoint"] for line in lines)
        assert len({line["body"]["model"] for line in lines}) == 1
        assert len({line["custom_id"] for line in lines}) == len(lines)
        if self.max_lines is not None and len(lines) > self.max_lines:
            return _error(400, "The batch has too many requests: the limit is exceeded")
        number = len(self.batches) + 1
        batch = {
            **body,
            "id": f"batch_{number}",
            "object": "batch",
            "created_at": int(time.time()),
            "status": "validating",
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "looks": self.looks,
            "lines": lines,
            "fault": self.faults.get(number),
        }
        self.batches[batch["id"]] = batch
        self.sizes.append(len(lines))
        return 200, json.dumps(_shown(batch)).encode()

    def _list(self, query: str) -> bytes:
        newest = [*reversed(self.batches.values())]
        if match := re.search(r"after=([^&]+)", query):
            place = next(n for n, each in enumerate(newest) if each["id"] == match[1])
            newest = newest[place + 1 :]
        limit = int(match[1]) if (match := re.search(r"limit=(\d+)", query)) else 20
        page = [_shown(each) for each in newest[:limit]]
        return json.dumps(
            {"object": "list", "data": page, "has_more": len(newest) > limit}
        ).encode()

    def _advance(self, batch: dict[str, Any], answer: AnswerLine) -> None:
        if batch["status"] in ("completed", "failed", "expired", "cancelled"):
            return
        fault = batch["fault"]
        if fault in ("token_limit", "wrong_line", "unknown"):
            batch["status"] = "failed"
            batch["errors"] = {"object": "list", "data": [_FAILURES[fault]]}
            return
        if batch["looks"] > 0:
            batch["looks"] -= 1
            batch["status"] = "cancelling" if batch["status"] == "cancelling" else "in_progress"
            return
        self._complete(batch, answer)

    def _complete(self, batch: dict[str, Any], answer: AnswerLine) -> None:
        lines = batch["lines"]
        half = len(lines) // 2 if batch["fault"] in ("expired", "cancelled") else len(lines)
        output: list[str | dict[str, Any]] = [*self.odd_lines]
        errors: list[str | dict[str, Any]] = []
        for number, line in enumerate(lines):
            self._lines += 1
            id = line["custom_id"]
            shown: dict[str, Any] = {"id": f"batch_req_{number}", "custom_id": id}
            if number >= half:
                code = f"batch_{batch['fault']}"
                errors.append({**shown, "response": None, "error": {"code": code, "message": ""}})
                continue
            chance = self._draw(line)
            if chance < self.drop:
                continue
            status = 500 if chance < self.drop + self.fail else self.line_faults(self._lines)
            body: dict[str, Any] = {"error": {"message": "The server had an error"}}
            if status is None:
                status, body = answer(line["url"].removeprefix("/v1"), line["body"])
            response = {"status_code": status, "request_id": "r", "body": body}
            if status == 200:
                self.paid[id] += 1
                output.append({**shown, "response": response, "error": None})
            else:
                errors.append({**shown, "response": response, "error": None})
        random.Random(f"{self.seed} {batch['id']}").shuffle(output)
        self.delivered |= {each["custom_id"] for each in output if isinstance(each, dict)}
        for name, found in (("output_file_id", output), ("error_file_id", errors)):
            if found:
                id = f"file-{name}-{batch['id']}"
                self.files[id] = b"".join(
                    (each if isinstance(each, str) else json.dumps(each)).encode() + b"\n"
                    for each in found
                )
                batch[name] = id
        batch["status"] = batch["fault"] or "completed"
        batch["request_counts"] |= {"completed": len(output), "failed": len(errors)}

    def _draw(self, line: dict[str, Any]) -> float:
        """A number that depends on what a line asks and how often it was sent, not on its place.

        Threads write lines in any order. The fourth time, after which a call is given up, all
        goes well.
        """
        self._tries[line["custom_id"]] += 1
        tries = self._tries[line["custom_id"]]
        reply = json.dumps(line["body"], sort_keys=True)
        return random.Random(f"{self.seed} {tries} {reply}").random() if tries < 4 else 1.0


_FAILURES: dict[str, dict[str, Any]] = {
    "token_limit": {
        "code": "token_limit_exceeded",
        "message": "Enqueued token limit reached for model in organization. Limit: 90,000 "
        "enqueued tokens. Please try again once some in_progress batches have been completed.",
        "line": None,
    },
    "wrong_line": {"code": "invalid_json_line", "message": "This line is not valid.", "line": 2},
    "unknown": {"code": "billing", "message": "Billing hard limit has been reached.", "line": None},
}


def _shown(batch: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in batch.items() if key not in ("looks", "lines", "fault")}


def _error(status: int, message: str) -> tuple[int, bytes]:
    return status, json.dumps({"error": {"message": message, "type": "error"}}).encode()
