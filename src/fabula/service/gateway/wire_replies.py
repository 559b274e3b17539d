"""Chat completions as they travel: whole, or as the events of a stream, and one from the other."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from fabula.models.payload import Json, object_or_empty

DONE = b"data: [DONE]\n\n"
_CONSTANT = ("index", "role", "type", "id", "name", "object")
"""Fields that several deltas may repeat: the last one counts, and they are not joined."""


def make_event(value: Json) -> bytes:
    """Return an event of a stream."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def is_end(event: bytes) -> bool:
    """Return whether an event says that a stream has ended."""
    return event.removeprefix(b"data:").strip() == b"[DONE]"


def event_value(event: bytes) -> Json | None:
    """Return the JSON of an event; None for a comment, the end, and what is no object."""
    lines = [line[5:].strip() for line in event.splitlines() if line.startswith(b"data:")]
    data = b"\n".join(lines)
    if not data or data == b"[DONE]":
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_usage_event(value: Json) -> bool:
    """Return whether an event has nothing but the token counts."""
    return bool(value.get("usage")) and not value.get("choices")


def make_completion(model: str, text: str, prompt_tokens: int, completion_tokens: int) -> Json:
    """Return the completion of a text."""
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def stream_completion(completion: Json, *, with_usage: bool) -> list[bytes]:
    """Return the events of a stream that has the whole completion in it.

    Args:
        completion: The completion.
        with_usage: Whether the client asked for the token counts (`stream_options`).

    """
    head = {
        name: value for name, value in completion.items() if name not in ("choices", "usage")
    } | {"object": "chat.completion.chunk"}
    choices = [object_or_empty(each) for each in completion.get("choices") or ()]
    first = [
        {"index": each.get("index", place), "delta": _delta(each), "finish_reason": None}
        for place, each in enumerate(choices)
    ]
    last = [
        {
            "index": each.get("index", place),
            "delta": {},
            "finish_reason": each.get("finish_reason") or "stop",
        }
        for place, each in enumerate(choices)
    ]
    events = [head | {"choices": first}, head | {"choices": last}]
    if with_usage and completion.get("usage"):
        events.append(head | {"choices": [], "usage": completion["usage"]})
    return [*map(make_event, events), DONE]


def _delta(choice: Json) -> Json:
    """The message of a choice as one delta, in which calls of tools are numbered."""
    message = dict(object_or_empty(choice.get("message")))
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [
            {"index": place} | object_or_empty(call) for place, call in enumerate(calls)
        ]
    return message


def join_stream(events: Iterable[Json], *, is_done: bool = False) -> Json | None:
    """Return the whole completion of a stream's events; None if it did not end properly.

    Args:
        events: The events.
        is_done: Whether the stream said itself that it has ended, by [DONE]. Some servers give no
            reason for the end.

    """
    head: Json = {}
    choices: dict[int, Json] = {}
    messages: dict[int, Json] = {}
    streamed: set[int] = set()
    for event in events:
        head |= {name: value for name, value in event.items() if name != "choices" and value}
        for each in map(object_or_empty, event.get("choices") or ()):
            place = each.get("index")
            place = place if isinstance(place, int) else 0
            choice = choices.setdefault(place, {"index": place})
            delta = object_or_empty(each.get("delta"))
            if place not in streamed:
                # A whole message after its pieces adds nothing.
                streamed.update({place} if delta.get("content") or delta.get("tool_calls") else ())
                delta = delta or object_or_empty(each.get("message"))
            _add(messages.setdefault(place, {"role": "assistant"}), delta)
            choice |= {
                name: value
                for name, value in each.items()
                if name not in ("delta", "message", "index") and value is not None
            }
    reasons = [choice.get("finish_reason") for choice in choices.values()]
    is_whole = all(reasons) or (is_done and not any(reasons) and bool(streamed))
    if not choices or not is_whole:
        return None
    head["object"] = "chat.completion"
    head["choices"] = [
        choices[place] | {"message": _without_numbers(messages[place])} for place in sorted(choices)
    ]
    return head


def _add(whole: Json, delta: Mapping[str, Any]) -> None:
    """Add a delta to what came before it: texts are joined, numbered parts found by number."""
    for name, value in delta.items():
        before = whole.get(name)
        if value is None and name in whole:
            continue
        if isinstance(value, str) and isinstance(before, str) and name not in _CONSTANT:
            whole[name] = before + value
        elif isinstance(value, dict):
            inner = whole.setdefault(name, {}) if isinstance(before, dict) else {}
            whole[name] = inner
            _add(inner, value)
        elif isinstance(value, list):
            whole[name] = _add_list(before if isinstance(before, list) else [], value)
        else:
            whole[name] = value


def _add_list(before: list[Any], added: list[Any]) -> list[Any]:
    whole = list(before)
    for item in added:
        number = item.get("index") if isinstance(item, dict) else None
        same = [each for each in whole if isinstance(each, dict) and each.get("index") == number]
        if number is not None and same:
            _add(same[0], item)
        elif isinstance(item, dict):
            copy: Json = {}
            _add(copy, item)
            whole.append(copy)
        else:
            whole.append(item)
    return whole


def _without_numbers(message: Json) -> Json:
    """The message of a whole completion, whose calls of tools have no numbers."""
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [
            {name: value for name, value in object_or_empty(call).items() if name != "index"}
            for call in calls
        ]
    return message
