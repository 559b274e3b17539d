"""An endpoint in trouble that passes: it is tried again, and given up in one line."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import formatdate

import pytest

from cases import for_each
from endpoint import Endpoint as Server
from endpoint import chance, every, listed
from endpoint.faults import Fault
from fabula.errors import ModelError
from fabula.models import Prompt
from fabula.models.cache import ReadOnlyCache
from fabula.models.endpoint.errors import allowances, requested_wait
from fabula.models.endpoint.openai import OpenAIChat, OpenAIEmbedder
from keeping import cached_chat
from reach import SUMMARY, chat, opened, reach, text_of

pytestmark = pytest.mark.waits

LONG = Prompt("You summarise.", f"<passages>\n{'word ' * 60}\n</passages>", 100, 0.5)


@pytest.mark.journey
@pytest.mark.parametrize("fault", ["error", "rate_limit", "cut"])
def test_trouble_that_passes_is_tried_again(fault: Fault) -> None:
    with Server(plan=listed(fault, fault)) as server:
        assert chat(server).complete(SUMMARY).text == "Marley was dead."
    assert server.calls == 3


@for_each("fault", ["cut", "unfinished"])
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
        model = chat(server)
        model.complete(SUMMARY)
        model.complete(SUMMARY)
    assert server.calls == 5


def test_a_model_that_never_answered_is_given_up_after_three_tries() -> None:
    with (
        Server(plan=every(1, "error")) as server,
        pytest.raises(ModelError, match="Given up after 3 tries"),
    ):
        chat(server, attempts=9).complete(SUMMARY)
    without = [
        body
        for body in server.bodies
        if {"temperature", "max_tokens"} - body.keys() or len(body["messages"]) == 1
    ]
    assert server.calls == 3 + len(without), "the last try is made without each parameter, too"


def test_an_endpoint_that_refuses_everything_for_long_is_given_up() -> None:
    with (
        Server(plan=every(1, "rate_limit"), retry_after="0.05") as server,
        pytest.raises(ModelError, match="called too often"),
    ):
        chat(server, refusals=1.0).complete(SUMMARY)
    assert server.calls > 1


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
    assert 0.3 <= server.times[1] - server.times[0] < 60


def test_a_wait_of_hours_is_a_refusal_that_holds_nobody() -> None:
    with Server(plan=listed("rate_limit"), retry_after="7200") as server:
        model = chat(server)
        with pytest.raises(ModelError, match="asks to wait 120 minutes"):
            model.complete(SUMMARY)
        assert model.complete(SUMMARY).text


def test_the_asked_wait_is_read_as_seconds_milliseconds_or_a_date() -> None:
    assert requested_wait({"retry-after": "2.5"}) == 2.5
    assert requested_wait({"retry-after-ms": "250", "retry-after": "1"}) == 0.25
    date = formatdate(time.time() + 300, usegmt=True)
    assert 200 < (requested_wait({"retry-after": date}) or 0) <= 300
    assert requested_wait({"retry-after": formatdate(0, usegmt=True)}) == 0
    # Not of the standard: Groq's form, and openclaw/clawhub 407.
    assert requested_wait({"retry-after": "60s"}) == 60
    assert requested_wait({"retry-after": " 1m30s "}) == 90
    assert 200 < (requested_wait({"retry-after": str(int(time.time()) + 300)}) or 0) <= 300
    for nonsense in ("soon", "nan", "inf", "", "Wed, 99 Foo 99999 00:00:00 GMT"):
        assert requested_wait({"retry-after": nonsense}) is None
    assert requested_wait({"retry-after-ms": "inf"}) is None
    assert requested_wait({}) is None


def test_what_is_left_is_read_by_whatever_prefix_and_in_whatever_unit() -> None:
    def reset(said: str) -> list[tuple[float, float]]:
        return allowances({"x-ratelimit-remaining": "7", "x-ratelimit-reset": said})

    openai = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "6m0s",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "120ms",
    }
    assert allowances(openai) == [(0, 360), (149984, 0.12)]
    assert requested_wait(openai) == 360
    assert requested_wait({**openai, "retry-after": "2"}) == 2
    assert requested_wait({**openai, "x-ratelimit-remaining-requests": "3"}) is None
    assert reset("1m12.5s") == [(7, 72.5)]
    assert reset("2") == [(7, 2)]
    assert 200 < reset(str(time.time() + 300))[0][1] <= 300
    assert reset("-3") == [(7, 0)]
    for nonsense in ("", "soon", "nan", "inf", "1x", "1s?", "9" * 400 + "s"):
        assert reset(nonsense) == []
    then = datetime.fromtimestamp(time.time() + 300, tz=UTC).isoformat().replace("+00:00", "Z")
    name = "anthropic-ratelimit-input-tokens"
    [(left, seconds)] = allowances({f"{name}-remaining": "9", f"{name}-reset": then})
    assert left == 9
    assert 200 < seconds <= 300
    assert allowances({"ratelimit-remaining": "many", "ratelimit-reset": "1"}) == []
    # openai/openai-dotnet 838, of Azure: no limit.
    assert allowances({"x-ratelimit-remaining-tokens": "-1", "x-ratelimit-reset-tokens": "9"}) == []


def test_no_call_is_made_where_an_answer_says_that_nothing_is_left() -> None:
    nothing = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "300ms"}
    with Server(headers=nothing) as server:
        model = chat(server)
        began = time.monotonic()
        model.complete(SUMMARY)
        assert text_of(model.stream(SUMMARY)) == "Marley was dead."
        model.complete(SUMMARY)
    # From the beginning: a call may be long on its way to the server.
    came = [at - began for at in server.times]
    assert len(came) == 3
    assert 0.3 <= came[1] < 30
    assert 0.6 <= came[2] < 60


def test_what_is_left_counts_also_where_the_answer_cannot_be_read() -> None:
    broken = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1\r\n"
        b"x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 300ms\r\n"
        b"Connection: close\r\n\r\n{"
    )
    with Server(raw=lambda number, _: [broken] if number == 1 else None) as server:
        began = time.monotonic()
        assert chat(server).complete(SUMMARY).text == "Marley was dead."
    assert 0.3 <= server.times[-1] - began < 30


def test_a_day_without_calls_is_not_waited_for_in_silence() -> None:
    nothing = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "23h59m"}
    with Server(headers=nothing) as server:
        model = chat(server)
        model.complete(SUMMARY)
        model.complete(SUMMARY)
        with (
            Server(plan=every(1, "rate_limit"), retry_after=None, headers=nothing) as refusing,
            pytest.raises(ModelError, match="asks to wait 1439 minutes"),
        ):
            chat(refusing).complete(SUMMARY)
    assert server.times[1] - server.times[0] < 30


def test_no_turn_is_held_while_waiting_for_the_next_try() -> None:
    with Server(plan=listed("error")) as server, ThreadPoolExecutor(2) as pool:
        model = chat(server, limit=1, first_wait=60.0)
        failing = pool.submit(model.complete, SUMMARY)
        while server.refused == 0:
            time.sleep(0.005)
        try:
            assert pool.submit(model.complete, SUMMARY).result(timeout=60).text
            assert not failing.done()
        finally:
            opened.pop().close()
        with pytest.raises(ModelError, match="stopped"):
            failing.result()


def test_a_mixture_of_all_trouble_that_passes_loses_no_reply() -> None:
    plan = chance(0.3, ["rate_limit", "error", "cut"], seed=4)
    with Server(plan=plan, retry_after="0.01") as server:
        model = chat(server, attempts=12)
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: model.complete(SUMMARY), range(100)))
    assert {reply.text for reply in replies} == {"Marley was dead."}
    assert server.refused > 20


def test_a_reader_who_pauses_keeps_no_other_call_waiting() -> None:
    texts: list[str] = []
    with Server() as server:
        model = chat(server, limit=1)
        pieces = cached_chat(model, ReadOnlyCache()).stream(SUMMARY)
        first = next(pieces)
        other = threading.Thread(
            target=lambda: texts.append(model.complete(SUMMARY).text), daemon=True
        )
        other.start()
        other.join(60)
        assert texts == ["Marley was dead."]
        assert text_of([first, *pieces]) == "Marley was dead.", "and loses nothing"


def test_a_reader_who_leaves_ends_the_call_before_all_is_sent() -> None:
    with Server(between=0.5) as server:
        model = chat(server, limit=1)
        pieces = model.stream(LONG)
        next(pieces)
        del pieces
        began = time.monotonic()
        assert model.complete(SUMMARY).text
        assert time.monotonic() - began < 15, "the rest takes 30 s"
