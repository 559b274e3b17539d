"""Texts to embed: as many a call as the endpoint takes, and each as long as it takes."""

import base64
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from caches import OpenCache
from cases import for_each
from endpoint import Endpoint as Server
from endpoint import listed, vector
from fabula.errors import BadReply, ModelError
from fabula.models.batching import BatchingEmbedder, warn_of_cut_texts
from fabula.models.budget import Budget, Budgets
from fabula.models.cached import CachedEmbedder
from fabula.models.counted import CountedEmbedder, Meter
from fabula.models.endpoint.endpoint import Endpoint
from fabula.models.endpoint.openai import OpenAIEmbedder
from fabula.text.tokens import count
from reach import reach

TEXTS = [f"{number} ghosts came to the counting house" for number in range(100)]
SENTENCE = "The long tale went on and on. "
LONG = SENTENCE * 60
BATCH_REFUSALS: dict[str, tuple[int, Any]] = {
    "DashScope": (
        400,
        {
            "error": {
                "message": "Value error, batch size is invalid, it should not be larger than "
                "{most}.: input.contents",
                "code": "InvalidParameter",
            }
        },
    ),
    "Azure": (
        400,
        {
            "error": {
                "message": "Too many inputs. The max number of inputs is {most}.",
                "code": "400",
            }
        },
    ),
    "TEI": (
        413,
        {"error": "batch size {sent} > maximum allowed batch size {most}", "type": "Validation"},
    ),
    "pydantic": (
        422,
        {"detail": [{"msg": "List should have at most {most} items after validation, not {sent}"}]},
    ),
    "Gemini": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "* BatchEmbedContentsRequest.requests: at most {most} requests can "
                    "be in one batch\n",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    # onyx-dot-app/onyx 2343, by LiteLLM.
    "Vertex": (
        400,
        {"error": {"message": "{most} instance(s) is allowed per prediction. Actual: 100"}},
    ),
    "a server that breaks": (500, {"error": {"message": "maximum batch size is {most}"}}),
    "a gateway": (413, "<html><h1>413 Request Entity Too Large</h1></html>"),
    "a server whose limit overflowed": (
        400,
        {"error": {"message": "batch size is limited to " + "9" * 5000}},
    ),
    "a server without a reason": (400, {"error": {"message": "invalid parameter"}}),
    "nothing at all": (422, ""),
}
LENGTH_REFUSALS: dict[str, tuple[int, str]] = {
    "TEI": (413, "Input validation error: `inputs` must have less than 80 tokens. Given: 430"),
    "llama.cpp": (
        500,
        "input (430 tokens) is too large to process. increase the physical batch size",
    ),
    "Ollama": (400, "the input length exceeds the context length"),
    "vLLM": (400, "This model's maximum context length is 80 tokens. However, you requested 430."),
    "no reason": (400, "Bad Request"),
}


def refuse_batches(most: int, refusal: tuple[int, Any]) -> Callable[[dict[str, Any]], Any]:
    def object_to(body: dict[str, Any]) -> tuple[int, Any] | None:
        sent = len(body["input"])
        status, form = refusal
        text = json.dumps(form).replace("{most}", str(most)).replace("{sent}", str(sent))
        return (status, json.loads(text)) if sent > most else None

    return object_to


def refuse_long(refusal: tuple[int, str]) -> Callable[[dict[str, Any]], Any]:
    status, message = refusal

    def object_to(body: dict[str, Any]) -> tuple[int, Any] | None:
        is_long = any(count(text) > 80 for text in body["input"])
        return (status, {"error": {"message": message}}) if is_long else None

    return object_to


def batching(endpoint: Endpoint, batch: int = 128) -> BatchingEmbedder:
    return BatchingEmbedder(OpenAIEmbedder(endpoint, "e", batch), endpoint.behaviour)


def expected(texts: list[str]) -> list[Any]:
    return [vector(text, 64) for text in texts]


