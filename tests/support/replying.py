"""An endpoint that answers each question with a text of the test's own, in small pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
PIECE = 7
"""Characters of a piece."""


class Replies:
    """What `Endpoint(raw=...)` takes: it answers chat calls with `text`, and no other calls."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def __call__(self, number: int, body: dict[str, Any]) -> Iterable[bytes] | None:
        if "messages" not in body or not self.text:
            return None
        last = {"index": 0, "delta": {}, "finish_reason": "stop"}
        if not body.get("stream"):
            message = {"role": "assistant", "content": self.text}
            reply = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            return _http(json.dumps(reply).encode(), b"application/json")
        pieces = [self.text[at : at + PIECE] for at in range(0, len(self.text), PIECE)]
        choices: list[dict[str, Any]] = [
            {"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces
        ]
        events = [{"id": "x", "choices": [choice]} for choice in (*choices, last)]
        data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
        return _http(data + b"data: [DONE]\n\n", b"text/event-stream")


def _http(content: bytes, kind: bytes) -> list[bytes]:
    return [HEAD % (kind, len(content)) + content]
