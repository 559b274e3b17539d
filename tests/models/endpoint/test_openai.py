"""What is sent to an OpenAI-compatible endpoint, and what comes back."""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict

from cases import for_each
from endpoint import Endpoint as Server
from endpoint import every, listed, vector
from endpoint.faults import Fault
from endpoint.server import Complaint
from fabula.errors import BadReply, ModelError
from fabula.graphs.aspects.schemas import DetailsReply
from fabula.models import Prompt
from fabula.models.cache import chat_key
from fabula.models.counted import CountedChat, Meter
from fabula.models.endpoint.openai import OpenAIChat, OpenAIEmbedder
from fabula.models.usage import describe_usage
from reach import DETAILS, SUMMARY, chat, reach, text_of

OBJECT_OF_SCHEMA = {"type": "json_object", "schema": DetailsReply.model_json_schema()}
"""How llama.cpp and others are asked for JSON of a schema."""

# What is sent, and what comes back


def test_a_reply_comes_with_the_tokens_the_endpoint_counted() -> None:
    with Server() as server:
        reply = chat(server).complete(SUMMARY)
    assert reply.text == "Marley was dead."
    assert reply.prompt_tokens > 0
    assert reply.completion_tokens > 0


def test_a_prompt_is_sent_with_all_it_says() -> None:
    with Server() as server:
        chat(server, "some-model").complete(DETAILS)
    [body] = server.bodies
    assert body["model"] == "some-model"
    assert [m["content"] for m in body["messages"]] == [DETAILS.system, DETAILS.user]
    assert (body["temperature"], body["max_tokens"]) == (0.5, 100)
    shape = body["response_format"]["json_schema"]
    assert (shape["name"], shape["strict"]) == ("DetailsReply", True)
    assert shape["schema"]["additionalProperties"] is False


def test_half_a_surrogate_pair_in_a_prompt_is_sent_as_a_question_mark() -> None:
    with Server() as server:
        chat(server).complete(Prompt("", "<passages>\nIt \ud800 was.\n</passages>", 9, 0))
    assert "It ? was." in server.bodies[0]["messages"][1]["content"]


def test_a_stream_gives_pieces_and_then_the_token_counts() -> None:
    with Server() as server:
        *pieces, last = chat(server).stream(SUMMARY)
    assert len(pieces) == 3
    assert text_of(pieces) == "Marley was dead."
    assert last.text == ""
    assert last.prompt_tokens > 0
    assert last.completion_tokens > 0


def test_tokens_that_the_endpoint_had_in_its_cache_are_told() -> None:
    same = f"<passages>\n{'Marley was dead. ' * 500}\n</passages>\n"
    first, second, third = (replace(SUMMARY, user=same + end) for end in ("One?", "Two?", "Three?"))
    with Server() as server:
        one, meter = chat(server), Meter()
        counted = CountedChat(one, meter, "answer", "m")
        assert one.complete(first).cached_tokens == 0
        cached = counted.complete(second).cached_tokens
        assert cached >= 1024 and cached % 128 == 0
        *_, last = counted.stream(third)
        assert last.cached_tokens == cached < last.prompt_tokens
        assert meter.total().cached_tokens == 2 * cached
        assert f"prompt ({2 * cached:,} cached) and" in describe_usage(meter.total())


def test_embeddings_are_unit_rows_in_the_order_of_the_texts() -> None:
    texts = ["a ghost", "a goose", "a clerk"]
    with Server(dimensions=32) as server:
        answer = OpenAIEmbedder(reach(server.url), "e", batch=3).embed(texts)
    assert answer.vectors.dtype == np.float32
    assert answer.tokens > 0
    np.testing.assert_allclose(answer.vectors, [vector(t, 32) for t in texts], atol=1e-6)


def test_embeddings_as_numbers_do_where_base64_is_refused() -> None:
    with Server(refuses={"encoding_format"}) as server:
        embedder = OpenAIEmbedder(reach(server.url), "e")
        rows = embedder.embed(["a ghost"]).vectors
        embedder.embed(["a goose"])
    np.testing.assert_allclose(rows, [vector("a ghost", 64)], atol=1e-6)
    assert server.calls == 3


@for_each(
    ("fault", "message"),
    [("missing_row", "1 vectors for 2 texts"), ("nan", "length 0"), ("zero", "length 0")],
)
def test_embeddings_that_no_index_could_hold_are_refused(fault: Fault, message: str) -> None:
    with Server(plan=every(1, fault)) as server:
        with pytest.raises(BadReply, match=message):
            OpenAIEmbedder(reach(server.url), "e").embed(["a ghost", "a goose"])
        assert server.calls == 4


@for_each("fault", ["missing_row", "nan", "zero", "empty", "wrong_shape"])
def test_embeddings_are_asked_again_where_an_answer_holds_none(fault: Fault) -> None:
    with Server(plan=listed(fault)) as server:
        answer = OpenAIEmbedder(reach(server.url), "e").embed(["a ghost", "a goose"])
    assert answer.vectors.shape == (2, 64)
    assert answer.faults == 1


