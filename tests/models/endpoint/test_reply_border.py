"""What a hostile or broken endpoint sends: one call fails with a sentence, never the program."""

import gzip
import json
import logging
import math
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest

from cases import for_each
from endpoint import Endpoint as Server
from fabula.errors import BadReply, FabulaError, ModelError, SettingsError
from fabula.graphs.aspects.replies import read_details
from fabula.models.budget import Budget
from fabula.models.clean import clean_text
from fabula.models.counted import CountedChat, CountedEmbedder, Meter
from fabula.models.endpoint import client
from fabula.models.endpoint.endpoint import Endpoint
from fabula.models.endpoint.openai import OpenAIChat, OpenAIEmbedder
from fabula.models.endpoint.rerank import EndpointRanker
from fabula.models.replies import ask
from fabula.models.usage import Usage
from reach import DETAILS, SUMMARY, chat, reach, text_of

pytestmark = [pytest.mark.long, pytest.mark.waits]

Raw = Iterable[bytes | float]
KEY = "sk-a-key-that-nobody-may-see"
PATIENCE: dict[str, Any] = {"timeout": 20.0, "attempts": 2}
"""With TIMES, a call may last a second, and a busy machine be silent for as long."""
TIMES = 0.05
OK = b"HTTP/1.1 200 OK\r\n"
JSON = OK + b"Content-Type: application/json\r\n"


def answered(value: Any) -> Raw:
    """A JSON answer that closes its connection."""
    return [body(json.dumps(value).encode())]


def body(content: bytes, *headers: bytes, head: bytes = JSON) -> bytes:
    lines = b"".join(header + b"\r\n" for header in headers)
    return b"%sConnection: close\r\nContent-Length: %d\r\n%s\r\n%s" % (
        head,
        len(content),
        lines,
        content,
    )


def completion(text: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **more}


def once(raw: Raw) -> Callable[[int, Any], Raw | None]:
    """The first call is answered so, all after it well."""
    return lambda number, _: raw if number == 1 else None


def always(make: Callable[[], Raw]) -> Callable[[int, Any], Raw | None]:
    return lambda *_: make()


def repeated(head: bytes, piece: bytes, pause: float) -> Iterator[bytes | float]:
    """Without an end, but for that of the test."""
    yield head
    for _ in range(2_000):
        yield pause
        yield piece


# Time

STREAM = OK + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


