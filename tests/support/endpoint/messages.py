"""The bodies of OpenAI's HTTP interface: a chat's message, what it used, and a ranking."""

from __future__ import annotations

import json
from typing import Any

from .faults import Fault
from .model import reply


def ranked(body: dict[str, Any]) -> dict[str, Any]:
    """The longest documents are the best, and come first."""
    scores = [(index, len(text)) for index, text in enumerate(body["documents"])]
    best_first = sorted(scores, key=lambda one: -one[1])
    return {"results": [{"index": n, "relevance_score": 1.0 * score} for n, score in best_first]}


def message(body: dict[str, Any], fault: Fault | None) -> tuple[dict[str, Any], str]:
    """The assistant's message and its finish_reason."""
    said: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    if fault == "refusal":
        return {**said, "refusal": "I can't help with that."}, "stop"
    if fault in ("empty", "thinking", "filtered"):
        reasons = {"empty": "stop", "thinking": "length", "filtered": "content_filter"}
        return {**said, "content": ""}, reasons[fault]
    text = reply(body["messages"][-1]["content"], fault)
    return {**said, "content": text}, "length" if fault == "truncated" else "stop"


def usage(body: dict[str, Any], text: str | None) -> dict[str, int]:
    asked, said = tokens(*(m["content"] for m in body["messages"])), tokens(text or "")
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def whole_prompt(body: dict[str, Any]) -> str:
    """All that a model reads, in its order: as at OpenAI, the reply's shape comes first."""
    messages = [message["content"] for message in body["messages"]]
    return "".join([body["model"], json.dumps(body.get("response_format", "")), *messages])


def tokens(*texts: str) -> int:
    return sum(len(text) // 4 + 1 for text in texts)
