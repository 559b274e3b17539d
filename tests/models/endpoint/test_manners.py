"""Manners of real servers, replayed: what their documentation or a public report shows."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cases import for_each
from endpoint import Endpoint as Server
from endpoint import vector
from fabula.errors import ModelError
from fabula.models import Prompt
from fabula.models.batching import BatchingEmbedder
from fabula.models.endpoint.openai import OpenAIEmbedder
from fabula.text.tokens import count
from reach import DETAILS, SUMMARY, chat, reach, text_of

Manner = dict[str, Any]
FOLDER = Path(__file__).parents[2] / "support" / "manners"
PAGE = Path(__file__).parents[3] / "docs" / "endpoints.md"
FILES = {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.json"))}
CALLS = {
    f"{name}: {manner['manner']}": manner
    for name, file in FILES.items()
    for manner in file["manners"]
}
LONG = Prompt(SUMMARY.system, "Marley was dead, to begin with. " * 200, 100, 0.5)
LONG_TEXT = "The tale went on and on. " * 60


def http(status: int, content: bytes, headers: dict[str, str]) -> list[bytes]:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} Any\r\n{lines}Connection: close\r\nContent-Length: {len(content)}"
    return [f"{head}\r\n\r\n".encode() + content]


def lines(events: list[Any]) -> Iterator[str]:
    for event in events:
        if isinstance(event, str):
            yield event + ("\n" if event.startswith("event:") else "\n\n")
        else:
            yield f"data: {json.dumps(event)}\n\n"
    yield "data: [DONE]\n\n"


def meets(when: dict[str, Any], number: int, body: dict[str, Any]) -> bool:
    """Whether a call is one that the server answers in this manner."""
    texts = body.get("input", [])
    return (
        number <= when.get("first", number)
        and bool(body.get("stream")) == when.get("stream", bool(body.get("stream")))
        and len(texts) > when.get("texts", -1)
        and max(map(count, texts), default=1) > when.get("tokens", 0)
        and when.get("without") not in body
        and ("system" not in when or any(m["role"] == "system" for m in body["messages"]))
    )


def replayed(manner: Manner) -> Server:
    def raw(number: int, body: dict[str, Any]) -> list[bytes] | None:
        if not meets(manner.get("when", {}), number, body):
            return None
        headers, status = manner.get("headers", {}), manner.get("status", 200)
        if body.get("stream") and "stream" in manner:
            content = "".join(lines(manner["stream"])).encode()
            return http(status, content, {"Content-Type": "text/event-stream", **headers})
        value = manner["body"]
        content = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        return http(status, content, {"Content-Type": "application/json", **headers})

    return Server(raw=raw)


def select(call: str, streamed: bool) -> dict[str, Manner]:
    """The manners of one kind of call, those that differ in a stream among them."""
    chosen = {name: manner for name, manner in CALLS.items() if manner["call"] == call}
    return {
        name: manner
        for name, manner in chosen.items()
        if ("stream" in manner or "status" in manner if streamed else "body" in manner)
    }


@for_each("name", select("chat", streamed=False))
def test_a_whole_reply_of_a_real_server_is_understood(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    check(CALLS[name], caplog, streamed=False)


@for_each("name", select("chat", streamed=True))
def test_a_stream_of_a_real_server_is_understood(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    check(CALLS[name], caplog, streamed=True)


def check(manner: Manner, caplog: pytest.LogCaptureFixture, *, streamed: bool) -> None:
    caplog.clear()
    caplog.set_level(logging.WARNING, "fabula")
    right = manner["right"]
    prompt = DETAILS if manner.get("schema") else LONG if manner.get("long") else SUMMARY
    with replayed(manner) as server:
        model = chat(server)
        text = problem = ""
        try:
            if streamed:
                text = text_of(model.stream(prompt))
            else:
                reply = model.complete(prompt)
                text, problem = reply.text, reply.problem
        except ModelError as error:
            problem = str(error)
    expected = right.get("problem") or right.get("error")
    if expected:
        assert matches(expected, problem), problem
    else:
        assert (text.strip(), problem) == (right["text"], "")
    assert server.calls == right.get("calls", server.calls)
    assert right.get("keeps", "model") in server.bodies[-1]
    assert right.get("warning", "") in caplog.text


def matches(pattern: str, text: str) -> bool:
    before, _, after = pattern.partition(".*")
    return before in text and after in text.partition(before)[2]


@for_each("name", select("embeddings", streamed=False))
def test_embeddings_of_a_real_server_are_understood(name: str) -> None:
    manner = CALLS[name]
    right = manner["right"]
    texts = [f"{number} ghosts" for number in range(120)]
    texts += [LONG_TEXT] if "cut" in right else []
    with replayed(manner) as server:
        endpoint = reach(server.url)
        embedder = BatchingEmbedder(OpenAIEmbedder(endpoint, "e"), endpoint.behaviour)
        answer = embedder.embed(texts)
    rows = [vector(text, 64) for text in texts[:120]]
    np.testing.assert_allclose(answer.vectors[:120], rows, atol=1e-6)
    assert [*answer.cut] == texts[120:]
    assert all(kept <= right["cut"] for kept in answer.cut.values())
    batch = right.get("batch", 128)
    assert batch / 2 < embedder.batch <= batch
    assert server.calls == right.get("calls", server.calls)
    assert right.get("sent", {}).items() <= server.bodies[-1].items()


def test_each_manner_names_where_it_was_seen() -> None:
    for name, manner in CALLS.items():
        assert manner["source"].startswith("https://"), name
        assert manner["right"], name


def test_the_page_of_endpoints_lists_each_server_that_is_replayed() -> None:
    page = PAGE.read_text("utf-8")
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line[:2] == "| "}
    for file in FILES.values():
        row = rows[file["server"]]
        for manner in file["manners"]:
            assert manner["manner"] in row, f"{file['server']}: {manner['manner']}"
