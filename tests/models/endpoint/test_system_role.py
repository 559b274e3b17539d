"""Models that know no system role get the instructions at the beginning of the user's message."""

from typing import Any

import pytest

from cases import for_each
from endpoint import Endpoint as Server
from fabula.errors import ModelError
from reach import DETAILS, SUMMARY, chat, text_of

REFUSALS: dict[str, tuple[int, Any]] = {
    "vLLM, Gemma 2": (
        400,
        {"object": "error", "message": "System role not supported", "type": "BadRequestError"},
    ),
    "llama.cpp": (
        500,
        {"error": {"code": 500, "message": "Jinja Exception: System role not supported"}},
    ),
    "o1-mini": (
        400,
        {
            "error": {
                "message": "Unsupported value: 'messages[0].role' does not support 'system' with "
                "this model.",
                "param": "messages[0].role",
                "code": "unsupported_value",
            }
        },
    ),
    "Mistral 7B": (
        400,
        {"message": "Conversation roles must alternate user/assistant/user/assistant/..."},
    ),
    "Mixtral": (400, {"error": "Only user and assistant roles are supported!"}),
    "Gemma at Gemini": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "Developer instruction is not enabled for models/gemma-3-27b-it",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "pydantic": (
        422,
        {
            "detail": [
                {
                    "loc": ["body", "messages", 0, "role"],
                    "msg": "Input should be 'user' or 'assistant'",
                    "input": "system",
                }
            ]
        },
    ),
    "Gemini": (400, {"error": {"code": 400, "message": "Please use a valid role: user, model."}}),
    "system messages": (400, {"error": {"message": "This model does not support system messages"}}),
    "no reason": (400, {"error": {"message": "Bad Request"}}),
    "SGLang": (500, "Internal Server Error"),
}


def refuse_system(refusal: tuple[int, Any]) -> Any:
    def object_to(body: dict[str, Any]) -> tuple[int, Any] | None:
        return refusal if any(m["role"] == "system" for m in body["messages"]) else None

    return object_to


@for_each("refusal", REFUSALS.values(), ids=REFUSALS.keys())
@for_each("streamed", [False, True], ids=["whole", "streamed"])
def test_the_instructions_go_into_the_users_message_and_that_is_remembered(
    refusal: tuple[int, Any], streamed: bool
) -> None:
    with Server(objection=refuse_system(refusal)) as server:
        model = chat(server)
        for _ in range(2):
            calls = server.calls
            reply = text_of(model.stream(SUMMARY)) if streamed else model.complete(SUMMARY).text
            assert reply == "Marley was dead."
    assert server.calls == calls + 1, "it is remembered"
    [message] = server.bodies[-1]["messages"]
    assert message == {"role": "user", "content": f"{SUMMARY.system}\n\n{SUMMARY.user}"}
    assert {"temperature", "max_tokens"} <= server.bodies[-1].keys(), "nothing else is left out"


def test_a_named_refusal_costs_one_call() -> None:
    with Server(objection=refuse_system(REFUSALS["vLLM, Gemma 2"])) as server:
        chat(server).complete(DETAILS)
    assert server.calls == 2
    assert "response_format" in server.bodies[-1]


def test_a_model_that_refuses_the_users_message_too_is_an_error() -> None:
    with (
        Server(objection=lambda _: REFUSALS["vLLM, Gemma 2"]) as server,
        pytest.raises(ModelError, match="System role not supported"),
    ):
        chat(server).complete(SUMMARY)
    assert server.calls < 10
