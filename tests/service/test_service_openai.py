"""OpenAI's own client asks a collection as if it were a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from cases import for_each
from database import empty
from endpoint import Endpoint
from fabula import App
from fabula.server import Address
from served import Served, served, server_of
from stories import LIGHTHOUSE, WINTER

pytestmark = pytest.mark.long

QUESTION = "Where did Anna walk?"
TASK = "### Task:\nGenerate a title for this chat."


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def it(
    address: Address, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    empty(address)
    own: dict[str, Any] = server_of(address) | {
        "base_url": endpoint.url,
        "api_key": "sk-test",
        "chunk_tokens": 40,
        "home": tmp_path_factory.mktemp("home"),
        "cache": False,
        "attempts": 2,
    }
    with App(**own, levels=0, details=0) as app:
        app.collection("old tales").ingest_text(WINTER, source="w.txt", title="Winter [tale]")
        app.collection("other").ingest_text(LIGHTHOUSE, source="l.txt", title="Light")
        with served(app) as it:
            yield it


@pytest.fixture
def client(it: Served) -> Iterator[openai.OpenAI]:
    key = it.key("read", ["old tales"])
    with openai.OpenAI(base_url=f"{it.url}/v1", api_key=key, max_retries=0) as client:
        yield client


def test_collections_that_a_key_may_see_are_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["fabula/old tales"]
    with pytest.raises(openai.NotFoundError, match="There is no collection 'other'"):
        client.models.retrieve("fabula/other")
    with pytest.raises(openai.NotFoundError, match="There is no mode 'hybird'"):
        client.models.retrieve("fabula/old tales:hybird")
    with pytest.raises(openai.NotFoundError, match="There is no collection 'other'"):
        client.models.retrieve("fabula/other:hybird")
    with pytest.raises(openai.NotFoundError, match="There is no model 'gpt-4'"):
        client.chat.completions.create(
            model="gpt-4", messages=[{"role": "user", "content": QUESTION}]
        )


@pytest.mark.journey
@pytest.mark.parametrize("model", ["fabula/old tales", "fabula/old tales:naive"])
def test_an_answer_lists_what_it_cites_and_annotates_where(
    client: openai.OpenAI, it: Served, model: str
) -> None:
    completion = client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
        extra_body={"fabula": True},
    )
    message = completion.choices[0].message
    assert message.content
    assert message.annotations
    for annotation in message.annotations:
        cited = annotation.url_citation
        mark = message.content[cited.start_index : cited.end_index]
        number = int(re.findall(r"\d+", mark)[0])
        assert f"- [{number}] [Winter tale" in message.content
        assert cited.url in message.content
        assert cited.url.startswith(f"{it.url}/c/old%20tales/d/")
        assert re.search(r"\?chars=\d+-\d+$", cited.url)
    assert completion.usage
    assert completion.usage.total_tokens > 0
    context = completion.fabula["context"]  # type: ignore[attr-defined]
    assert {one["title"] for one in context} == {"Winter [tale]"}


@pytest.mark.journey
def test_a_stream_brings_the_same_and_its_citations_with_the_last_words(
    client: openai.OpenAI,
) -> None:
    stream = client.chat.completions.create(
        model="fabula/old tales",
        messages=[{"role": "user", "content": QUESTION}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    text = "".join(delta.content or "" for delta in deltas)
    assert len([delta for delta in deltas if delta.content]) > 2, "in pieces"
    noted = [one for delta in deltas for one in getattr(delta, "annotations", None) or []]
    assert noted
    first = noted[0]["url_citation"]
    assert re.fullmatch(r"\[\d+.*\]", text[first["start_index"] : first["end_index"]])
    assert chunks[-1].usage
    assert chunks[-1].usage.completion_tokens > 0
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"


def test_a_question_leans_on_those_before_it(client: openai.OpenAI, endpoint: Endpoint) -> None:
    before = endpoint.calls
    client.chat.completions.create(
        model="fabula/old tales",
        messages=[
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": "To the mill [1]."},
            {"role": "user", "content": "And then?"},
        ],
    )
    sent = [body for body in endpoint.bodies[before:] if "messages" in body]
    assert len(sent) == 2, "one call words it as it stands alone, one answers"
    assert QUESTION in str(sent[0])


def test_what_a_client_wants_for_itself_goes_to_the_chat_model_alone(
    client: openai.OpenAI, endpoint: Endpoint
) -> None:
    before = endpoint.calls
    completion = client.chat.completions.create(
        model="fabula/old tales", messages=[{"role": "user", "content": TASK}]
    )
    assert completion.choices[0].message.content
    [body] = endpoint.bodies[before:]
    assert body["messages"][-1]["content"] == TASK, "nothing was looked up"


def test_what_fails_is_an_error_of_openais_kind(client: openai.OpenAI, endpoint: Endpoint) -> None:
    plan, endpoint.plan = endpoint.plan, lambda _: "error"
    try:
        with pytest.raises(openai.InternalServerError) as failed:
            client.chat.completions.create(
                model="fabula/old tales", messages=[{"role": "user", "content": TASK}]
            )
    finally:
        endpoint.plan = plan
    assert failed.value.status_code == 502
    long = TASK + "x" * 50_000
    with pytest.raises(openai.BadRequestError, match="has 50,041 characters; at most 50,000"):
        client.chat.completions.create(
            model="fabula/old tales", messages=[{"role": "user", "content": long}]
        )
    with pytest.raises(openai.BadRequestError, match="no user message"):
        client.chat.completions.create(
            model="fabula/old tales", messages=[{"role": "system", "content": "Hi."}]
        )


@for_each(
    "wanted",
    [
        {"n": 2},
        {"tools": [{"type": "function", "function": {"name": "search"}}]},
        {"functions": [{"name": "search"}]},
        {"response_format": {"type": "json_object"}},
        {"logprobs": True},
        {"modalities": ["text", "audio"]},
    ],
)
def test_what_an_answer_can_not_be_is_refused(
    client: openai.OpenAI, endpoint: Endpoint, wanted: dict[str, Any]
) -> None:
    before = len(endpoint.bodies)
    message = {"role": "user", "content": QUESTION}
    body = {"model": "fabula/old tales", "messages": [message]}
    with pytest.raises(openai.BadRequestError, match="is not supported: leave it out") as refused:
        client.post("/chat/completions", body=body | wanted, cast_to=object)
    assert refused.value.body["type"] == "bad-request"  # type: ignore[index]
    assert len(endpoint.bodies) == before
    usual = {"n": 1, "tools": [], "response_format": {"type": "text"}, "stop": ["||>"], "seed": 7}
    usual |= dict.fromkeys(("stream", "stream_options", "tool_choice", "document"))
    assert client.post("/chat/completions", body=body | usual, cast_to=object)


def test_offline_a_task_is_refused_in_words(
    address: Address, it: Served, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own: dict[str, Any] = server_of(address) | {"home": tmp_path_factory.mktemp("home")}
    with App(**own) as app, served(app) as offline:
        address_of: dict[str, Any] = {
            "base_url": f"{offline.url}/v1",
            "api_key": offline.key("read"),
        }
        client = openai.OpenAI(**address_of, max_retries=0)
        with client, pytest.raises(openai.BadRequestError, match="has no chat model"):
            client.chat.completions.create(
                model="fabula/other", messages=[{"role": "user", "content": TASK}]
            )
