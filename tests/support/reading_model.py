"""A model that reads for itself, scripted, over HTTP: with tools, or by JSON where it has none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from endpoint import Endpoint

Call = tuple[str, Any]
Turn = Sequence[Call] | str | bytes
"""What a reply is: calls of tools, a text, or all the bytes of an answer."""
REFUSED = {"error": {"message": "m does not support tools", "type": "invalid_request_error"}}


def http(status: int, value: Any) -> bytes:
    """A whole answer."""
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    head = f"HTTP/1.1 {status} Any\r\nContent-Type: application/json\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


@dataclass
class ReadingModel:
    """Replies by a script, one turn a round; the last turn is repeated. Answers are as ever.

    `tools` says whether the endpoint takes tools, refuses them, or takes no notice of them: the
    model may have seen how they are called ("ignored"), or knows nothing of them ("unseen").
    """

    turns: Sequence[Turn]
    tools: str = "taken"
    on_round: Callable[[int], None] = lambda _: None
    prompts: list[str] = field(default_factory=list)
    """What it was sent in each round."""
    offered: list[str] = field(default_factory=list)
    """The names of the tools on offer in the last round."""
    answering: list[str] = field(default_factory=list)
    """The prompts of answers."""

    def raw(self, _: int, body: Mapping[str, Any]) -> Iterable[bytes | float] | None:
        """What an `Endpoint` answers with; None for what the tests' usual model replies to."""
        if "messages" not in body:
            return None
        user = body["messages"][-1]["content"]
        if "<results>" not in user:
            self.answering.append(user)
            return None
        if "tools" in body and self.tools == "refused":
            return [http(400, REFUSED)]
        self.prompts.append(user)
        self.on_round(len(self.prompts))
        turn = self.turns[min(len(self.prompts), len(self.turns)) - 1]
        if isinstance(turn, bytes):
            return [turn]
        if self.tools == "unseen" and "Reply with JSON alone" not in user:
            self.prompts.pop()
            return [http(200, completion("I would have to look that up.", by_tools=False))]
        by_tools = "tools" in body and self.tools == "taken"
        if by_tools:
            self.offered = [tool["function"]["name"] for tool in body["tools"]]
        return [http(200, completion(turn, by_tools=by_tools))]

    def endpoint(self, **how: Any) -> Endpoint:
        """The endpoint that it is behind."""
        return Endpoint(raw=self.raw, **how)

    @property
    def last(self) -> str:
        """What it was sent in the last round."""
        return self.prompts[-1]


def completion(turn: Sequence[Call] | str, *, by_tools: bool) -> dict[str, Any]:
    """A completion that calls tools, or says so in JSON, or is a text."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(turn, str):
        message["content"] = turn
    elif by_tools:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for number, (name, given) in enumerate(turn)
        ]
    else:
        calls = [{"tool": name, "arguments": given} for name, given in turn]
        message["content"] = json.dumps({"calls": calls})
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}