# Parameters that an endpoint refuses


@pytest.mark.parametrize(
    ("refused", "sent"),
    [
        ({"temperature"}, {"max_tokens": 100}),
        ({"max_tokens"}, {"max_completion_tokens": 4196, "temperature": 0.5}),
        ({"max_tokens", "max_completion_tokens"}, {"temperature": 0.5}),
        (
            {"response_format=json_schema"},
            {"response_format": OBJECT_OF_SCHEMA},
        ),
        ({"response_format"}, {"temperature": 0.5}),
    ],
)
def test_a_refused_parameter_is_dropped_once_and_remembered(
    caplog: pytest.LogCaptureFixture, refused: set[str], sent: dict[str, Any]
) -> None:
    with Server(refuses=refused) as server, caplog.at_level(logging.INFO, "fabula"):
        model = chat(server)
        first, second = model.complete(DETAILS), model.complete(DETAILS)
    assert first == second
    learnt = len(caplog.records)
    assert server.calls == learnt + 2
    assert server.bodies[-1] == server.bodies[-2]
    assert sent.items() <= server.bodies[-1].items()
    for name in refused:
        assert name in server.bodies[0] or name == "max_completion_tokens" or "=" in name
        assert name not in server.bodies[-1]


def test_every_parameter_may_be_refused_in_a_stream() -> None:
    with Server(refuses={"temperature", "stream_options", "max_tokens"}) as server:
        pieces = list(chat(server).stream(SUMMARY))
    assert text_of(pieces) == "Marley was dead."
    assert pieces[-1].prompt_tokens == 0


def test_many_threads_learn_a_refusal_together_and_log_it_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Server(refuses={"response_format=json_schema", "temperature"}, delay=0.01) as server:
        model = chat(server)
        with ThreadPoolExecutor(8) as pool, caplog.at_level(logging.INFO, "fabula"):
            replies = list(pool.map(lambda _: model.complete(DETAILS), range(24)))
    assert len(set(replies)) == 1
    assert len(caplog.records) == 2
    assert server.bodies[-1]["response_format"] == OBJECT_OF_SCHEMA


@for_each("named", [True, False], ids=["named", "not named"])
def test_a_server_that_refuses_a_schema_in_any_form_is_asked_for_any_json(named: bool) -> None:
    def object_to(body: dict[str, Any]) -> Complaint | None:
        form = body.get("response_format", {})
        if "schema" not in form and "json_schema" not in form:
            return None
        message = "Unknown parameter: 'response_format.schema'." if named else "Bad request"
        return 400, {"error": {"message": message, "type": "invalid_request_error"}}

    with Server(objection=object_to) as server:
        model = chat(server)
        for _ in range(2):
            assert "Marley" in model.complete(DETAILS).text
    forms = [body["response_format"] for body in server.bodies]
    assert forms[-2:] == [{"type": "json_object"}] * 2
    assert [form["type"] for form in forms[:2]] == ["json_schema", "json_object"]
    assert "schema" in forms[1]


def test_lists_that_have_to_be_filled_say_so_in_the_schema_and_not_in_the_caches_key() -> None:
    filled = DetailsReply.model_json_schema()["properties"]["details"]
    assert filled["minItems"] == 1

    class Loose(BaseModel):
        """Key facts of a passage."""

        model_config = ConfigDict(extra="forbid", title="DetailsReply")

        details: list[str]

    keys = {chat_key("u", "m", replace(DETAILS, schema=schema)) for schema in (DetailsReply, Loose)}
    assert len(keys) == 1, "what was paid for before is still used"


def test_what_one_model_refuses_another_is_still_asked_for() -> None:
    with Server(refuses={"temperature"}) as server:
        endpoint = reach(server.url)
        OpenAIChat(endpoint, "one").complete(SUMMARY)
        OpenAIChat(endpoint, "other").complete(SUMMARY)
    assert ["temperature" in body for body in server.bodies] == [True, False, True, False]


def test_a_model_that_spends_its_reply_on_thinking_gets_more_room_once() -> None:
    with Server(plan=listed("thinking")) as server:
        model = chat(server)
        assert model.complete(SUMMARY).text == "Marley was dead."
        model.complete(SUMMARY)
    assert [body["max_tokens"] for body in server.bodies] == [100, 4196, 4196]
    with Server(plan=listed("thinking")) as server:
        assert text_of(chat(server).stream(SUMMARY)) == "Marley was dead."


def test_a_call_that_is_under_way_when_all_is_closed_is_still_answered() -> None:
    with Server(delay=0.3) as server, ThreadPoolExecutor(1) as threads:
        endpoint = reach(server.url)
        waiting = threads.submit(OpenAIChat(endpoint, "m").complete, SUMMARY)
        while not server.calls:
            time.sleep(0.01)
        endpoint.close()
        assert waiting.result(timeout=60).text == "Marley was dead."
        with pytest.raises(ModelError, match="stopped"):
            OpenAIChat(endpoint, "m").complete(SUMMARY)
    assert server.calls == 1
