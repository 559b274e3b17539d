"""Tools that a model may call: how they are offered, refused, called by JSON, and read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from caches import OpenCache
from cases import for_each
from endpoint import Endpoint as Server
from endpoint.server import Complaint
from fabula.models import OfferedTool, Prompt, ToolOffer
from fabula.models.cache import chat_key
from fabula.models.cached import CachedChat
from fabula.models.counted import CountedChat, Meter
from fabula.models.endpoint.openai import OpenAIChat
from fabula.models.endpoint.payload import tool_calls
from reach import chat, reach
from reading_model import http
from tool_calls import CALLS, PROMPT, Arguments, CallsReply, call


def replies(message: dict[str, Any], finish: str = "tool_calls") -> Any:
    """What makes an endpoint reply with a message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return lambda number, body: [http(200, {"choices": [choice], "usage": {}})]


def test_tools_are_offered_as_functions_and_their_calls_are_json() -> None:
    message = {"content": None, "tool_calls": [call(json.dumps({"query": "Marley"}))]}
    with Server(raw=replies(message)) as server:
        reply = chat(server).complete(PROMPT)
    assert (reply.text, reply.problem) == (CALLS, "")
    [body] = server.bodies
    assert "response_format" not in body, "many servers take one of the two"
    [tool] = body["tools"]
    assert (tool["type"], tool["function"]["name"]) == ("function", "search")
    assert tool["function"]["parameters"]["properties"]["query"]["description"] == "the words"
    assert "by JSON" not in str(body["messages"])


@for_each(
    ("message", "calls"),
    [
        ({"tool_calls": [call({"query": "x"})]}, [{"query": "x"}]),
        ({"tool_calls": [call(""), call(None)]}, [{}, {}]),
        ({"tool_calls": [call("{broken")]}, ["{broken"]),
        ({"tool_calls": [call("[" * 100_000)]}, ["[" * 100_000]),
        ({"function_call": {"name": "search", "arguments": "{}"}}, [{}]),
        ({"tool_calls": None, "function_call": None}, []),
        ({"tool_calls": "search"}, []),
        ({"tool_calls": [None, {"function": None}, {"function": {"name": None}}]}, []),
        ({}, []),
    ],
)
def test_calls_of_any_form_are_read(message: dict[str, Any], calls: list[Any]) -> None:
    text = tool_calls(message, 200_000)
    read = json.loads(text)["calls"] if text else []
    assert [one["arguments"] for one in read] == calls


# ollama/ollama issue 6027; QwenLM/Qwen-Agent issue 344, of vLLM.
REFUSALS: dict[str, Complaint] = {
    "Ollama": (
        400,
        {
            "error": {
                "message": "stablelm2:latest does not support tools",
                "type": "api_error",
                "param": None,
                "code": None,
            }
        },
    ),
    "vLLM": (
        400,
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and '
            "--tool-call-parser to be set",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "one that names nothing": (400, {"error": {"message": "Bad request"}}),
    "one that fails": (500, {"error": {"message": "Internal error"}}),
}


@for_each("refusal", REFUSALS.values(), ids=REFUSALS)
def test_an_endpoint_without_tools_is_asked_by_json_and_that_is_remembered(
    refusal: Complaint,
) -> None:
    def raw(number: int, body: dict[str, Any]) -> list[bytes] | None:
        return None if "tools" in body else replies({"content": CALLS}, "stop")(number, body)

    with Server(raw=raw, complaints={"tools": refusal}) as server:
        model = chat(server)
        for _ in range(2):
            before = server.calls
            assert model.complete(PROMPT).text == CALLS
    assert server.calls == before + 1, "it is remembered"
    last = server.bodies[-1]
    assert "tools" not in last
    assert last["response_format"]["json_schema"]["name"] == "CallsReply"
    assert last["messages"][-1]["content"] == "Who?\n\nCall by JSON: search."


def test_arguments_that_are_too_long_are_a_problem_of_the_reply() -> None:
    message = {"tool_calls": [call(json.dumps({"query": "x" * 10_000_000}))]}
    with Server(raw=replies(message)) as server:
        reply = chat(server).complete(PROMPT)
    assert reply.text == ""
    assert "too long" in reply.problem


def test_calls_that_were_cut_are_no_whole_reply() -> None:
    with Server(raw=replies({"tool_calls": [call('{"query": "Mar')]}, "length")) as server:
        reply = chat(server).complete(PROMPT)
    assert reply.incomplete
    assert "did not finish" in reply.problem


def test_calls_are_cached_and_other_tools_are_another_prompt(
    tmp_path: Path, open_cache: OpenCache
) -> None:
    cache = open_cache(tmp_path)
    message = {"content": None, "tool_calls": [call({"query": "Marley"})]}
    with Server(raw=replies(message)) as server:
        endpoint = reach(server.url)
        model = CachedChat(
            lambda _: CountedChat(OpenAIChat(endpoint, "m"), Meter(), "a", "m"),
            *(cache, server.url, "m"),
        )
        assert [model.complete(PROMPT).text for _ in range(2)] == [CALLS, CALLS]
    assert server.calls == 1
    other = ToolOffer((OfferedTool("search", "Find other passages", Arguments),), "")
    prompts = [PROMPT, Prompt("You read.", "Who?", 100, 0, CallsReply)]
    prompts.append(Prompt("You read.", "Who?", 100, 0, CallsReply, offer=other))
    assert len({chat_key("u", "m", prompt) for prompt in prompts}) == 3
