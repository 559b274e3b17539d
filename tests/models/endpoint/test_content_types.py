"""An answer is read by what it is, and not by what its headers say."""

import codecs
import json
import logging
from typing import Any

import pytest

from cases import for_each
from endpoint import Endpoint as Server
from fabula.errors import ModelError
from fabula.models import Prompt
from fabula.models.endpoint.openai import OpenAIEmbedder
from fabula.text import tokens
from reach import SUMMARY, chat, reach, text_of

KINDS = [b"text/plain", b"text/plain; charset=utf-8", b"application/octet-stream", b"text/html"]
COMPLETION = {
    "choices": [{"message": {"content": "Marley was dead."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 30, "completion_tokens": 4},
}


def http(content: bytes, kind: bytes | None) -> list[bytes]:
    header = b"Content-Type: %s\r\n" % kind if kind is not None else b""
    head = b"HTTP/1.1 200 OK\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n"
    return [head % (header, len(content)) + content]


@for_each("kind", [*KINDS, None, b"", b"application/json", b"application/x+json"])
@for_each("before", [b"", b"\n  ", codecs.BOM_UTF8], ids=["", "space", "BOM"])
def test_json_is_read_whatever_its_content_type(kind: bytes | None, before: bytes) -> None:
    raw = http(before + json.dumps(COMPLETION).encode(), kind)
    with Server(raw=lambda *_: raw) as server:
        assert chat(server).complete(SUMMARY).text == "Marley was dead."
    # Also without the object around it, as llama.cpp answers at its own route.
    vectors = [{"index": 0, "embedding": [[3.0, 4.0]]}]
    for answer in ({"data": vectors}, vectors):
        rows = http(json.dumps(answer).encode(), kind)
        with Server(raw=lambda *_, rows=rows: rows) as server:
            embedded = OpenAIEmbedder(reach(server.url), "e").embed(["a"])
        assert embedded.vectors[0, 0] == pytest.approx(0.6)


@for_each("kind", [*KINDS, None, b"application/json", b"text/event-stream"])
@for_each("indent", [None, 2], ids=["one line", "indented"])
def test_one_object_in_answer_to_a_streamed_request_is_the_reply(
    kind: bytes | None, indent: int | None
) -> None:
    raw = http(json.dumps(COMPLETION, indent=indent).encode(), kind)
    with Server(raw=lambda *_: raw) as server:
        pieces = [*chat(server).stream(SUMMARY)]
    assert text_of(pieces) == "Marley was dead."
    assert (pieces[-1].prompt_tokens, pieces[-1].completion_tokens) == (30, 4)
    assert server.calls == 1


@for_each("kind", [*KINDS, None, b"text/event-stream", b"application/json"])
def test_a_stream_is_read_whatever_its_content_type(kind: bytes | None) -> None:
    with Server(raw=lambda *_: http(events("Marley was", " dead."), kind)) as server:
        assert text_of(chat(server).stream(SUMMARY)) == "Marley was dead."


@for_each("kind", [b"text/event-stream", b"text/plain", None])
def test_a_stream_in_answer_to_a_request_for_a_whole_reply_is_put_together(
    kind: bytes | None,
) -> None:
    with Server(raw=lambda *_: http(events("Marley was", " dead."), kind)) as server:
        reply = chat(server).complete(SUMMARY)
    assert (reply.text, reply.prompt_tokens) == ("Marley was dead.", 30)
    broken = events("Marley was", " dead.", finish=None)
    with (
        Server(raw=lambda *_: http(broken, kind)) as server,
        pytest.raises(ModelError, match="ended before the reply did"),
    ):
        chat(server, attempts=2).complete(SUMMARY)


def lines_as(form: str) -> bytes:
    """A stream whose lines are set in another way than the standard's, or seldom seen."""
    content = events("Marley was", " dead.").replace(b": comment\n\n", b"")
    values = [line for line in content.split(b"\n\n") if line]
    match form:
        case "no blank lines":
            return b"\n".join(values) + b"\n"
        case "several lines of data":
            spread = [value.replace(b", ", b",\ndata: ") for value in values]
            return b"\n\n".join(spread) + b"\n\n"
        case "no end of the last line":
            return b"\n\n".join(values[:-1])
        case "returns":
            return b"\r\r".join(values) + b"\r\r"
        case _:
            return b"\xef\xbb\xbf\n\n" + b"\r\n\r\n".join(values).replace(b"data: ", b"data:")


@for_each("size", [1, 7, 10_000])
@for_each(
    "form",
    ["no blank lines", "several lines of data", "no end of the last line", "returns", "a mark"],
)
def test_a_stream_is_read_however_its_lines_are_set(form: str, size: int) -> None:
    content = lines_as(form)
    [raw] = http(content, b"text/event-stream")
    pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
    with Server(raw=lambda *_: pieces) as server:
        assert text_of(chat(server).stream(SUMMARY)) == "Marley was dead."
        assert chat(server).complete(SUMMARY).text == "Marley was dead."
    assert server.calls == 2, "each is asked for once"


def events(*texts: str, finish: str | None = "stop") -> bytes:
    values: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts
    ]
    values.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    values.append({"choices": [], "usage": COMPLETION["usage"]})
    lines = [b"data: " + json.dumps(value).encode() + b"\n\n" for value in values]
    return b": comment\n\n" + b"".join(lines) + b"data: [DONE]\n\n"


@for_each("kind", [b"text/html", b"text/plain", None, b"application/octet-stream"])
def test_a_web_page_is_no_answer_and_the_address_is_to_be_checked(kind: bytes | None) -> None:
    raw = http(b"<!DOCTYPE html><html>Welcome</html>", kind)
    for ask in (
        lambda model: model.complete(SUMMARY),
        lambda model: text_of(model.stream(SUMMARY)),
    ):
        with (
            Server(raw=lambda *_: raw) as server,
            pytest.raises(ModelError, match="OPENAI_BASE_URL, which often ends with /v1"),
        ):
            ask(chat(server, attempts=2))


# Prompts that a server cuts in silence

LONG = Prompt("You summarise.", "Marley was dead, to begin with. " * 200, 100, 0.5)


def answering(usage: dict[str, Any]) -> Any:
    def raw(_: int, body: dict[str, Any]) -> list[bytes]:
        if body.get("stream"):
            content = events("Marley").replace(
                json.dumps(COMPLETION["usage"]).encode(), json.dumps(usage).encode()
            )
            return http(content, b"text/event-stream")
        return http(json.dumps({**COMPLETION, "usage": usage}).encode(), b"application/json")

    return raw


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_prompt_that_a_server_cut_is_told_once_with_the_cure(
    streamed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fabula")
    with Server(raw=answering({"prompt_tokens": 120, "completion_tokens": 4})) as server:
        model = chat(server)
        for _ in range(3):
            assert text_of(model.stream(LONG)) if streamed else model.complete(LONG).text
    [record] = caplog.records
    message = record.getMessage()
    assert "read only 120 tokens" in message
    assert f"{tokens.count(LONG.user) + tokens.count(LONG.system):,}" in message
    assert "num_ctx" in message and "aspects.cluster_tokens" in message


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 1_300},
        {"prompt_tokens": 900},
        {"prompt_tokens": 0},
        {},
        {"prompt_tokens": 30, "cache_read_input_tokens": 1_300},
        {"prompt_tokens": 1_300, "prompt_tokens_details": {"cached_tokens": 1_280}},
    ],
    ids=str,
)
def test_a_prompt_that_was_read_whole_is_no_matter(
    usage: dict[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fabula")
    with Server(raw=answering(usage)) as server:
        chat(server).complete(LONG)
    assert not caplog.records


def test_what_a_server_has_in_its_cache_and_does_not_count_is_no_cut(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "fabula")
    counts = iter([1_400, 20, 15])

    def raw(number: int, body: dict[str, Any]) -> Any:
        return answering({"prompt_tokens": next(counts)})(number, body)

    with Server(raw=raw) as server:
        model = chat(server)
        for _ in range(3):
            model.complete(LONG)
    assert not caplog.records
