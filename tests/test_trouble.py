"""An endpoint in trouble: what passes is tried again, what stays is told in one line."""

import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path

import pytest

from endpoint import Endpoint as Server
from endpoint import chance, every, listed
from endpoint.faults import Fault
from fabula.errors import BadReply, ModelError, SettingsError
from fabula.providers.openai import OpenAIChat, OpenAIEmbedder
from fabula.providers.trouble import wait_asked
from fabula.providers.wire import Json, choice, part, said, usage
from reach import DETAILS, SUMMARY, chat, reach, text_of

# Trouble that passes


@pytest.mark.parametrize("fault", ["error", "rate_limit", "cut"])
def test_trouble_that_passes_is_tried_again(fault: Fault) -> None:
    with Server(plan=listed(fault, fault)) as server:
        assert chat(server).complete(SUMMARY).text == "Marley was dead."
    assert server.calls == 3


@pytest.mark.parametrize("fault", ["error", "rate_limit", "cut_before"])
def test_a_stream_is_tried_again_until_its_first_piece(fault: Fault) -> None:
    with Server(plan=listed(fault)) as server:
        assert text_of(chat(server).stream(SUMMARY)) == "Marley was dead."
    assert server.calls == 2


@pytest.mark.parametrize("fault", ["cut", "unfinished"])
def test_a_stream_that_is_cut_after_a_piece_says_so(fault: Fault) -> None:
    with Server(plan=listed(fault)) as server:
        pieces = chat(server).stream(SUMMARY)
        assert next(pieces).text == "Marley"
        with pytest.raises(ModelError, match="cut the answer short"):
            list(pieces)
    assert server.calls == 1


def test_trouble_that_stays_is_given_up_with_the_number_of_tries() -> None:
    with (
        Server(plan=lambda number: "error" if number > 1 else None) as server,
        pytest.raises(ModelError, match=r"failed \(500\).* Given up after 4 tries"),
    ):
        one = chat(server)
        one.complete(SUMMARY)
        one.complete(SUMMARY)
    assert server.calls == 5


def test_a_model_that_never_answered_is_given_up_after_three_tries() -> None:
    with (
        Server(plan=every(1, "error")) as server,
        pytest.raises(ModelError, match="Given up after 3 tries"),
    ):
        chat(server, attempts=9).complete(SUMMARY)
    assert server.calls == 3


def test_calls_refused_for_their_number_use_up_no_attempts() -> None:
    with Server(
        plan=lambda number: "rate_limit" if number < 10 else None, retry_after="0.01"
    ) as server:
        assert chat(server, attempts=2).complete(SUMMARY).faults == 9


def test_an_endpoint_that_refuses_everything_for_long_is_given_up() -> None:
    with (
        Server(plan=every(1, "rate_limit"), retry_after="0.05") as server,
        pytest.raises(ModelError, match="called too often"),
    ):
        chat(server, refusals=0.2).complete(SUMMARY)
    assert server.calls > 2


def test_the_tries_that_failed_are_told_with_the_reply() -> None:
    plan = listed("error", "rate_limit", "cut_before")
    with Server(plan=plan, retry_after="0.01") as server:
        assert [piece.faults for piece in chat(server).stream(SUMMARY)] == [0, 0, 0, 3]
    with Server(plan=listed("error", "cut")) as server:
        assert OpenAIEmbedder(reach(server.url), "e").embed(["x"]).faults == 2


def test_a_slow_endpoint_is_given_up_by_the_setting_that_says_when() -> None:
    with (
        Server(plan=every(1, "slow")) as server,
        pytest.raises(ModelError, match=r"within 0.1 s \(FABULA_TIMEOUT\)"),
    ):
        chat(server, timeout=0.1, attempts=2).complete(SUMMARY)


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match=r"can't be reached.*refused.*OPENAI_BASE_URL"):
            OpenAIChat(reach(url, attempts=2), "m").complete(SUMMARY)


def test_the_time_an_endpoint_asks_for_is_waited() -> None:
    with Server(plan=listed("rate_limit"), retry_after="0.3") as server:
        chat(server).complete(SUMMARY)
    assert 0.3 <= server.times[1] - server.times[0] < 1.5


def test_a_wait_of_hours_is_a_refusal_that_holds_nobody() -> None:
    with Server(plan=listed("rate_limit"), retry_after="7200") as server:
        one = chat(server)
        with pytest.raises(ModelError, match="asks to wait 120 minutes"):
            one.complete(SUMMARY)
        assert one.complete(SUMMARY).text


def test_the_asked_wait_is_read_as_seconds_milliseconds_or_a_date() -> None:
    assert wait_asked({"retry-after": "2.5"}) == 2.5
    assert wait_asked({"retry-after-ms": "250", "retry-after": "1"}) == 0.25
    date = formatdate(time.time() + 30, usegmt=True)
    assert 25 < (wait_asked({"retry-after": date}) or 0) < 31
    assert wait_asked({"retry-after": formatdate(0, usegmt=True)}) == 0
    assert wait_asked({"retry-after": "soon"}) is None
    assert wait_asked({}) is None