@for_each("refusal", BATCH_REFUSALS.values(), ids=BATCH_REFUSALS.keys())
@given(st.integers(20, 99))
@example(10)
@settings(max_examples=2)
def test_batches_shrink_to_what_an_endpoint_takes_and_that_is_remembered(
    refusal: tuple[int, Any], most: int
) -> None:
    with Server(objection=refuse_batches(most, refusal)) as server:
        endpoint = reach(server.url, timeout=20.0)
        answer = batching(endpoint).embed(TEXTS)
        np.testing.assert_allclose(answer.vectors, expected(TEXTS), atol=1e-6)
        learned = batching(endpoint).batch
        assert most / 2 < learned <= most
        calls = server.calls
        batching(endpoint).embed(TEXTS)
        assert server.calls == calls + -(-100 // learned), "no call is refused any more"
        assert "encoding_format" in server.bodies[-1], "and nothing else is left out"


def test_each_call_of_a_batch_is_counted_and_saved_when_it_is_answered(
    tmp_path: Path, open_cache: OpenCache
) -> None:
    cache, meter = open_cache(tmp_path), Meter()
    refusal = refuse_batches(10, BATCH_REFUSALS["DashScope"])
    with Server(objection=refusal) as server:
        endpoint = reach(server.url)
        budget = Budgets((Budget(calls=3),))
        counted = CountedEmbedder(OpenAIEmbedder(endpoint, "e"), meter, "embed", budget)
        embedder = BatchingEmbedder(CachedEmbedder(counted, cache, server.url), endpoint.behaviour)
        with pytest.raises(ModelError):
            embedder.embed(TEXTS)
    assert cache.info().vectors == 10 * meter.total().calls > 0
    assert meter.total().calls == 3, "a refused call costs nothing"


@for_each("refusal", LENGTH_REFUSALS.values(), ids=LENGTH_REFUSALS.keys())
def test_the_beginning_of_a_text_that_is_too_long_stands_for_it(refusal: tuple[int, str]) -> None:
    texts = [*TEXTS[:20], LONG, *TEXTS[20:30]]
    with Server(objection=refuse_long(refusal)) as server:
        endpoint = reach(server.url)
        answer = batching(endpoint).embed(texts)
        [kept] = answer.cut.values()
        beginning = server_texts(server, LONG[:50])[-1]
        assert answer.cut == {LONG: count(beginning)}
        assert 20 <= kept <= 80
        assert beginning.endswith("on."), "it ends with a sentence"
        rest = [*answer.vectors[:20], *answer.vectors[21:]]
        np.testing.assert_allclose(rest, expected([*TEXTS[:20], *TEXTS[20:30]]), atol=1e-6)
        np.testing.assert_allclose(answer.vectors[20], vector(beginning, 64), atol=1e-6)
        assert batching(endpoint).batch == 128, "the number of texts was not the reason"
        calls = server.calls
        batching(endpoint).embed(texts)
        assert server.calls - calls <= 7, "long texts are sent by themselves from then on"


def server_texts(server: Server, beginning: str) -> list[str]:
    """The texts that a server was sent alone, and that begin so."""
    sent = [body["input"] for body in server.bodies if len(body["input"]) == 1]
    return [texts[0] for texts in sent if texts[0].startswith(beginning)]


def test_a_text_that_is_refused_however_short_it_is_is_an_error() -> None:
    def object_to(body: dict[str, Any]) -> tuple[int, Any] | None:
        is_bad = any(SENTENCE[:8] in text for text in body["input"])
        return (400, {"error": {"message": "Bad Request"}}) if is_bad else None

    with Server(objection=object_to) as server:
        endpoint = reach(server.url)
        batching(endpoint).embed(TEXTS)
        with pytest.raises(BadReply, match="Bad Request"):
            batching(endpoint).embed([*TEXTS, LONG])
        assert server.calls < 30


def test_an_embedding_model_that_is_none_is_an_error_after_a_few_calls() -> None:
    with Server(objection=lambda _: (400, {"error": {"message": "No embedding model"}})) as server:
        with pytest.raises(ModelError, match="No embedding model"):
            batching(reach(server.url)).embed(TEXTS)
        assert server.calls < 30


@for_each("fault", ["error", "rate_limit", "cut"])
def test_what_passes_by_itself_makes_no_batch_smaller(fault: Any) -> None:
    with Server(plan=listed(fault), retry_after="0.01") as server:
        endpoint = reach(server.url)
        batching(endpoint).embed(TEXTS)
        assert (server.calls, batching(endpoint).batch) == (2, 128)


def test_a_text_that_was_cut_is_reported_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "fabula")
    warn_of_cut_texts({LONG: 77}, "e", {LONG: "A Tale: passage 7"})
    [record] = caplog.records
    for part in ("A Tale: passage 7", "The long tale", "77 tokens", "FABULA_CHUNK_TOKENS"):
        assert part in record.getMessage()
    caplog.clear()
    many = {f"{LONG} {number}": 60 + number for number in range(30)}
    warn_of_cut_texts(many, "e", {text: f"passage {number}" for number, text in enumerate(many)})
    [record] = caplog.records
    assert "and 20 more" in record.getMessage(), "one warning for all"
    warn_of_cut_texts({}, "e", {})
    assert len(caplog.records) == 1


# What vectors look like


def packed(texts: list[str], type: str) -> list[str]:
    return [base64.b64encode(vector(text, 64).astype(type).tobytes()).decode() for text in texts]


