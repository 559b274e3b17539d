"""A reply counts only if it ended by itself: what failed, was cut or was withheld is no reply."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from caches import OpenCache
from cases import for_each
from endpoint import Endpoint as Server
from fabula.errors import BadReply, ModelError, TextRefused
from fabula.models import Chat, Prompt
from fabula.models.cache import ResponseCache
from fabula.models.cached import CachedChat
from fabula.models.counted import CountedChat, Meter
from fabula.models.endpoint.openai import CUT_MARK, OpenAIChat
from fabula.models.endpoint.payload import reply_end
from fabula.models.replies import ask, complete, read_summary
from reach import DETAILS, SUMMARY, chat, reach, text_of

HALF = "The miller kept"
WHOLE = "The miller kept a lantern."
FAILED = (
    *("error", "abort", "insufficient_system_resource", "network_error"),
    *("function_call_filter: MALFORMED_FUNCTION_CALL", "malformed_model_output"),
    *("USER_CANCEL", "modelUnloaded", "unload", "MISSING_THOUGHT_SIGNATURE"),
)
FILTERED = (
    *("content_filter", "SAFETY", "RECITATION", "content_filter: SAFETY", "sensitive"),
    *("content_filtered", "ESCALATION", "NO_IMAGE", "IMAGE_RECITATION"),
)
CUT = (
    *("length", "max_tokens", "MAX_TOKENS", "model_length", {"type": "length", "length": 3}),
    *("compaction", "ERROR_LIMIT"),
)
ENDED = ("stop", "eos", "end_turn", "STOP", "COMPLETE", "stop_sequence", None, "")

Choice = dict[str, Any]


def choice(text: str, reason: Any, **more: Any) -> Choice:
    return {"index": 0, "message": {"content": text}, "finish_reason": reason, **more}


def http(content: bytes, kind: bytes) -> list[bytes]:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    return [head % (kind, len(content)) + content]


def whole(value: Any) -> list[bytes]:
    return http(json.dumps(value).encode(), b"application/json")


def streamed(events: Sequence[Any], end: bytes = b"data: [DONE]\n\n") -> list[bytes]:
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    return http(data + end, b"text/event-stream")


def answered(given: Choice, usage: dict[str, Any] | None = None) -> Any:
    """What makes an endpoint answer with a choice, streamed or not."""

    def raw(_: int, body: dict[str, Any]) -> list[bytes]:
        if not body.get("stream"):
            return whole({"choices": [given], "usage": usage or {}})
        piece = {"index": 0, "delta": given["message"], "finish_reason": None}
        last = {**given, "delta": {}}
        del last["message"]
        return streamed([{"choices": [piece]}, {"choices": [last]}])

    return raw


def first(raw: Any, times: int = 1) -> Any:
    """The first calls are answered so, and all after them well."""
    good = answered(choice(WHOLE, "stop"))
    return lambda number, body: (raw if number <= times else good)(number, body)


def cached(server: Server, cache: ResponseCache) -> Chat:
    endpoint = reach(server.url, attempts=3)
    return CachedChat(
        lambda _: CountedChat(OpenAIChat(endpoint, "m"), Meter(), "a", "m"), cache, server.url, "m"
    )


@for_each("reason", FAILED)
def test_a_reply_that_ended_by_a_failure_is_asked_for_again(reason: str) -> None:
    with Server(raw=first(answered(choice(HALF, reason)))) as server:
        reply = chat(server).complete(SUMMARY)
    assert (reply.text, reply.faults, server.calls) == (WHOLE, 1, 2)


@for_each("code", [502, "502", None, 429, 408])
@for_each("reason", ["error", "stop", None])
def test_an_error_within_a_choice_is_a_failure(code: Any, reason: Any) -> None:
    error = {"code": code, "message": "Upstream provider disconnected"}
    with Server(raw=first(answered(choice(HALF, reason, error=error)))) as server:
        assert chat(server).complete(SUMMARY).text == WHOLE
    with (
        Server(raw=answered(choice(HALF, reason, error=error))) as server,
        pytest.raises(ModelError, match="Upstream provider disconnected"),
    ):
        chat(server, refusals=0.1).complete(SUMMARY)


@for_each(
    "value",
    [
        {"error": {"message": "Overloaded"}},
        {"error": "Overloaded"},
        {"object": "error", "message": "Overloaded", "code": 503},
        {"message": "Overloaded"},
        {"detail": "Overloaded"},
        {"choices": None, "base_resp": {"status_code": 1000, "status_msg": "Overloaded"}},
        {"choices": [], "error": {"message": "Overloaded", "code": 503}},
    ],
)
def test_an_error_in_place_of_the_choices_is_a_failure(value: dict[str, Any]) -> None:
    with Server(raw=first(lambda *_: whole(value))) as server:
        assert chat(server).complete(SUMMARY).text == WHOLE
    with Server(raw=first(lambda *_: streamed([value]))) as server:
        assert text_of(chat(server).stream(SUMMARY)) == WHOLE
    with (
        Server(raw=lambda *_: streamed([value])) as server,
        pytest.raises(ModelError, match="Overloaded"),
    ):
        text_of(chat(server, refusals=0.1).stream(SUMMARY))


@pytest.mark.parametrize(
    "event",
    [
        {"error": {"code": 502, "message": "Overloaded"}},
        {"error": {"message": "Overloaded"}, "choices": []},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]},
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "Overloaded"}}]},
        {"object": "error", "message": "Overloaded"},
    ],
)
def test_an_error_within_a_stream_ends_it_with_the_error(
    event: dict[str, Any], tmp_path: Path, open_cache: OpenCache
) -> None:
    piece = {"choices": [{"index": 0, "delta": {"content": HALF}}]}
    cache = open_cache(tmp_path)
    with Server(raw=lambda *_: streamed([piece, event])) as server:
        pieces = []
        with pytest.raises(BadReply, match=r"cut the answer short: .*(?:Overloaded|'error')"):
            for reply in cached(server, cache).stream(SUMMARY):
                pieces.append(reply.text)
    assert pieces == [HALF]
    assert cache.info().replies == 0


@pytest.mark.parametrize("reason", FILTERED)
def test_a_reply_that_a_filter_ended_is_none(
    reason: str, tmp_path: Path, open_cache: OpenCache
) -> None:
    cache = open_cache(tmp_path)
    with Server(raw=answered(choice(HALF, reason))) as server:
        reply = cached(server, cache).complete(SUMMARY)
        assert (reply.text, reply.incomplete) == ("", True)
        assert "content filter" in reply.problem
        with pytest.raises(BadReply, match="content filter"):
            text_of(cached(server, cache).stream(SUMMARY))
    assert cache.info().replies == 0
    with Server(raw=first(answered(choice(HALF, reason)), 2)) as server:
        assert ask(chat(server), SUMMARY, read_summary) == WHOLE


@pytest.mark.parametrize("reason", ["OTHER", "language", "content_filter: OTHER", "worn_out"])
def test_a_reason_that_blames_nothing_is_told_in_its_own_words_and_what_is_paid_for_is_used(
    reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    own = reason.lower().removeprefix("content_filter: ")
    with Server(raw=answered(choice(WHOLE, reason))) as server:
        model = chat(server)
        for _ in range(2):
            reply = model.complete(SUMMARY)
            assert (reply.text, reply.incomplete, reply.problem) == (WHOLE, False, "")
    [record] = caplog.records
    assert f"ended the reply of m with the reason {own!r}" in record.getMessage()
    assert "filter" not in record.getMessage().replace("content_filter", "")


@for_each("reason", ["OTHER", "language"])
def test_half_of_an_object_that_ends_so_is_no_reply(reason: str) -> None:
    with Server(raw=answered(choice('{"title": "The mi', reason))) as server:
        reply = chat(server).complete(DETAILS)
        assert reply.incomplete
        assert f"with the reason {reason.lower()!r}" in reply.problem
    with Server(raw=answered(choice("", reason))) as server:
        reply = chat(server).complete(SUMMARY)
        assert (
            "gave an empty reply. The server ended the reply of m with the reason" in reply.problem
        )


@pytest.mark.parametrize("reason", CUT)
def test_a_text_that_was_cut_is_asked_for_again_and_not_cached(
    reason: Any, tmp_path: Path, open_cache: OpenCache
) -> None:
    cache = open_cache(tmp_path)
    with Server(raw=first(answered(choice(HALF, reason)), 2)) as server:
        model = cached(server, cache)
        assert ask(model, SUMMARY, read_summary) == WHOLE
        assert HALF in server.bodies[1]["messages"][1]["content"], "the model is shown what it was"
    assert cache.info().replies == 1


def test_of_a_text_that_is_always_cut_the_whole_sentences_are_used() -> None:
    text = "The miller kept a lantern. It burned 3.5 hours. The bell of Hol"
    with Server(raw=answered(choice(text, "length"))) as server:
        model = CountedChat(chat(server), meter := Meter(), "a", "m")
        summary = ask(model, SUMMARY, read_summary)
    assert summary == "The miller kept a lantern. It burned 3.5 hours."
    assert (server.calls, meter.total().faults) == (3, 3), "it is counted"


@for_each("prompt", [SUMMARY, DETAILS], ids=["text", "JSON"])
def test_a_reply_that_is_always_cut_within_its_first_sentence_is_none(prompt: Prompt) -> None:
    with Server(raw=answered(choice(HALF, "length"))) as server:
        with pytest.raises(BadReply, match=r"did not finish its .* within 100 tokens"):
            ask(chat(server), prompt, read_summary)
        assert server.calls == 3


def test_a_reply_that_met_the_end_of_the_servers_context_names_the_cure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw = answered(choice(HALF, "length"), {"prompt_tokens": 90, "completion_tokens": 40})
    with Server(raw=raw) as server:
        model = chat(server)
        for _ in range(2):
            problem = model.complete(SUMMARY).problem
    assert "after 40 of 100 tokens" in problem
    assert "num_ctx" in problem
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1, "that is said once"


def test_a_text_that_was_cut_will_do_where_that_is_allowed() -> None:
    with Server(raw=answered(choice(HALF, "length"))) as server:
        assert complete(chat(server), SUMMARY, allow_cut=True) == HALF
        with pytest.raises(BadReply, match="did not finish"):
            complete(chat(server), SUMMARY)


def test_thoughts_that_left_too_little_room_for_the_reply_get_more() -> None:
    cut = answered(choice(f"<think>Hm.</think>{HALF}", "length"))
    with Server(raw=first(cut)) as server:
        assert chat(server).complete(SUMMARY).text == WHOLE
    assert [body["max_tokens"] for body in server.bodies] == [100, 4196]


def test_an_answer_that_was_cut_is_marked_and_not_cached(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, open_cache: OpenCache
) -> None:
    cache = open_cache(tmp_path)
    with Server(raw=answered(choice(HALF, "length"))) as server:
        assert text_of(cached(server, cache).stream(SUMMARY)) == f"{HALF}{CUT_MARK}"
    assert "FABULA_ANSWER_TOKENS" in caplog.text
    assert cache.info().replies == 0


@for_each("reason", ENDED)
def test_all_other_reasons_end_a_whole_reply(reason: Any) -> None:
    assert reply_end({"finish_reason": reason}) in ("", "whole")
    with Server(raw=answered(choice(WHOLE, reason))) as server:
        assert chat(server).complete(SUMMARY).text == WHOLE


# Streams with nothing in them

TOO_LONG = {"error": {"message": "the request exceeds the available context size", "code": 400}}


def http_error(status: int, value: Any) -> list[bytes]:
    content = json.dumps(value).encode()
    head = b"HTTP/1.1 %d Any\r\nContent-Type: application/json\r\nConnection: close\r\n"
    return [head % status + b"Content-Length: %d\r\n\r\n" % len(content) + content]


EMPTY_STREAMS = {
    "nothing": [],
    "no choice": [{"choices": []}],
    "a role": [{"choices": [{"delta": {"role": "assistant", "content": ""}}]}],
    "an end": [{"choices": [{"delta": {}, "finish_reason": "stop"}]}],
}


@for_each("events", EMPTY_STREAMS.values(), ids=EMPTY_STREAMS)
def test_an_empty_stream_is_asked_for_once_without_a_stream(events: list[Any]) -> None:
    def raw(_: int, body: dict[str, Any]) -> list[bytes]:
        return streamed(events) if body.get("stream") else http_error(400, TOO_LONG)

    with Server(raw=raw) as server, pytest.raises(TextRefused, match=r"too long.*context size"):
        text_of(chat(server).stream(SUMMARY))
    assert [body.get("stream", False) for body in server.bodies] == [True, False]


@pytest.mark.parametrize("events", EMPTY_STREAMS.values(), ids=EMPTY_STREAMS)
def test_what_is_replied_without_a_stream_is_the_answer(
    events: list[Any], tmp_path: Path, open_cache: OpenCache
) -> None:
    good = answered(choice(WHOLE, "stop"))

    def raw(number: int, body: dict[str, Any]) -> list[bytes]:
        return streamed(events) if body.get("stream") else list(good(number, body))

    cache = open_cache(tmp_path)
    with Server(raw=raw) as server:
        assert text_of(cached(server, cache).stream(SUMMARY)) == WHOLE
    assert (server.calls, cache.info().replies) == (2, 1)


def test_a_stream_and_a_reply_without_text_are_an_empty_reply() -> None:
    def raw(number: int, body: dict[str, Any]) -> list[bytes]:
        return streamed([]) if body.get("stream") else list(answered(choice("", "stop"))(1, body))

    with Server(raw=raw) as server, pytest.raises(BadReply, match="empty reply"):
        text_of(chat(server).stream(SUMMARY))
    assert server.calls == 2


# Streams without a reason for their end: qualcomm/GenieX 1243, alfredapp/openai-workflow 52


def piece(text: str, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, **more}]}


PIECES = [piece("The miller kept "), piece("a lantern.")]
REASONED = [*PIECES, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


@for_each("reason", [{}, {"finish_reason": None}, {"finish_reason": ""}], ids=str)
def test_a_stream_that_says_done_and_gives_no_reason_is_whole(reason: dict[str, Any]) -> None:
    events = [{"choices": [each["choices"][0] | reason]} for each in PIECES]
    with Server(raw=lambda *_: streamed(events)) as server:
        model = chat(server)
        assert [text_of(model.stream(SUMMARY)) for _ in range(2)] == [WHOLE] * 2
    with (
        Server(raw=lambda *_: streamed(events, end=b"")) as server,
        pytest.raises(BadReply, match="cut the answer short"),
    ):
        text_of(chat(server).stream(SUMMARY))


def test_a_model_that_gives_reasons_and_gave_none_was_cut() -> None:
    def raw(number: int, _: dict[str, Any]) -> list[bytes]:
        return streamed(REASONED if number == 1 else PIECES)

    with Server(raw=raw) as server:
        model = chat(server)
        assert text_of(model.stream(SUMMARY)) == WHOLE
        with pytest.raises(BadReply, match="cut the answer short"):
            text_of(model.stream(SUMMARY))


def test_a_stream_without_a_reason_is_not_cached(tmp_path: Path, open_cache: OpenCache) -> None:
    cache = open_cache(tmp_path)
    with Server(raw=lambda *_: streamed(PIECES)) as server:
        assert text_of(cached(server, cache).stream(SUMMARY)) == WHOLE
    assert cache.info().replies == 0, "a proxy may have ended it"


def test_done_within_a_text_is_no_end() -> None:
    events = [piece("data: [DONE]\n\ndata: [DONE]")]
    with (
        Server(raw=lambda *_: streamed(events, end=b"")) as server,
        pytest.raises(BadReply, match="cut the answer short"),
    ):
        text_of(chat(server).stream(SUMMARY))


# abundantbeing/hermes-browser-extension 11, infiniflow/ragflow 15443
@for_each("delta", [{}, {"delta": {}}, {"delta": None}], ids=str)
def test_a_stream_that_ends_with_the_whole_message_has_it_once(delta: dict[str, Any]) -> None:
    last = {"index": 0, "message": {"content": WHOLE}, "finish_reason": "stop", **delta}
    with Server(raw=lambda *_: streamed([*PIECES, {"choices": [last]}])) as server:
        assert text_of(chat(server).stream(SUMMARY)) == WHOLE
        assert chat(server).complete(SUMMARY).text == WHOLE
    with Server(raw=lambda *_: streamed([{"choices": [last]}])) as server:
        assert text_of(chat(server).stream(SUMMARY)) == WHOLE


# ggml-org/llama.cpp 16109, lucasjinreal/Crane 121, davidmigloz/ai_clients_dart 88
@for_each(
    "end",
    [
        b'error: {"code": 500, "message": "Overloaded", "type": "server_error"}\n\n',
        b"error: Overloaded\n\n",
        b"data: error: Overloaded\n\n",
        b"event: error\ndata: Overloaded\n\n",
    ],
)
def test_an_error_of_any_form_within_a_stream_is_told(end: bytes) -> None:
    with (
        Server(raw=lambda *_: streamed([PIECES[0]], end=end)) as server,
        pytest.raises(BadReply, match=r"cut the answer short: .*Overloaded"),
    ):
        text_of(chat(server).stream(SUMMARY))
    with Server(raw=first(lambda *_: streamed([], end=end))) as server:
        assert text_of(chat(server).stream(SUMMARY)) == WHOLE, "before a piece it is tried again"


def test_a_prompt_that_is_too_long_is_known_from_a_streams_own_error() -> None:
    end = b"error: " + json.dumps(TOO_LONG["error"]).encode() + b"\n\n"
    with (
        Server(raw=lambda *_: streamed([], end=end)) as server,
        pytest.raises(TextRefused, match=r"too long.*context size"),
    ):
        text_of(chat(server).stream(SUMMARY))
    assert server.calls == 1


# JSON as the arguments of a tool that nobody offered: BerriAI/litellm 6741


@for_each("content", [None, "", "<think>Hm.</think>"])
@for_each("arguments", ['{"details": ["Marley was dead."]}', {"details": []}])
def test_json_in_a_call_of_a_tool_is_the_reply(content: Any, arguments: Any) -> None:
    call = {"id": "1", "function": {"name": "json_tool_call", "arguments": arguments}}
    message = {"content": content, "tool_calls": [call]}
    given = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    with Server(raw=lambda *_: whole({"choices": [given]})) as server:
        reply = chat(server).complete(DETAILS)
        assert json.loads(reply.text) == (
            arguments if isinstance(arguments, dict) else json.loads(arguments)
        )
        assert not chat(server).complete(SUMMARY).text, "no text was asked for by a tool"
        message["tool_calls"] = [call, call]
        assert not chat(server).complete(DETAILS).text, "which of two would it be"


# Tokens

# vectorize-io/hindsight 3365, router-for-me/CLIProxyAPI 5733, of Gemini; xAI's documentation.
COUNTS: dict[str, tuple[dict[str, Any], int]] = {
    "Gemini": ({"prompt_tokens": 90, "completion_tokens": 18, "total_tokens": 204}, 114),
    "xAI": (
        {
            "prompt_tokens": 90,
            "completion_tokens": 18,
            "total_tokens": 204,
            "completion_tokens_details": {"reasoning_tokens": 96},
        },
        114,
    ),
    "OpenAI": (
        {
            "prompt_tokens": 90,
            "completion_tokens": 100,
            "total_tokens": 190,
            "completion_tokens_details": {"reasoning_tokens": 82},
        },
        100,
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_thoughts_that_nobody_sees_are_paid_for_and_get_more_room(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    counts, received = COUNTS[name]
    cut = answered(choice(HALF, "length"), counts)
    with Server(raw=first(cut)) as server:
        assert chat(server).complete(SUMMARY).text == WHOLE
    assert [body["max_tokens"] for body in server.bodies] == [100, 4196]
    with Server(raw=answered(choice(WHOLE, "stop"), counts)) as server:
        assert chat(server).complete(SUMMARY).completion_tokens == received
    # Cut again, after all that there was room for.
    more = {**counts, "total_tokens": 4280, "completion_tokens": counts["completion_tokens"]}
    more |= {"completion_tokens": 4190} if name == "OpenAI" else {}
    with Server(
        raw=lambda n, b: (cut if n == 1 else answered(choice(HALF, "length"), more))(n, b)
    ) as server:
        reply = chat(server).complete(SUMMARY)
    assert reply.completion_tokens == 4190
    assert "context" not in reply.problem + caplog.text


@for_each(
    "counts",
    [
        {"prompt_tokens": 90, "completion_tokens": 18, "total_tokens": 0},
        {"completion_tokens": 18, "total_tokens": 108},
        {"prompt_tokens": 90, "completion_tokens": 18, "total_tokens": 108},
        {
            "prompt_tokens": 10,
            "completion_tokens": 18,
            "total_tokens": 108,
            "cache_read_input_tokens": 80,
        },
    ],
)
def test_a_total_without_thoughts_adds_nothing(counts: dict[str, Any]) -> None:
    with Server(raw=answered(choice(WHOLE, "stop"), counts)) as server:
        assert chat(server).complete(SUMMARY).completion_tokens == 18


# earendil-works/pi 2017, of Moonshot; Groq's documentation.
@for_each(
    "place",
    [
        lambda counts: {"choices": [{"delta": {}, "finish_reason": "stop", "usage": counts}]},
        lambda counts: REASONED[-1] | {"x_groq": {"id": "req", "usage": counts}},
        lambda counts: REASONED[-1] | {"usage": counts},
    ],
    ids=["in the choice", "x_groq", "usage"],
)
def test_the_counts_of_a_stream_are_found_where_they_stand(place: Any) -> None:
    counts = {"prompt_tokens": 90, "completion_tokens": 18}
    with Server(raw=lambda *_: streamed([*PIECES, place(counts)])) as server:
        *_, last = chat(server).stream(SUMMARY)
        reply = chat(server).complete(SUMMARY)
    for each in (last, reply):
        assert (each.prompt_tokens, each.completion_tokens) == (90, 18)
