"""Errors of servers that mean something else than their status says, over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cases import for_each
from endpoint import Endpoint as Server
from fabula.errors import BadReply, ModelError, TextRefused
from fabula.models import Prompt
from fabula.models.endpoint.address import EndpointAddress
from fabula.models.endpoint.client import EndpointClient
from fabula.models.endpoint.errors import EndpointError, NamedModel, Tries
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.models.endpoint.openai import OpenAIChat
from fabula.models.endpoint.parameters import NOT_STREAMED, STREAMED, refused_parameter
from fabula.models.endpoint.payload import join_events
from fabula.models.endpoint.retries import (
    MAX_SHARED_REFUSALS,
    EndpointRetries,
    RateLimitedError,
    SharedContextError,
)
from fabula.models.limiter import Limiter, RetryPolicy
from fabula.models.purpose import BUILD
from reach import SUMMARY, chat, reach, text_of
from tool_calls import CALLS, PROMPT, call

Raw = Callable[[int, dict[str, Any]], list[bytes] | None]


def http(status: int, value: Any, headers: str = "") -> list[bytes]:
    content = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    head = f"HTTP/1.1 {status} Any\r\n{headers}Connection: close\r\nContent-Length: {len(content)}"
    return [f"{head}\r\n\r\n".encode() + content]


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def later(status: int, value: Any) -> Raw:
    """What makes an endpoint answer one call, and all others with an error."""
    return lambda number, _: http(status, value) if number > 1 else None


def once(number: int, status: int, value: Any) -> Raw:
    """What makes an endpoint answer the call of one number with an error."""
    return lambda this, _: http(status, value) if this == number else None


# anthropics/claude-code 4684, BerriAI/litellm 14144, google-gemini/gemini-cli 4690,
# OpenRouter's documentation of errors.
LASTING = {
    "no credit": (400, error("Your credit balance is too low to access the Anthropic API.")),
    "no budget": (400, error("Budget has been exceeded!", type="budget_exceeded", code="400")),
    "a key": (400, [error("API key expired. Please renew the API key.", status="INVALID")]),
    "a model": (400, error("m is not a valid model ID", code=400)),
}


@for_each("name", LASTING)
def test_what_all_other_calls_would_meet_ends_the_run_and_not_one_text(name: str) -> None:
    status, value = LASTING[name]
    with Server(raw=later(status, value)) as server:
        model = chat(server)
        assert model.complete(SUMMARY).text
        with pytest.raises(ModelError) as raised:
            model.complete(SUMMARY)
    assert not isinstance(raised.value, BadReply)
    assert server.calls == 2


# OpenRouter's documentation of errors, XiaomiMiMo/MiMo-V2-Flash 18, an nginx before a server.
ABOUT_ONE_TEXT = {
    "moderation": (403, error('Your input was flagged for "violence".', code=403)),
    "a filter in the type": (400, error("Moderation Block", type="content_filter", code="421")),
    "a proxy": (413, "<html>\r\n<head><title>413 Request Entity Too Large</title></head></html>"),
    "vLLM": (400, error("max_tokens must be at least 1, got -850.", type="BadRequestError")),
}


@for_each("name", ABOUT_ONE_TEXT)
def test_what_one_text_meets_is_not_asked_again_and_ends_no_run(name: str) -> None:
    status, value = ABOUT_ONE_TEXT[name]
    with Server(raw=later(status, value)) as server:
        model = chat(server)
        assert model.complete(SUMMARY).text
        with pytest.raises(TextRefused):
            model.complete(SUMMARY)
    assert server.calls == 2


# vllm-project/vllm 51977, ollama/ollama 17638.
@for_each(
    "message",
    [
        'unexpected tokens remaining in message header: Some("to=functions.x")',
        "error parsing tool call: raw='{}]', err=invalid character ']' after top-level value",
    ],
)
def test_a_reply_that_its_server_can_not_read_fails_one_call(message: str) -> None:
    with Server(raw=later(500, error(message))) as server:
        model = chat(server, attempts=2)
        assert model.complete(SUMMARY).text
        with pytest.raises(BadReply, match="Given up after 2 tries"):
            model.complete(SUMMARY)


# pipecat-ai/pipecat 1168, of Groq.
def test_a_call_of_tools_that_its_server_can_not_read_is_no_refusal_of_tools() -> None:
    broken = error("Failed to call a function. See 'failed_generation'.", code="tool_use_failed")
    message = {"role": "assistant", "tool_calls": [call(json.dumps({"query": "Marley"}))]}
    good = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    with Server(raw=lambda n, _: http(400, broken) if n == 1 else http(200, good)) as server:
        model = chat(server)
        with pytest.raises(BadReply):
            model.complete(PROMPT)
        assert model.complete(PROMPT).text == CALLS
    assert all("tools" in body for body in server.bodies)


# lemonade-sdk/lemonade 3276, ggml-org/llama.cpp 23652.
def test_calls_that_share_a_context_are_made_one_after_another() -> None:
    under_way, lock = [0], threading.Lock()

    def raw(_: int, __: dict[str, Any]) -> list[bytes] | None:
        with lock:
            under_way[0] += 1
            is_full = under_way[0] > 1
        time.sleep(0.05)
        with lock:
            under_way[0] -= 1
        full = error("Context size has been exceeded.", code=500, type="server_error")
        return http(500, full) if is_full else None

    with Server(raw=raw) as server:
        model = OpenAIChat(reach(server.url), "m")
        texts = [f"<passages>\n{number} Marley was dead.\n</passages>" for number in range(4)]
        with ThreadPoolExecutor(4) as pool:
            replies = list(
                pool.map(lambda text: model.complete(Prompt("Sum.", text, 100, 0.5)), texts)
            )
    assert all(reply.text for reply in replies)


# mdc-ng/mdc-ng 451, of LM Studio; TGI.
@for_each(
    ("status", "message"),
    [(400, "Channel Error"), (424, "Request failed during generation: CUDA out of memory.")],
)
def test_a_server_that_failed_for_a_moment_is_asked_again(status: int, message: str) -> None:
    with Server(raw=once(2, status, {"error": message})) as server:
        model = chat(server)
        assert [model.complete(SUMMARY).text for _ in range(2)] == ["Marley was dead."] * 2
    assert server.bodies[0] == server.bodies[1] == server.bodies[2]


@for_each("status", [301, 302, 303])
def test_a_redirect_that_would_lose_the_body_names_the_cure(status: int) -> None:
    moved = http(status, "", "Location: https://127.0.0.1/v1/chat/completions\r\n")
    with (
        Server(raw=lambda *_: moved) as server,
        pytest.raises(ModelError, match=r"redirects to https://127.*Set OPENAI_BASE_URL"),
    ):
        chat(server).complete(SUMMARY)
    assert server.calls == 1


def test_the_wait_that_is_asked_for_is_read_from_the_error_too() -> None:
    says = {
        "Rate limit reached. Please try again in 7.66s.": 7.66,
        "Please try again in 1h2m3s. Visit": 3723.0,
        "Please try again in 120ms.": 0.12,
        "Request was throttled. Expected available in 13 seconds.": 13.0,
        "Individual quota reached. Resets in 164h27m24s.": 592_044.0,
        "Your limit will reset at 2026-07-14 07:49:08": None,
        "Please wait 40000 seconds before retrying.": 40000.0,
        "Please retry after 1 minute.": 60.0,
        "The model is overloaded. Please try again later.": None,
        "Try again later (request id: 202504100222113072328576MsviYEC)": None,
        "Please try again later (request id: 20240611123456d7f)": None,
        "Please try again later. Request id: 021742631810746d0cfa": None,
        "Rate limit reached. Please retry. Limit 30 d": None,
        "Failed to parse input at pos 12: She had to wait 15 minutes at the door": None,
        'error parsing tool call: raw=\'{"text":"He had to wait for 14 days in': None,
    }
    assert {message: EndpointError.of(429, error(message)).wait for message in says} == says
    details = {"error": {"message": "x", "details": [{"retryDelay": "32s"}]}}
    assert EndpointError.of(429, details).wait == 32
    later = error("Too busy, try again later.", request_id="3d81c0de-11aa")
    assert EndpointError.of(503, later).wait is None
    assert EndpointError.of(503, {"error": "loading", "estimated_time": 20.5}).wait == 20.5
    reset = {"headers": {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000"}}
    at = int((time.time() + 60) * 1000)
    reset["headers"]["X-RateLimit-Reset"] = str(at)
    wait = EndpointError.of(429, error("x", metadata=reset)).wait
    assert wait is not None
    assert 50 < wait <= 60


@for_each(
    ("message", "stream", "refused"),
    [
        ("m does not support stream_options", True, "stream_options"),
        ("stream_options is not supported", True, "stream_options"),
        ("This model does not support streaming.", True, STREAMED),
        ("Streaming is not supported for this model", True, STREAMED),
        ("Your organization must be verified to stream this model.", True, STREAMED),
        ("enable thinking can not be support when `stream=False`.", False, NOT_STREAMED),
        ("Requests with max_tokens > 4096 must have stream=true", False, NOT_STREAMED),
        ("max_tokens is not supported", False, "max_tokens"),
    ],
)
def test_a_stream_is_told_from_its_options(message: str, stream: bool, refused: str) -> None:
    body: dict[str, Any] = {"messages": [], "max_tokens": 9}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    assert refused_parameter(None, message, body) == refused


def test_calls_of_tools_in_the_pieces_of_a_stream_are_put_together() -> None:
    def piece(
        arguments: str, name: str | None = None, index: int = 0, id: str | None = None
    ) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments}
        delta = {"tool_calls": [{"index": index, "id": id, "function": function}]}
        return {"choices": [{"delta": delta, "finish_reason": None}]}

    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    pieces = {
        "numbered": [piece('{"a', "search"), piece("{}", "read", 1), piece('": 1}')],
        "all 0": [
            *(piece('{"a', "search", 0, "A"), piece('": 1}', None, 0, "")),
            piece("{}", "read", 0, "B"),
        ],
        "an id a piece": [
            *(piece('{"a', "search", 0, "A"), piece('": 1}', None, 0, "B")),
            piece("{}", "read", 1, "C"),
        ],
    }
    for events in pieces.values():
        [first, second] = join_events([*events, end])["choices"][0]["message"]["tool_calls"]
        assert first["function"] == {"name": "search", "arguments": '{"a": 1}'}
        assert second["function"] == {"name": "read", "arguments": "{}"}


def test_a_server_that_refuses_both_ways_of_a_reply_is_asked_twice() -> None:
    refusal = error("This model only supports streaming; stream is not allowed for your plan")
    with Server(raw=lambda *_: http(400, refusal)) as server:
        with pytest.raises(ModelError, match="only supports streaming"):
            chat(server).complete(SUMMARY)
        assert server.calls == 2


@for_each("stream", [False, True])
@for_each(
    "message",
    [
        "The upstream is not available",
        "upstream does not respond",
        "upstream must be healthy",
        "The downstream is required",
    ],
)
def test_a_stream_of_servers_is_no_stream_of_a_reply(message: str, stream: bool) -> None:
    body: dict[str, Any] = {"messages": [], "stream": stream}
    assert refused_parameter(None, message, body) is None


def test_a_server_that_fails_is_not_taken_to_refuse_streams() -> None:
    failure = error("The stream is not available.")
    with Server(raw=once(1, 502, failure)) as server:
        model = chat(server)
        assert [text_of(model.stream(SUMMARY)) for _ in range(2)] == ["Marley was dead."] * 2
    assert all(body.get("stream") for body in server.bodies)


def retry(errors: list[ModelError]) -> str:
    """The result of work that fails with some errors first."""
    url, patience = "http://127.0.0.1:9/v1", RetryPolicy(first_wait=0.01)
    client = EndpointClient(EndpointAddress.of(url), "key", 1.0)
    retries = EndpointRetries(client, Limiter(8), patience, LearnedBehaviour())

    def work() -> str:
        if errors:
            raise errors.pop(0)
        return "Marley was dead."

    return retries.run(work, NamedModel("m", "FABULA_MODEL"), Tries(), BUILD)


def test_only_refusals_for_a_shared_context_make_a_text_too_long_for_it() -> None:
    busy, shared = RateLimitedError("busy", 0.0), SharedContextError("full", 0.0)
    assert retry([*[busy] * MAX_SHARED_REFUSALS, shared]) == "Marley was dead."
    with pytest.raises(TextRefused):
        retry([shared] * MAX_SHARED_REFUSALS)


LOADING = {
    "Error loading model: file not found": False,
    "Failed to load model; loading of the next one was not tried": False,
    "Loading model": True,
    "Error: the model is still loading": True,
    "Unable to answer while loading the model": True,
}
UNKNOWN_MODEL = {
    "Unknown model parameter: response_format": False,
    "unknown model field `response_format`": False,
    "Invalid model settings: temperature": False,
    "Invalid model output: the JSON does not end": False,
    "Unknown model: m": True,
    "Invalid model name passed in model=m": True,
    "The model `m` does not exist.": True,
    "The provided model identifier is invalid.": True,
    "The chatCompletion operation does not work with the specified model, m.": True,
    "No models loaded. Please load a model in the developer page": True,
    "The model's response_format was not found in the request": False,
}
QUOTA = {
    "thinking_budget exceeded budget": False,
    "text over budget of 512": False,
    "ExceededBudget: User=ada over budget. Spend=2, Budget=1": True,
}
LIMIT_OF_TEXT = {
    "`max_new_tokens` must be <= 512. Given: 1000": False,
    "`inputs` tokens + `max_new_tokens` must be <= 1024. Given: 900 `inputs` tokens": True,
}
FILTERED = [
    (403, "Access to sensitive information is not allowed for this key", False),
    (400, "Invalid parameter: 'sensitive_content' unsupported", False),
    (400, "The input text may contain sensitive information.", True),
    (403, "The text violates our content policy.", True),
]
PASSING = [
    "You are using a Trial key, which is limited to 40 API calls / minute.",
    "Rate limit reached on tokens per day (TPD): Limit 9, Used 9. Please try again in 7m12s.",
    "Rate limit reached on requests per minute (RPM): Limit 3",
    "请求过于频繁，请稍后重试。",
    "Monthly spend is not the reason: requests rate limit exceeded",
]


@for_each(
    ("status", "body", "expected"),
    [
        *(
            (503, error(words), {"busy": is_so, "loading": is_so})
            for words, is_so in LOADING.items()
        ),
        *((400, error(words), {"unknown_model": is_so}) for words, is_so in UNKNOWN_MODEL.items()),
        *((400, error(words), {"quota": is_so}) for words, is_so in QUOTA.items()),
        (400, error("No more of it.", type="budget_exceeded"), {"quota": True}),
        *((422, {"error": words}, {"too_long": is_so}) for words, is_so in LIMIT_OF_TEXT.items()),
        *((status, error(words), {"filtered": is_so}) for status, words, is_so in FILTERED),
        *(
            (429, error(words), {"quota": False, "busy": True, "temporary": True})
            for words in PASSING
        ),
    ],
)
def test_what_an_error_means_is_told_by_its_words(
    status: int, body: Any, expected: dict[str, bool]
) -> None:
    reported = EndpointError.of(status, body)
    assert {name: getattr(reported, name) for name in expected} == expected


def test_a_wait_of_too_many_digits_is_none() -> None:
    body = f'{{"error": "loading", "estimated_time": {"9" * 400}}}'
    assert EndpointError.of(503, body).wait is None


def test_a_page_of_titles_that_do_not_end_is_read_at_once() -> None:
    with Server(raw=lambda *_: http(400, "<title" * 11_000)) as server:
        model = chat(server)
        began = time.process_time()
        with pytest.raises(ModelError, match="400"):
            model.complete(SUMMARY)
        assert time.process_time() - began < 0.5


# Public reports: diegosouzapw/OmniRoute 6980, 12252, 13536, 9269 and 1772, Yeachan-Heo/gajae-code
# 1821, openclaw/openclaw 142656. The first is OpenAI's with another status.
SPENT: list[tuple[int, str]] = [
    (401, "You exceeded your current quota, please check your plan and billing details"),
    (403, "You've reached your weekly (7-day) usage limit. Your quota will reset when the"),
    (403, "NOT_ENOUGH_BALANCE: not enough balance"),
    (403, "insufficient_user_quota: 用户额度不足, 剩余额度: 0"),
    (403, "The request failed because your account has an overdue balance."),
    (429, "you have used up your daily free allocation of 10,000 neurons, please upgrade"),
    (429, "You are using a Trial key, which is limited to 1000 API calls / month."),
    (429, "[1310][Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-07-14 07:49:08]"),
    (429, "已达到 5 小时的使用上限。您的限额将在 2026-09-10 19:01:19 重置。"),
    (429, "Subscription quota exceeded. You can continue using free models."),
    (429, "request reached organization TPD rate limit, current: 1500012, limit: 1500000"),
    (429, "usage limit reached"),
]


@for_each(("status", "message"), SPENT)
def test_an_allowance_that_is_spent_ends_the_run_at_once(status: int, message: str) -> None:
    with Server(raw=later(status, error(message))) as server:
        model = chat(server)
        assert model.complete(SUMMARY).text
        with pytest.raises(ModelError, match="has no quota left") as raised:
            model.complete(SUMMARY)
    assert not isinstance(raised.value, BadReply)
    assert server.calls == 2


# continuedev/continue 10639, of Gemini; Groq's and NVIDIA's errors.
@for_each(
    "message",
    [
        "This model is currently experiencing high demand. Spikes in demand are usually temporary.",
        "m is currently over capacity. Please try again and back off exponentially.",
        "ResourceExhausted: Worker local total request limit reached (33/32)",
        "Too many connections, please wait before trying again.",
        "服务繁忙，请稍后重试",
    ],
)
def test_a_busy_server_uses_up_no_tries_whatever_its_words(message: str) -> None:
    def raw(number: int, _: dict[str, Any]) -> list[bytes] | None:
        return http(503, error(message, code=503)) if 1 < number <= 4 else None

    with Server(raw=raw) as server:
        model = chat(server, attempts=2)
        assert [model.complete(SUMMARY).text for _ in range(2)] == ["Marley was dead."] * 2
    assert server.calls == 5


# xorbitsai/inference 3785, langchain-ai/deepagents 468, earendil-works/pi 4943 and 5677,
# 0xBakeer/inference-atlas 186, BerriAI/litellm 21647, badlogic/pi-mono.
TOO_LONG: list[tuple[int, str]] = [
    (400, "The decoder prompt (length 2136) is longer than the maximum model length of 2048."),
    (
        500,
        "[pid=1065] The decoder prompt (length 66501) is longer than the maximum model length of",
    ),
    (400, "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."),
    (400, "Input length (265330) exceeds model's maximum context length (262144)."),
    (400, "Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)"),
    (400, "The total length of all messages is too long."),
    (400, "Please reduce the length of the messages or completion."),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens"),
    (400, "Your request exceeded model token limit: 262144 (requested: 566084)"),
    (400, "prompt token count of 140000 exceeds the limit of 128000"),
    (400, "Your input exceeds the context window of this model."),
    (400, "Range of input length should be [1, 30720]"),
    (400, "Prompt 超长"),
    (400, "the input token count is 40000 but model only supports up to 32768. Reduce the input"),
    (413, "Request body too large for gpt-4o model. Max size: 8000 tokens."),
]


@for_each(("status", "message"), TOO_LONG)
def test_a_text_that_is_too_long_is_recognised_by_any_words(status: int, message: str) -> None:
    reported = EndpointError.of(status, error(message))
    assert (reported.too_long, reported.temporary) == (True, False)
    assert "too long for m" in reported.explain("http://x", NamedModel("m", "FABULA_MODEL"))


def test_a_model_that_is_no_longer_served_ends_the_run() -> None:
    gone = {
        400: error("The model `m` has been decommissioned.", code="model_decommissioned"),
        410: {"title": "Gone", "detail": "The model m has reached its end of life on 2026-05-26"},
    }
    for status, value in gone.items():
        with Server(raw=later(status, value)) as server:
            model = chat(server)
            model.complete(SUMMARY)
            with pytest.raises(ModelError, match=rf"has no model 'm' \({status}\)") as raised:
                model.complete(SUMMARY)
        assert not isinstance(raised.value, BadReply)
        assert server.calls == 2


@for_each(
    ("fields", "expected"),
    [
        ({"code": "insufficient_quota", "message": "x"}, "no quota left"),
        ({"code": "context_length_exceeded", "message": "x"}, "too long for m"),
        ({"code": "invalid_api_key", "message": "x"}, "refused the key"),
        ({"type": "invalid_request_error", "message": "max_tokens must be > 0"}, "400"),
    ],
)
def test_an_error_within_an_answer_is_known_by_its_code(
    fields: dict[str, Any], expected: str
) -> None:
    with (
        Server(raw=lambda *_: http(200, {"error": fields})) as server,
        pytest.raises(ModelError, match=expected),
    ):
        chat(server).complete(SUMMARY)


# What Go's servers, FastAPI's, nginx, Express and LM Studio say below an address without /v1.
NO_SUCH_CALL: list[tuple[int, Any]] = [
    (404, "404 page not found"),
    (404, {"detail": "Not Found"}),
    (404, "<html><head><title>404 Not Found</title></head></html>"),
    (404, "<!DOCTYPE html><pre>Cannot POST /chat/completions</pre>"),
    (404, error("Invalid URL (POST /v1/v1/chat/completions)", type="invalid_request_error")),
    (405, {"detail": "Method Not Allowed"}),
    (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
]


@for_each(("status", "value"), NO_SUCH_CALL)
def test_an_address_without_the_call_is_named_at_once(status: int, value: Any) -> None:
    with (
        Server(raw=lambda *_: http(status, value)) as server,
        pytest.raises(ModelError, match=r"no such call .*OPENAI_BASE_URL, which often ends with"),
    ):
        chat(server).complete(SUMMARY)
    assert server.calls == 1
    with Server(raw=once(2, status, value)) as server:
        model = chat(server)
        replies = [model.complete(SUMMARY).text for _ in range(2)]
    assert replies == ["Marley was dead."] * 2, "a proxy says so while the server is away"
    assert server.bodies[1] == server.bodies[2]


@for_each("status", [504, 524])
def test_a_long_reply_that_a_proxy_did_not_wait_for_is_streamed_from_then_on(status: int) -> None:
    page = f"<html><head><title>{status} Gateway Time-out</title></head></html>"

    def raw(_: int, body: dict[str, Any]) -> list[bytes] | None:
        return None if body.get("stream") or "input" in body else http(status, page)

    with Server(raw=raw) as server:
        model = chat(server)
        assert [model.complete(SUMMARY).text for _ in range(3)] == ["Marley was dead."] * 3
    assert [body.get("stream", False) for body in server.bodies] == [False, True, True, True]
    with (
        Server(raw=lambda *_: http(status, page)) as server,
        pytest.raises(ModelError, match="Given up after 2 tries"),
    ):
        chat(server, attempts=2).complete(SUMMARY)
    assert server.calls == 4, "where it is not that, each try is made both ways"