def answered(rows: list[Any], indices: list[Any]) -> Any:
    data = [{"index": n, "embedding": row} for n, row in zip(indices, rows, strict=True)]
    content = json.dumps({"data": data}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return lambda *_: [head % len(content) + content]


@for_each("order", [[0, 0, 0], [1, 2, 3], [0, 1, 2], [None] * 3, [2, 0, 1], [3, 1, 2]], ids=str)
def test_vectors_are_put_in_order_however_they_are_numbered(order: list[Any]) -> None:
    texts = TEXTS[:3]
    is_numbered = len({*order}) == 3
    sent = [texts[n - min(order)] for n in order] if is_numbered else texts
    with Server(raw=answered(packed(sent, "<f4"), order)) as server:
        rows = OpenAIEmbedder(reach(server.url), "e").embed(texts).vectors
    np.testing.assert_allclose(rows, expected(texts), atol=1e-6)


@for_each("scale", [1.0, 0.01, 20.0])
@for_each("type", ["<f4", "<f8"])
def test_vectors_in_base64_are_read_in_single_and_double_precision(type: str, scale: float) -> None:
    draw = np.random.default_rng(1)
    rows = [draw.normal(size=384) for _ in range(4)]
    rows = [row / np.linalg.norm(row) * max(scale, 1.0) for row in rows]
    # Made from single and half precision, as most are, and as exact numbers.
    rows[0] = rows[0].astype(np.float32)
    rows[1] = rows[1].astype(np.float16)
    encoded = [base64.b64encode(row.astype(type).tobytes()).decode() for row in rows]
    for row, text in zip(rows, encoded, strict=True):
        with Server(raw=answered([text], [0])) as server:
            [read] = OpenAIEmbedder(reach(server.url), "e").embed(["a"]).vectors
        np.testing.assert_allclose(read, row / np.linalg.norm(row.astype(float)), atol=1e-3)


# Answers without one usable vector for each text


def spoil(answer: Callable[[list[str], list[Any]], list[Any]]) -> Any:
    """What makes an endpoint answer with other rows than it should."""

    def raw(_: int, body: dict[str, Any]) -> list[bytes]:
        rows: list[Any] = [vector(text, 64).tolist() for text in body["input"]]
        data = [{"index": n, "embedding": e} for n, e in enumerate(answer(body["input"], rows))]
        content = json.dumps({"data": data}).encode()
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"
        return [head + b"Content-Length: %d\r\n\r\n" % len(content) + content]

    return raw


# qdrant/landing_page 2294 and langchain-ai/docs 3656, of gemini-embedding-2.
def test_a_server_that_makes_one_vector_of_all_texts_is_sent_one_text_a_call() -> None:
    with Server(raw=spoil(lambda _, rows: [np.mean(rows, axis=0).tolist()])) as server:
        endpoint = reach(server.url)
        answer = batching(endpoint).embed(TEXTS)
        np.testing.assert_allclose(answer.vectors, expected(TEXTS), atol=1e-6)
        assert (batching(endpoint).batch, server.calls) == (1, len(TEXTS) + 4)
        batching(endpoint).embed(TEXTS)
        assert server.calls == 2 * len(TEXTS) + 4, "it is remembered"


def test_a_server_that_leaves_texts_out_is_sent_as_many_as_it_takes() -> None:
    with Server(raw=spoil(lambda _, rows: rows[:30])) as server:
        endpoint = reach(server.url)
        answer = batching(endpoint).embed(TEXTS)
        np.testing.assert_allclose(answer.vectors, expected(TEXTS), atol=1e-6)
        assert 15 <= batching(endpoint).batch <= 30


# ggml-org/llama.cpp 13854, huggingface/text-embeddings-inference 51, hang-in/seCall 5.
@for_each("number", [None, float("nan"), 0.0])
def test_a_text_of_which_a_model_makes_no_numbers_spoils_no_other(number: Any) -> None:
    bad = "Let me see. " * 20

    def answer(texts: list[str], rows: list[Any]) -> list[Any]:
        return [[number] * 64 if t == bad else row for t, row in zip(texts, rows, strict=True)]

    texts = [*TEXTS[:20], bad, *TEXTS[20:]]
    with Server(raw=spoil(answer)) as server:
        endpoint = reach(server.url)
        answer_of = batching(endpoint).embed(texts)
        assert [*answer_of.cut] == [bad], "its beginning stands for it, and that is told"
        rows = [*answer_of.vectors[:20], *answer_of.vectors[21:]]
        np.testing.assert_allclose(rows, expected(TEXTS), atol=1e-6)
        assert batching(endpoint).batch == 128, "the number of texts was not the reason"
        assert server.calls < 30


def test_a_model_that_makes_no_numbers_at_all_is_an_error_after_a_few_calls() -> None:
    with Server(raw=spoil(lambda _, rows: [[None] * 64] * len(rows))) as server:
        with pytest.raises(BadReply, match="Restart or update the server"):
            batching(reach(server.url)).embed(TEXTS)
        assert server.calls < 30


# plastic-labs/honcho 938, of OpenRouter.
def test_a_model_that_has_no_base64_is_asked_for_numbers_and_that_is_remembered() -> None:
    def raw(_: int, body: dict[str, Any]) -> list[bytes] | None:
        packed = "encoding_format" in body
        return list(spoil(lambda *_: [])(0, body)) if packed else None

    with Server(raw=raw) as server:
        endpoint = reach(server.url)
        for _ in range(2):
            answer = batching(endpoint).embed(TEXTS)
            np.testing.assert_allclose(answer.vectors, expected(TEXTS), atol=1e-6)
    assert server.calls == 4


def test_a_vector_for_each_token_is_none_for_the_text() -> None:
    rows = [[[1.0, 0.0], [0.0, 1.0]]]
    with (
        Server(raw=spoil(lambda *_: rows)) as server,
        pytest.raises(BadReply, match="each token"),
    ):
        OpenAIEmbedder(reach(server.url), "e").embed(["a ghost"])