def test_no_turn_is_held_while_waiting_for_the_next_try() -> None:
    with Server(plan=listed("error")) as server:
        one = chat(server, limit=1, first_wait=1.0)
        failing = threading.Thread(target=one.complete, args=[SUMMARY])
        failing.start()
        while server.refused == 0:
            time.sleep(0.005)
        begun = time.monotonic()
        one.complete(SUMMARY)
        assert time.monotonic() - begun < 0.5
        failing.join()


def test_an_endpoint_that_takes_few_calls_at_once_answers_all_in_the_end() -> None:
    with Server(most_at_once=3, delay=0.01, retry_after="0.02") as server:
        one = chat(server, limit=16, attempts=10)
        with ThreadPoolExecutor(16) as pool:
            replies = list(pool.map(lambda _: one.complete(SUMMARY), range(60)))
    assert len(replies) == 60
    assert server.in_flight_most <= 3


def test_a_mixture_of_all_trouble_that_passes_loses_no_reply() -> None:
    plan = chance(0.3, ["rate_limit", "error", "cut"], seed=4)
    with Server(plan=plan, retry_after="0.01") as server:
        one = chat(server, attempts=12)
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: one.complete(SUMMARY), range(100)))
    assert {reply.text for reply in replies} == {"Marley was dead."}
    assert server.refused > 20


def test_a_stream_that_nobody_reads_to_its_end_gives_its_turn_back() -> None:
    with Server() as server:
        one = chat(server, limit=1)
        pieces = one.stream(SUMMARY)
        next(pieces)
        del pieces
        assert one.complete(SUMMARY).text


# Trouble that stays


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
        pytest.raises(ModelError, match=r"too long for m .*FABULA_CLUSTER_TOKENS"),
    ):
        chat(server).complete(SUMMARY)
    assert server.calls == 1


def test_a_web_page_instead_of_an_endpoint_is_recognised() -> None:
    with (
        Server(plan=every(1, "web_page")) as server,
        pytest.raises(ModelError, match="OPENAI_BASE_URL, which often ends with /v1"),
    ):
        chat(server).complete(SUMMARY)
    assert server.calls == 1


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("empty", "empty reply"),
        ("refusal", "declined"),
        ("filtered", "content filter"),
    ],
)
def test_a_reply_that_has_no_text_tells_why_and_is_paid_for(fault: Fault, said: str) -> None:
    with Server(plan=every(1, fault)) as server:
        reply = chat(server).complete(SUMMARY)
        assert said in reply.trouble
        assert reply.prompt_tokens > 0
        with pytest.raises(BadReply, match=said):
            list(chat(server).stream(SUMMARY))


def test_a_text_that_a_filter_does_not_let_through_is_refused() -> None:
    with Server(plan=every(1, "blocked")) as server:
        with pytest.raises(BadReply, match="withheld a text"):
            chat(server).complete(SUMMARY)
        with pytest.raises(BadReply, match="withheld a text"):
            list(chat(server).stream(SUMMARY))


def test_a_model_that_only_thinks_is_asked_once_more_with_room_for_it() -> None:
    with Server(plan=every(1, "thinking")) as server:
        assert "on thinking" in chat(server).complete(SUMMARY).trouble
    assert server.calls == 2


def test_each_thread_that_met_a_thinking_model_asks_once_more() -> None:
    with Server(plan=listed("thinking", "thinking", "thinking", "thinking"), delay=0.1) as server:
        model = chat(server)
        with ThreadPoolExecutor(4) as threads:
            replies = list(threads.map(model.complete, [SUMMARY] * 4))
    assert [reply.trouble for reply in replies] == [""] * 4
    assert server.calls == 8


def test_json_that_was_not_finished_is_in_trouble() -> None:
    with Server(plan=listed("truncated")) as server:
        assert "did not finish" in chat(server).complete(DETAILS).trouble


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [{"message": {"content": [{"type": "text", "text": "Marley"}]}}]},
        {"choices": ["x"]},
        {"choices": [{"message": "hi"}]},
        {"choices": {}, "usage": 3},
    ],
)
def test_an_answer_of_another_shape_is_read_as_far_as_it_goes(answer: Json) -> None:
    message = part(choice(answer).get("message"))
    assert said(message) in ("Marley", "")
    assert usage(answer) == (0, 0)


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://x/v1", "http://", "http://[::1/v1"])
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
    command = [sys.executable, "-m", "tests.endpoint", "--port", "0"]
    root = Path(__file__).parents[1]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        try:
            assert OpenAIChat(reach(url), "m").complete(SUMMARY).text == "Marley was dead."
        finally:
            process.terminate()
