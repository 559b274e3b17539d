"""How many tokens a chat model takes: by its name, by its server's list, by its refusals."""

from __future__ import annotations

from typing import Any

from cases import for_each
from endpoint import Endpoint as Server
from fabula.models.windows import known_window, stated_window, window_in_refusal
from reach import reach


@for_each(
    ("model", "window"),
    [
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-4.1-mini-2025-04-14", 1_047_576),
        ("openai/gpt-4o-mini", 128_000),
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-5.1", 400_000),
        ("claude-sonnet-4-5", 200_000),
        ("gpt-oss:20b", None),
        ("llama3.1:8b", None),
        ("qwen3:4b", None),
        ("m", None),
    ],
)
def test_only_models_that_their_makers_serve_are_known_by_name(
    model: str, window: int | None
) -> None:
    assert known_window(model) == window


@for_each(
    ("entry", "window"),
    [
        ({"id": "m", "max_model_len": 32768}, 32768),  # vLLM
        ({"id": "m", "meta": {"n_ctx_train": 131072, "n_vocab": 5}}, None),  # llama.cpp
        ({"id": "m", "meta": {"n_ctx_train": 131072, "n_ctx": 8192}}, 8192),
        ({"id": "m", "context_length": 65536}, 65536),  # OpenRouter
        ({"id": "m", "loaded_context_length": 4096, "max_context_length": 131072}, 4096),
        ({"id": "m", "context_length": "large"}, None),
        ({"id": "m", "context_length": True}, None),
        ({"id": "other", "max_model_len": 32768}, None),
        ({"id": "m", "object": "model"}, None),  # OpenAI, Ollama
    ],
)
def test_a_list_of_models_may_state_the_window(entry: dict[str, Any], window: int | None) -> None:
    assert stated_window({"object": "list", "data": [7, entry]}, "m") == window
    assert stated_window([7, entry], "m") == window, "Together's list stands alone"


@for_each("answer", [None, [], "no", {"data": {"id": "m"}}, {"models": []}])
def test_any_other_answer_states_none(answer: object) -> None:
    assert stated_window(answer, "m") is None


@for_each(
    ("message", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages", 8192),
        ("maximum context length is 128,000 tokens.", 128_000),
        ('{"type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}', 4096),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("Trying to keep the first 9000 tokens when context the overflows", None),
        ("maximum context length is 9 tokens", None),
        ("too large for model with 32768 maximum context length", 32768),
        ("prompt is too long: 213462 tokens > 200000 maximum", 200_000),
        ("`max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease", 200_000),
        ("(1196265) exceeds the maximum number of tokens allowed (1048575).", 1_048_575),
        ("maximum prompt length is 131072 but the request contains 537812 tokens", 131_072),
        ("(length 21535) is longer than the maximum model length of 16384. Make", 16_384),
        ("Your request exceeded model token limit: 262144 (requested: 566084)", 262_144),
        ("prompt token count of 140000 exceeds the limit of 128000", 128_000),
        ("Input length 131393 exceeds the maximum allowed input length of 131040 tokens.", 131_040),
        ("token count is 40000 but model only supports up to 32768. Reduce", 32_768),
        ("Input tokens exceed the configured limit of 272000 tokens. Your", 272_000),
        ("Input length (265330) exceeds model's maximum context length (262144).", 262_144),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 8740 `inputs`", 4096),
        ("Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room)", 2048),
        ("the prompt has 5152 tokens, but the configured context size is 4096 tokens", 4096),
        ("input is too long", None),
    ],
)
def test_a_refusal_may_name_the_window(message: str, window: int | None) -> None:
    assert window_in_refusal(message) == window


def test_the_server_is_asked_once_and_a_learned_limit_counts() -> None:
    with Server(models=("m",)) as server:
        endpoint = reach(server.url, key=None, limit=4)
        assert endpoint.window("m") is None
        endpoint.behaviour.limit_window("m", 4096)
        endpoint.behaviour.limit_window("m", 9000)
        assert endpoint.window("m") == 4096
        assert server.calls == 0, "the list of models is no call to a model"


def test_a_server_that_is_not_there_states_nothing() -> None:
    with Server() as server:
        url = server.url
    assert reach(url, key=None, limit=4).window("m") is None


def test_a_prompt_that_was_cut_in_silence_says_how_much_the_server_takes() -> None:
    with Server() as server:
        behaviour = reach(server.url, key=None, limit=4).behaviour
    behaviour.check_prompt("m", "u", sent=9000, read=4096)
    assert behaviour.of("m").window == 4096
    behaviour.check_prompt("n", "u", sent=9000, read=8700)
    assert behaviour.of("n").window is None
