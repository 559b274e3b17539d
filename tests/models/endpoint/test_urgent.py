"""What somebody waits for goes before a build, over HTTP and in real threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from cases import for_each
from endpoint import Endpoint, listed
from fabula.models.endpoint.openai import OpenAIChat
from fabula.models.purpose import Purpose
from reach import SUMMARY, reach

pytestmark = pytest.mark.waits

PATIENCE = 60.0
"""Seconds for what takes none: against what never ends."""
AT_ONCE = 8


def until(true: Callable[[], object]) -> None:
    late = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < late
        time.sleep(0.005)


class Held:
    """Answers streams at once, and whole replies when it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def __call__(self, _: int, body: dict[str, Any]) -> None:
        if not body.get("stream"):
            self.go.wait(PATIENCE)


@contextmanager
def saturated(server: Endpoint, held: Held, chat: OpenAIChat, turns: int) -> Iterator[None]:
    """Meanwhile a build has all turns that it may have, and twice as many threads that ask."""

    def build(number: int) -> None:
        chat.complete(replace(SUMMARY, sample=number))

    threads = [threading.Thread(target=build, args=(number,)) for number in range(2 * AT_ONCE)]
    for thread in threads:
        thread.start()
    try:
        until(lambda: server.in_flight >= turns)
        yield
    finally:
        held.go.set()
        for thread in threads:
            thread.join()


def test_an_answer_waits_for_no_call_of_a_build_that_asks_all_it_may() -> None:
    held, kept = Held(), AT_ONCE // 8
    with Endpoint(raw=held) as server:
        endpoint = reach(server.url, limit=AT_ONCE)
        asking = OpenAIChat(endpoint, "m", purpose=Purpose(urgent=True))
        assert list(asking.stream(SUMMARY))
        with saturated(server, held, OpenAIChat(endpoint, "m"), AT_ONCE - kept):
            for _ in range(16):
                assert list(asking.stream(SUMMARY))
            # No call of the build has ended meanwhile; and what it leaves free is the reserve.
            assert server.in_flight == AT_ONCE - kept
            assert server.calls == 17 + AT_ONCE - kept
        assert server.in_flight_most == AT_ONCE


def test_a_build_alone_has_all_turns() -> None:
    held = Held()
    with Endpoint(raw=held) as server:
        chat = OpenAIChat(reach(server.url, limit=AT_ONCE), "m")
        with saturated(server, held, chat, AT_ONCE):
            pass
        assert server.in_flight_most == AT_ONCE


@for_each("limit", [1, 2])
def test_a_build_goes_on_where_the_endpoint_takes_few_calls(limit: int) -> None:
    with Endpoint(delay=0.01) as server:
        endpoint = reach(server.url, limit=limit)
        assert list(OpenAIChat(endpoint, "m", purpose=Purpose(urgent=True)).stream(SUMMARY))
        assert OpenAIChat(endpoint, "m").complete(SUMMARY).text


def test_an_answer_is_the_first_once_an_endpoint_that_refused_opens_again() -> None:
    question_waits = threading.Event()

    def hold(number: int, _: dict[str, Any]) -> None:
        # The first calls are refused when the question waits: all turns are taken until then.
        if number <= 4:
            question_waits.wait(PATIENCE)

    plan = listed("rate_limit", "rate_limit", "rate_limit", "rate_limit")
    with Endpoint(plan=plan, raw=hold, retry_after="0.3") as server:
        endpoint = reach(server.url, limit=4)

        def ask(name: str, purpose: Purpose) -> None:
            OpenAIChat(endpoint, name, purpose=purpose).complete(SUMMARY)

        builds = [threading.Thread(target=ask, args=("build", Purpose())) for _ in range(8)]
        for build in builds:
            build.start()
        until(lambda: server.in_flight == 4)
        thread = threading.Thread(target=ask, args=("answer", Purpose(urgent=True)))
        thread.start()
        until(lambda: endpoint._limiter._urgent_waiting)
        question_waits.set()
        for build in [*builds, thread]:
            build.join()
    # One that was sent after it may overtake it on the way.
    assert "answer" in [body["model"] for body in server.bodies[4:6]]
