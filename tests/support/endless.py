"""Streams of a model that never end: a call of theirs is over when nobody listens any more."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
Stream = Iterator[bytes | float] | None


def event(text: str) -> bytes:
    """An event with some more of the text."""
    delta = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return b"data: " + json.dumps(delta).encode() + b"\n\n"


def think(_: int, body: dict[str, Any]) -> Stream:
    """Keep the stream of an answer open and say nothing. It is an endpoint's `raw`."""
    if "messages" not in body:
        return None
    return itertools.chain([HEAD], itertools.cycle([b": thinking\n\n", 0.01]))


def begin_to_answer(_: int, body: dict[str, Any]) -> Stream:
    """Say three words of a streamed answer, and then nothing more. It is an endpoint's `raw`."""
    if not body.get("stream"):
        return None
    words = [event(word) for word in ("Anna ", "walked ", "home")]
    return itertools.chain([HEAD, *words], itertools.cycle([b": thinking\n\n", 0.01]))


def answer_for_ever(_: int, body: dict[str, Any]) -> Stream:
    """Say word after word of a streamed answer that has no end. It is an endpoint's `raw`."""
    if not body.get("stream"):
        return None
    return itertools.chain([HEAD], itertools.cycle([event("Anna walked "), 0.02]))