TRICKLES = {
    "a byte": (OK, b"x"),
    "a header": (OK + b"X-Long: ", b"x"),
    "continue": (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "keep-alives": (JSON + b"Content-Length: 9999\r\n\r\n", b" "),
    "a chunk's head": (JSON + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
    "comments": (STREAM, b"3\r\n:\n\n\r\n"),
    "nothing": (STREAM, b"a\r\ndata: {}\n\n\r\n"),
}
HOW = ("whole", "streamed")


@pytest.fixture
def short_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call may last a second, however long each of its bytes is waited for."""
    monkeypatch.setattr(client, "TIMEOUTS_PER_CALL", TIMES)


@pytest.mark.usefixtures("short_calls")
def test_a_call_ends_in_time_whatever_trickles_in() -> None:
    def call(what: str, how: str) -> float:
        raw = always(lambda: repeated(*TRICKLES[what], 0.05))
        with (
            Server(raw=raw) as server,
            pytest.raises(BadReply, match=rf"within 1 s, {TIMES} times"),
        ):
            began = time.monotonic()
            model = chat(server, **PATIENCE)
            text_of(model.stream(SUMMARY)) if how == "streamed" else model.complete(SUMMARY)
        return time.monotonic() - began

    calls = [*product(TRICKLES, HOW)]
    with ThreadPoolExecutor(len(calls)) as pool:
        seconds = {one: pool.submit(call, *one) for one in calls}
    # All of them waited at once.
    assert [one for one, took in seconds.items() if took.result() >= 50] == []


@pytest.mark.usefixtures("short_calls")
def test_a_stream_that_says_something_and_then_goes_on_for_ever_ends_in_time() -> None:
    data = json.dumps({"choices": [{"delta": {"content": "So "}}]}).encode()
    event = b"data: " + data + b"\n\n"
    chunk = b"%x\r\n%s\r\n" % (len(event), event)
    with Server(raw=always(lambda: repeated(STREAM, chunk, 0.05))) as server:
        began = time.monotonic()
        with pytest.raises(ModelError, match="within 1 s"):
            text_of(chat(server, **PATIENCE).stream(SUMMARY))
    assert time.monotonic() - began < 50


def test_after_a_call_that_took_too_long_the_next_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trickle = repeated(JSON + b"Content-Length: 9999\r\n\r\n", b" ", 0.05)
    with Server(raw=once(trickle)) as server:
        model = chat(server, limit=1, **PATIENCE)
        with monkeypatch.context() as short, pytest.raises(BadReply):
            short.setattr(client, "TIMEOUTS_PER_CALL", TIMES)
            model.complete(SUMMARY)
        # A machine that is busy may need more than a second for the next.
        assert model.complete(SUMMARY).text == "Marley was dead."


# Size


def test_what_is_packed_small_and_unpacks_to_four_times_the_limit_is_not_read() -> None:
    bomb = gzip.compress(b" " * 2**26, 6)
    packed = body(bomb, b"Content-Encoding: gzip")
    with Server(raw=always(lambda: [packed])) as server, pytest.raises(BadReply, match="16 MB"):
        chat(server, attempts=2).complete(SUMMARY)


def test_an_answer_without_end_is_not_read_to_it() -> None:
    piece = b"100000\r\n" + b" " * 2**20 + b"\r\n"
    raw = always(lambda: repeated(JSON + b"Transfer-Encoding: chunked\r\n\r\n", piece, 0.0))
    with Server(raw=raw) as server, pytest.raises(BadReply, match="larger than 16 MB"):
        chat(server, attempts=2).complete(SUMMARY)


def test_a_packed_answer_is_unpacked() -> None:
    content = gzip.compress(json.dumps(completion("Marley.")).encode())
    with Server(raw=once([body(content, b"Content-Encoding: gzip")])) as server:
        assert chat(server).complete(SUMMARY).text == "Marley."


@for_each("coding", [b"br", b"gzip, gzip", b"zstd", b"\x1b[31m"])
def test_what_is_packed_otherwise_is_refused(coding: bytes) -> None:
    raw = always(lambda: [body(b"{}", b"Content-Encoding: " + coding)])
    with Server(raw=raw) as server, pytest.raises(BadReply) as caught:
        chat(server, attempts=1).complete(SUMMARY)
    assert "\x1b" not in str(caught.value)


def test_a_reply_of_a_million_characters_is_none() -> None:
    with Server(raw=always(lambda: answered(completion("a" * 10**6)))) as server:
        assert "1,000,000 characters" in chat(server).complete(SUMMARY).problem


def test_broken_json_that_would_take_an_hour_to_repair_is_refused() -> None:
    text = "{'a'" * 50_000
    with Server(raw=always(lambda: answered(completion(text)))) as server:
        began = time.monotonic()
        with pytest.raises(BadReply, match="too long to be repaired"):
            ask(chat(server), DETAILS, lambda reply: read_details(reply, 2), attempts=2)
    assert time.monotonic() - began < 60


# Encoding


def test_control_characters_and_half_pairs_are_taken_out_of_replies() -> None:
    text = "Mar\x1b[31mley\x00 was\ud83d dead\u009b.\tSo\r\nit is. \U0001f47b"
    with Server(raw=always(lambda: answered(completion(text)))) as server:
        reply = chat(server).complete(SUMMARY)
    assert reply.text == "Mar[31mley was\ufffd dead.\tSo\r\nit is. \U0001f47b"
    assert reply.text == clean_text(reply.text)


def test_what_a_reply_hides_in_its_own_json_is_taken_out_too() -> None:
    inner = json.dumps({"details": ["A \x1b[31mghost \ud83d came"]})
    with Server(raw=always(lambda: answered(completion(inner)))) as server:
        details = ask(chat(server), DETAILS, lambda reply: read_details(reply, 2))
    assert details == ("A [31mghost \ufffd came",)


@for_each("charset", ["hex", "utf-7", "idna", "utf-16", "rot13", "undefined"])
@for_each("status", [b"200 OK", b"400 Bad"])
def test_an_encoding_that_is_none_breaks_nothing(charset: str, status: bytes) -> None:
    head = b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json; charset="
    content = json.dumps({"error": {"message": "no"}}).encode()
    raw = always(lambda: [body(content, head=head + charset.encode() + b"\r\n")])
    with Server(raw=raw) as server, pytest.raises(ModelError, match="no"):
        chat(server, attempts=1).complete(SUMMARY)


# Numbers

ODD_NUMBERS = [-1, 1e308, 10**30, True, "7", [], {}, 0.5, float("nan"), float("inf"), 10**400]


@for_each("count", ODD_NUMBERS, ids=lambda told: str(told)[:20])
def test_odd_counts_of_tokens_are_as_good_as_none(count: Any) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}
    usage["prompt_tokens_details"] = {"cached_tokens": count}
    rows = [{"index": 0, "embedding": [1.0, 0.0]}]
    ranks = [{"index": 0, "relevance_score": 1.0}]

    def raw(_: int, asked: dict[str, Any]) -> Raw:
        if "input" in asked:
            return answered({"data": rows, "usage": usage})
        return answered(completion("Marley.", usage=usage, results=ranks))

    with Server(raw=raw) as server:
        meter = Meter()
        reply = CountedChat(chat(server), meter, "a", "m").complete(SUMMARY)
        CountedEmbedder(OpenAIEmbedder(reach(server.url), "e"), meter, "b").embed(["a"])
        EndpointRanker(reach(server.url), "r", Budget(None, None), meter).rank("a", ["b"])
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (0, 0, 0)
    total = meter.total()
    assert type(total.prompt_tokens) is int
    assert 0 < total.prompt_tokens < 1_000
    assert total.cached_tokens == 0
    assert isinstance(total, Usage)


ONE = [1.0, 0.0]


@for_each(
    "data",
    [
        5,
        {"a": 1},
        "ab",
        [{"index": 1, "embedding": ONE}, {"index": 1, "embedding": ONE}],
        [{"index": 2, "embedding": ONE}, {"index": 3, "embedding": ONE}],
        [{"index": 0, "embedding": ONE}, {"index": 2, "embedding": ONE}],
        [{"index": 0, "embedding": ONE}, {"embedding": ONE}],
        [{"index": False, "embedding": ONE}, {"index": True, "embedding": ONE}],
        [{"index": "0", "embedding": ONE}, {"index": "1", "embedding": ONE}],
        [{"index": 0, "embedding": ONE}, {"index": 1, "embedding": [1.0]}],
        [{"index": 0, "embedding": ONE}, {"index": 1, "embedding": ["1", "2"]}],
        [{"index": 0, "embedding": ONE}, {"index": 1, "embedding": [1e300, 1]}],
        [{"index": 0, "embedding": ONE}, {"index": 1, "embedding": [10**400, 1]}],
        [{"index": 0, "embedding": ONE}, {"index": 1, "embedding": [[1], [1, 2]]}],
        [{"index": 0, "embedding": ONE}, {"index": 1, "embedding": "?"}],
        [{"index": 0, "embedding": ONE}, {"index": 1, "embedding": "AAA"}],
        [{"index": 0, "embedding": ONE}, {"index": 1, "embedding": None}],
        [ONE, ONE],
    ],
    ids=lambda data: str(data)[:60],
)
def test_rows_that_are_not_one_a_text_are_refused(data: Any) -> None:
    with Server(raw=always(lambda: answered({"data": data}))) as server, pytest.raises(BadReply):
        OpenAIEmbedder(reach(server.url), "e").embed(["a", "b"])


@for_each(
    "results",
    [
        [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}],
        [{"index": 0, "relevance_score": 1}, {"index": True, "relevance_score": 1}],
        [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": math.inf}],
        [{"index": 0, "relevance_score": 1}, {"index": 7, "relevance_score": 1}],
        {"index": 0},
    ],
)
def test_a_ranking_that_is_not_one_a_text_is_refused(results: Any) -> None:
    raw = always(lambda: answered({"results": results}))
    with Server(raw=raw) as server, pytest.raises(BadReply):
        EndpointRanker(reach(server.url), "r", Budget(None, None), Meter()).rank("a", ["b", "c"])


# Voyage's documentation, SGLang's and Cohere's.
@for_each(
    "form",
    [
        lambda rows: {"results": rows},
        lambda rows: {"object": "list", "data": rows},
        lambda rows: [{"index": row["index"], "score": row["relevance_score"]} for row in rows],
    ],
)
def test_a_ranking_is_read_in_any_form(form: Any) -> None:
    rows = [{"index": 1, "relevance_score": 0.75}, {"index": 0, "relevance_score": -2}]
    raw = always(lambda: answered(form(rows)))
    with Server(raw=raw) as server:
        ranker = EndpointRanker(reach(server.url), "r", Budget(None, None), Meter())
        assert ranker.rank("a", ["b", "c"]) == [-2, 0.75]


# Place, and secrets


@for_each("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_gets_neither_the_text_nor_the_key(status: int) -> None:
    with Server() as other:
        there = other.url.replace("127.0.0.1", "localhost").encode() + b"/chat/completions"
        head = b"HTTP/1.1 %d Moved\r\nLocation: %s\r\n" % (status, there)
        raw = always(lambda: [body(b"", head=head)])
        with Server(raw=raw) as server, pytest.raises(ModelError, match="redirects to 'localhost'"):
            chat(server).complete(SUMMARY)
    assert other.calls == 0
    assert server.calls == 1


def test_a_redirect_within_the_host_is_followed() -> None:
    head = b"HTTP/1.1 308 Moved\r\nLocation: /v1/chat/completions\r\n"
    with Server(raw=once([body(b"", head=head)])) as server:
        assert chat(server).complete(SUMMARY).text == "Marley was dead."


def test_an_endless_redirect_ends() -> None:
    head = b"HTTP/1.1 308 Moved\r\nLocation: /v1/chat/completions\r\n"
    raw = always(lambda: [body(b"", head=head)])
    with Server(raw=raw) as server, pytest.raises(ModelError, match="redirects"):
        chat(server, attempts=1).complete(SUMMARY)


ECHOES = {
    "an error": lambda said: [body(said, head=b"HTTP/1.1 400 Bad\r\n")],
    "an error of its own": lambda said: [body(said, head=b"HTTP/1.1 500 Bad\r\n")],
    "JSON": lambda said: answered({"error": {"message": said.decode()}}),
    "a refusal": lambda said: answered(
        {"choices": [{"message": {"content": "", "refusal": said.decode()}}]}
    ),
    "a status": lambda said: [b"HTTP/1.1 " + said + b"\r\n\r\n"],
    "a place": lambda said: [body(b"", head=b"HTTP/1.1 307 No\r\nLocation: x://" + said + b"\r\n")],
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES.keys())
def test_no_message_has_the_key_or_the_password(
    echo: Callable[[bytes], Raw], caplog: pytest.LogCaptureFixture
) -> None:
    said = f"{KEY} hunter2-hunter2 dXNlcjpodW50ZXIyLWh1bnRlcjI=".encode()
    with Server(raw=always(lambda: echo(said))) as server, caplog.at_level(logging.INFO, "fabula"):
        url = server.url.replace("://", "://user:hunter2-hunter2@")
        model = OpenAIChat(reach(url, key=KEY, attempts=2), "m")
        try:
            problem = model.complete(SUMMARY).problem
        except ModelError as error:
            problem = str(error)
    problem += "".join(record.getMessage() for record in caplog.records if record.name == "fabula")
    assert problem
    for secret in (KEY, "hunter2", "dXNlcjpodW50ZXIyLWh1bnRlcjI="):
        assert secret not in problem


def test_an_address_that_is_refused_is_shown_without_its_password() -> None:
    with pytest.raises(SettingsError) as caught:
        reach("ftp://user:hunter2@host/v1")
    assert "hunter2" not in str(caught.value)


# All kinds of replies

HEADERS = [
    b"Retry-After: nan", b"Retry-After: -1", b"Retry-After: Wed, 99 Foo 99999 00:00:00 GMT",
    b"retry-after-ms: inf", b"x-ratelimit-remaining-requests: 0",
    b"x-ratelimit-reset-requests: 0001-01-01T00:00:00", b"Content-Encoding: gzip",
    b"Content-Type: application/json; charset=hex", b"Set-Cookie: \xff=\xfe; Max-Age=x",
    b"Location: http://[::1", b"Transfer-Encoding: identity", b"\xff: \x01", b"Content-Length: 1",
]  # fmt: skip
STATUSES = [100, 204, 206, 302, 400, 404, 413, 422, 500, 503, 599, 999]
LEAVES: list[Any] = [
    None, True, 0, -1, 1.5, 10**400, math.nan, math.inf, "", "Marley", "\x1b[2J", "\ud800", "stop",
    "length", "AAAAPw==", [], {}, '{"details": ["a", "b"]}', '{"details": ["\\ud800\\u001b"]}',
    '{"aspects": [' , "[" * 3_000, "x" * 70_000, "<think>", "```json\n{", KEY,
]  # fmt: skip
TEXTS = ["Marley was dead.", '{"details": ["Marley was dead.", "Scrooge signed."]}']
ENDS: list[Any] = ["stop", "stop", "stop", None, "length", "content_filter", 7, {}]
NAMES = [
    "choices", "message", "delta", "content", "refusal", "finish_reason", "usage", "prompt_tokens",
    "completion_tokens", "prompt_tokens_details", "cached_tokens", "data", "index", "embedding",
    "results", "relevance_score", "error", "code", "param", "type", "text", "detail", "metadata",
]  # fmt: skip


def generated(draw: random.Random, asked: dict[str, Any]) -> Raw:
    """An answer to what was asked: near to a good one, or far from it."""
    text = draw.choice([*LEAVES, *TEXTS * 8])
    errors = [{"error": one} for one in (*LEAVES, {"message": draw.choice(LEAVES), "code": 400})]
    rows = [{"index": n, "embedding": draw.choice([ONE, "AACAPwAAAAA="])} for n in (0, 1)]
    good: Any = completion(text, usage={"prompt_tokens": draw.choice(LEAVES)})
    if asked.get("stream"):
        good = {"choices": [{"delta": {"content": text}, "finish_reason": draw.choice(ENDS)}]}
    if "input" in asked:
        good = {"data": rows, "usage": {"prompt_tokens": draw.choice(LEAVES)}}
    if "documents" in asked:
        good = {"results": [{"index": n, "relevance_score": draw.random()} for n in (1, 0)]}
    value = draw.choice([mutated(draw, good, 0)] * 8 + [anything(draw, 0), draw.choice(errors)])
    content = json.dumps(value, ensure_ascii=draw.random() < 0.7).encode("utf-8", "surrogatepass")
    streamed = bool(asked.get("stream")) != (draw.random() < 0.1)
    if streamed:
        content = (b"data: " + content + b"\n\n") * draw.randint(1, 3)
        content += draw.choice([b"data: [DONE]\n\n"] * 4 + [b"data: {\n\n", b"event: error\n", b""])
    if draw.random() < 0.15:
        content = spoiled(draw, content)
    kind = b"text/event-stream" if streamed else draw.choice([b"application/json"] * 9 + [b""])
    status = 200 if draw.random() < 0.8 else draw.choice(STATUSES)
    head = b"HTTP/1.1 %d Any\r\nContent-Type: %s\r\n" % (status, kind)
    whole = body(content, *([draw.choice(HEADERS)] if draw.random() < 0.2 else []), head=head)
    return [spoiled(draw, whole) if draw.random() < 0.05 else whole]


def is_answer(raw: Raw) -> bool:
    """Whether the endpoint said that it has answered: then nothing in it ends a run."""
    return b"".join(part for part in raw if isinstance(part, bytes)).startswith(b"HTTP/1.1 200 ")


def mutated(draw: random.Random, value: Any, depth: int) -> Any:
    if draw.random() < 0.03:
        return anything(draw, depth)
    if isinstance(value, dict):
        return {
            draw.choice(NAMES) if draw.random() < 0.01 else name: mutated(draw, one, depth + 1)
            for name, one in value.items()
            if draw.random() > 0.01
        }
    if isinstance(value, list):
        return [mutated(draw, one, depth + 1) for one in value] * (1 + (draw.random() < 0.03))
    return value


def anything(draw: random.Random, depth: int) -> Any:
    if depth > 3 or draw.random() < 0.6:
        return draw.choice(LEAVES)
    if draw.random() < 0.5:
        return [anything(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    return {draw.choice(NAMES): anything(draw, depth + 1) for _ in range(draw.randint(0, 4))}


def spoiled(draw: random.Random, content: bytes) -> bytes:
    place = draw.randint(0, len(content))
    insert = draw.choice([b"", b"\x00", b"\xff\xfe", b"\r\n\r\n", b"[" * 100_000, b"9" * 5_000])
    return content[:place] + insert + content[place + draw.randint(0, 20) :]


WAYS: list[Callable[[Endpoint], Any]] = [
    lambda endpoint: ask(
        OpenAIChat(endpoint, "m"), DETAILS, lambda reply: read_details(reply, 2), attempts=1
    ),
    lambda endpoint: OpenAIChat(endpoint, "m").complete(SUMMARY),
    lambda endpoint: text_of(OpenAIChat(endpoint, "m").stream(SUMMARY)),
    lambda endpoint: OpenAIEmbedder(endpoint, "e").embed(["a", "b"]).vectors,
    lambda endpoint: EndpointRanker(endpoint, "r", Budget(None, None), Meter()).rank(
        "a", ["b", "c"]
    ),
]
"""To ask an endpoint for what it is asked for."""


def send_generated(seed: int, count: int) -> None:
    """Each of `count` replies ends one call, soon; the same endpoint serves all of them."""
    print(f"seed {seed}")  # noqa: T201  to have the same replies again
    draw = random.Random()
    sent: list[Raw] = []
    ended: Counter[str] = Counter()
    slowest = 0.0

    def raw(number: int, asked: dict[str, Any]) -> Raw | None:
        # The first calls are answered well, so that it is known as an endpoint.
        if number > len(WAYS):
            sent.append(generated(draw, asked))
            return sent[-1]
        return None

    with Server(raw=raw) as server:
        endpoint = reach(server.url, key=KEY, timeout=20.0, attempts=1, refusals=0.0)
        for way in WAYS:
            way(endpoint)
        for number in range(count):
            which = f"seed {seed}, reply {number}"
            draw.seed(which)
            sent.clear()
            began = time.monotonic()
            try:
                message = str(WAYS[number % len(WAYS)](endpoint))
                ended["well"] += 1
            except FabulaError as error:
                message = str(error)
                ended[type(error).__name__] += 1
                assert message.endswith((".", "!", "?")), f"{which}: {message}"
                if all(map(is_answer, sent)):
                    assert isinstance(error, BadReply), f"{which}: {message}"
            assert KEY not in message, which
            assert message.encode() and message == clean_text(message), f"{which}: {message!r}"
            slowest = max(slowest, time.monotonic() - began)
            assert slowest < 30, which
    print(f"{dict(ended)}, slowest {slowest:.1f} s")  # noqa: T201
    assert ended["well"] > count / 5
    assert ended["BadReply"] > count / 5


def test_three_hundred_generated_replies_fail_one_call_at_most() -> None:
    send_generated(int(os.environ.get("TEST_SEED", "1")), 300)


@pytest.mark.nightly
def test_ten_thousand_generated_replies_fail_one_call_at_most() -> None:
    seed = os.environ.get("TEST_SEED") or str(random.randrange(10**6))
    send_generated(int(seed), 10_000)
