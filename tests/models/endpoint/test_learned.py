"""What a server refuses is saved beside the replies, so that the next process knows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caches import OpenCache
from endpoint import Endpoint as Server
from endpoint import vector
from fabula.models.batching import BatchingEmbedder
from fabula.models.cache import ResponseCache, learned_key
from fabula.models.endpoint import learned
from fabula.models.endpoint.openai import OpenAIChat, OpenAIEmbedder
from reach import DETAILS, SUMMARY, reach, text_of

TEXTS = [f"{number} ghosts" for number in range(35)]
MOST = 10
REFUSED = 6
"""The field `input_type` twice: its first call was refused for its size as well."""


def refuse(body: dict[str, Any]) -> tuple[int, Any] | None:
    """Refuse what servers do: a parameter, a schema, the system role, a field, a size."""
    if "input" in body:
        message = ""
        if "input_type" not in body:
            message = "'input_type' parameter is required for asymmetric models"
        elif len(body["input"]) > MOST:
            message = f"Batch size is invalid, it should not be larger than {MOST}.: input.contents"
    elif any(message["role"] == "system" for message in body["messages"]):
        message = "Only user and assistant roles are supported!"
    elif "temperature" in body:
        message = "Unsupported value: 'temperature' does not support 0.5 with this model."
    elif body.get("response_format", {}).get("type") == "json_schema":
        message = "This model does not support response format `json_schema`."
    else:
        message = ""
    return (400, {"error": {"message": message}}) if message else None


def use_models(server: Server, memory: ResponseCache) -> int:
    """Ask all kinds of calls as a new process does; return how many were refused."""
    refused = server.refused
    endpoint = reach(server.url, memory=memory)
    chat = OpenAIChat(endpoint, "m")
    assert "Marley" in chat.complete(DETAILS).text
    assert text_of(chat.stream(SUMMARY)) == "Marley was dead."
    embedder = BatchingEmbedder(OpenAIEmbedder(endpoint, "e", 20), endpoint.behaviour)
    rows = embedder.embed(TEXTS, "query").vectors
    np.testing.assert_allclose(rows, [vector(text, 64) for text in TEXTS], atol=1e-6)
    assert endpoint.parameters("e").key_kind("query") == "query"
    return server.refused - refused


def test_a_second_process_makes_no_call_that_was_refused(
    tmp_path: Path, open_cache: OpenCache
) -> None:
    with Server(objection=refuse) as server:
        assert use_models(server, open_cache(tmp_path)) == REFUSED
        assert use_models(server, open_cache(tmp_path)) == 0
        info = open_cache(tmp_path).info()
    assert (info.replies, info.vectors, info.models) == (0, 0, {})


def test_what_was_learned_is_forgotten_in_time(
    tmp_path: Path, open_cache: OpenCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(objection=refuse) as server:
        assert use_models(server, open_cache(tmp_path)) == REFUSED
        monkeypatch.setattr(learned, "KEPT_SECONDS", 0.0)
        assert use_models(server, open_cache(tmp_path)) == REFUSED


def test_what_another_version_has_saved_is_left_out(tmp_path: Path, open_cache: OpenCache) -> None:
    with Server(objection=refuse) as server:
        for row in (b"[]", b"{", b'{"at": 9e9, "parameters": {"colour": true}, "batch": 3}'):
            memory = open_cache(tmp_path)
            keys = [learned_key(reach(server.url).url, model) for model in ("m", "e")]
            memory.save([(key, "learned", "m", row) for key in keys])
            assert use_models(server, memory) == REFUSED


def test_what_a_failing_server_led_to_is_not_saved(tmp_path: Path, open_cache: OpenCache) -> None:
    """It may have been gone by itself: the next process sends all parameters again."""

    def fail(body: dict[str, Any]) -> tuple[int, Any] | None:
        return (500, "Internal Server Error") if "temperature" in body else None

    with Server(objection=fail) as server:
        first = OpenAIChat(reach(server.url, memory=open_cache(tmp_path)), "m")
        first.complete(SUMMARY)
        calls = server.calls
        first.complete(SUMMARY)
        assert server.calls == calls + 1, "the process itself remembers it"
        OpenAIChat(reach(server.url, memory=open_cache(tmp_path)), "m").complete(SUMMARY)
        assert "temperature" in server.bodies[calls + 1]
