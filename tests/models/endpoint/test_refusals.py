"""An endpoint in trouble that stays: no second try, and one line that tells what to do."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cases import for_each
from endpoint import Endpoint as Server
from endpoint import every, listed
from endpoint.faults import Fault
from fabula.errors import BadReply, ModelError, SettingsError
from fabula.models.endpoint.openai import OpenAIChat, OpenAIEmbedder
from reach import SUMMARY, chat, reach


def test_a_refused_key_stops_at_once_and_names_where_keys_are_set() -> None:
    with (
        Server(key="right") as server,
        pytest.raises(ModelError, match=r"refused the key.*OPENAI_API_KEY") as caught,
    ):
        chat(server, key="wrong-key").complete(SUMMARY)
    assert server.calls == 1
    assert "wrong-key" not in str(caught.value)


def test_a_missing_model_stops_at_once_and_names_its_setting() -> None:
    with Server(models=["other"]) as server:
        endpoint = reach(server.url)
        for ask, setting in (
            (lambda: OpenAIChat(endpoint, "m").complete(SUMMARY), "FABULA_MODEL"),
            (
                lambda: OpenAIChat(endpoint, "m", "FABULA_ASPECT_MODEL").complete(SUMMARY),
                "FABULA_ASPECT_MODEL",
            ),
            (lambda: OpenAIEmbedder(endpoint, "m").embed(["x"]), "FABULA_EMBEDDING_MODEL"),
        ):
            with pytest.raises(ModelError, match=rf"no model 'm' \(404\).* {setting} ") as caught:
                ask()
            assert server.url in str(caught.value)
    assert server.calls == 3


def test_a_used_up_quota_stops_at_once() -> None:
    with Server(plan=every(1, "quota")) as server, pytest.raises(ModelError, match="quota"):
        chat(server).complete(SUMMARY)
    assert server.calls == 1


def test_a_text_too_long_stops_at_once_and_names_what_to_lower() -> None:
    with (
        Server(plan=every(1, "context")) as server,
        pytest.raises(ModelError, match=r"too long for m .*aspects\.cluster_tokens"),
    ):
        chat(server).complete(SUMMARY)
    assert server.calls == 1


@for_each(
    ("fault", "message"),
    [
        ("empty", "empty reply"),
        ("refusal", "declined"),
        ("filtered", "content filter"),
    ],
)
def test_a_reply_that_has_no_text_tells_why_and_is_paid_for(fault: Fault, message: str) -> None:
    with Server(plan=every(1, fault)) as server:
        reply = chat(server).complete(SUMMARY)
        assert message in reply.problem
        assert reply.prompt_tokens > 0
        with pytest.raises(BadReply, match=message):
            list(chat(server).stream(SUMMARY))


def test_a_text_that_a_filter_does_not_let_through_is_refused() -> None:
    with Server(plan=every(1, "blocked")) as server:
        with pytest.raises(BadReply, match="refused a text"):
            chat(server).complete(SUMMARY)
        with pytest.raises(BadReply, match="refused a text"):
            list(chat(server).stream(SUMMARY))


def test_a_model_that_only_thinks_is_asked_once_more_with_room_for_it() -> None:
    with Server(plan=every(1, "thinking")) as server:
        assert "for thinking" in chat(server).complete(SUMMARY).problem
    assert server.calls == 2


def test_each_thread_that_met_a_thinking_model_asks_once_more() -> None:
    all_asked = threading.Barrier(4)

    def together(_: int, body: dict[str, Any]) -> None:
        # No thread learns what another is told before it has asked itself.
        if body["max_tokens"] == SUMMARY.max_tokens:
            all_asked.wait(60)

    plan = listed("thinking", "thinking", "thinking", "thinking")
    with Server(plan=plan, raw=together) as server:
        model = chat(server)
        with ThreadPoolExecutor(4) as threads:
            replies = list(threads.map(model.complete, [SUMMARY] * 4))
    assert [reply.problem for reply in replies] == [""] * 4
    assert server.calls == 8


@for_each("url", ["localhost:11434", "ftp://x/v1", "http://", "http://[::1/v1"])
def test_an_address_no_client_could_call_is_an_error_before_the_first_call(url: str) -> None:
    with pytest.raises(SettingsError, match="OPENAI_BASE_URL"):
        reach(url)


def test_a_key_no_header_could_carry_is_an_error_that_does_not_show_it() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY") as caught:
        reach("http://localhost/v1", key="sk-ąę")
    assert "sk-" not in str(caught.value)


def test_a_local_endpoint_needs_no_key() -> None:
    with Server() as server:
        assert chat(server, key=None).complete(SUMMARY).text


def test_the_endpoint_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "tests.support.endpoint", "--port", "0"]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        try:
            assert OpenAIChat(reach(url), "m").complete(SUMMARY).text == "Marley was dead."
        finally:
            process.terminate()
