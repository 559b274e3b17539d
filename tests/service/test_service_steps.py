"""An answer over HTTP that was cut at its limit, and one whose model reads on meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from database import empty
from fabula.config.settings import STATIC
from fabula.library import App
from fabula.server import Address
from reading_model import ReadingModel, http
from served import events, served, server_of
from stories import LIGHTHOUSE

QUESTION = "What did Elias bind where the lens had been?"
ASK = "/api/v1/collections/novels/ask"
CUT = {
    "choices": [
        {"index": 0, "message": {"content": "A mirror [1], which"}, "finish_reason": "length"}
    ]
}


class Model(ReadingModel):
    """The model of these tests; its answers are cut if `is_cut` is set."""

    is_cut = False

    def raw(self, number: int, body: Any) -> Any:
        answer = super().raw(number, body)
        return [http(200, CUT)] if answer is None and self.is_cut and "messages" in body else answer


@pytest.fixture(scope="module")
def model() -> Model:
    turns: list[Any] = [[("search_words", {"query": "mirror"})], [("answer", {"passages": [1]})]]
    return Model(turns)


@pytest.fixture(scope="module")
def client(address: Address, model: Model) -> Iterator[httpx2.Client]:
    empty(address)
    with model.endpoint() as endpoint:
        models = {"model": "m", "base_url": endpoint.url, "embedding_model": STATIC}
        settings = {**server_of(address), **models, "chunk_tokens": 40, "graphs": []}
        with App(**settings) as app:
            text = LIGHTHOUSE.partition("\n\n")[2]
            app.collection("novels").ingest_text(text, source="l.txt", title="The Lighthouse")
            with served(app) as it:
                yield it.client()


@pytest.fixture
def cut(model: Model) -> Iterator[None]:
    model.is_cut = True
    yield
    model.is_cut = False


def test_each_step_of_a_model_that_reads_is_an_event(client: httpx2.Client, model: Model) -> None:
    model.prompts.clear()
    headers = {"Accept": "text/event-stream"}
    question = {"question": QUESTION, "mode": "agent"}
    received = events(client.post(ASK, json=question, headers=headers))
    names = [name for name, _ in received]
    assert names[:2] == ["retrieval", "passages"]
    assert names[2:6] == ["step"] * 4
    assert set(names[6:-1]) == {"token"}
    assert names[-1] == "answer"
    steps = [data["step"] for name, data in received if name == "step"]
    assert steps == ["round", "search_words", "round", "passages"]
    found = [data for name, data in received if name == "step"][1]
    assert "mirror" in found["note"]
    answer = received[-1][1]
    assert [step["step"] for step in answer["path"]][-4:] == steps
    assert answer["cited"]
    assert not answer["cut"]
    assert all(data["text"] for name, data in received if name == "token")


def test_the_page_shows_each_step_as_it_is_done_and_as_the_answer_lists_it(
    client: httpx2.Client, model: Model
) -> None:
    model.prompts.clear()
    question = {"question": QUESTION, "mode": "agent"}
    received = events(client.post("/c/novels/ask/stream", json=question))
    steps = [data for name, data in received if name == "step"]
    assert steps[1]["doing"] == "Reading on: search_words …"
    assert len(steps) == 4
    for step in steps:
        assert step["html"].strip().startswith("<li>")
        assert step["html"].strip() in received[-1][1]["html"]


def test_the_options_of_the_mode_are_those_of_a_question(
    client: httpx2.Client, model: Model
) -> None:
    model.prompts.clear()
    wrong = client.post(
        ASK, json={"question": QUESTION, "mode": "agent", "knobs": {"effort": "heroic"}}
    )
    assert wrong.status_code in (400, 422)
    assert "effort" in wrong.json()["detail"]
    low = {"question": QUESTION, "mode": "agent", "knobs": {"effort": "low"}}
    assert client.post(ASK, json=low).json()["answer"]
    assert len(model.prompts) == 1


def test_a_cut_answer_says_so_in_the_api_in_a_conversation_and_on_the_page(
    client: httpx2.Client, cut: None
) -> None:
    fields: dict[bool | None, dict[str, str]] = {None: {}, True: {"conversation": "new"}}
    for kept, more in fields.items():
        answer = client.post(ASK, json={"question": QUESTION, **more}).json()
        assert answer["answer"] == "A mirror [1], which […]"
        assert (answer["cut"], answer["kept"]) == (True, kept)
        assert "limit of tokens" in answer["warning"]
    streamed = events(client.post("/c/novels/ask/stream", json={"question": QUESTION}))
    assert "limit of tokens" in streamed[-1][1]["html"]


@pytest.mark.parametrize("stream", [True, False])
def test_a_cut_answer_says_so_in_openais_interface(
    client: httpx2.Client, cut: None, stream: bool
) -> None:
    body = {
        "model": "fabula/novels",
        "messages": [{"role": "user", "content": QUESTION}],
        "stream": stream,
    }
    reply = client.post("/v1/chat/completions", json=body)
    if stream:
        assert '"finish_reason": "length"' in reply.text
        assert '"finish_reason": "stop"' not in reply.text
    else:
        assert reply.json()["choices"][0]["finish_reason"] == "length"


def test_a_task_that_was_cut_says_so_too(client: httpx2.Client, cut: None) -> None:
    body = {
        "model": "fabula/novels",
        "messages": [{"role": "user", "content": "### Task: Name this chat."}],
    }
    choice = client.post("/v1/chat/completions", json=body).json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (
        "A mirror [1], which",
        "length",
    )


def test_a_whole_answer_does_not(client: httpx2.Client) -> None:
    answer = client.post(ASK, json={"question": QUESTION}).json()
    assert (answer["cut"], answer["warning"]) == (False, "")
