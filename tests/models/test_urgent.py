"""What somebody waits for goes before a build, over HTTP and in real threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from endpoint import Endpoint
from fabula.models.openai import OpenAIChat
from fabula.models.purpose import Purpose
from reach import SUMMARY, reach

pytestmark = [pytest.mark.long, pytest.mark.waits]

DELAY = 0.3
AT_ONCE = 8
SLOWER = 1.5


@contextmanager
def saturated(chat: OpenAIChat, at_once: int) -> Iterator[None]:
    """Meanwhile a build asks as much as it may: twice as many threads as there are turns."""
    over = threading.Event()

    def build(number: int) -> None:
        sample = 0
        while not over.is_set():
            sample += 1
            chat.complete(replace(SUMMARY, sample=1000 * number + sample))

    threads = [threading.Thread(target=build, args=(number,)) for number in range(2 * at_once)]
    for one in threads:
        one.start()
    time.sleep(2 * DELAY)
    try:
        yield
    finally:
        over.set()
        for one in threads:
            one.join()


def seconds(chat: OpenAIChat, times: int) -> list[float]:
    """How long each of so many streamed answers took."""
    took = []
    for _ in range(times):
        began = time.monotonic()
        assert list(chat.stream(SUMMARY))
        took.append(time.monotonic() - began)
    return took


def test_an_answer_hardly_waits_for_a_build_that_asks_all_it_may() -> None:
    # On a busy machine some answer waits for a core, which is no turn: the best of three rounds.
    rounds = (beside_a_build() for _ in range(3))
    # What builds leave free is the reserve, and no more.
    assert any(slower <= SLOWER and built >= 0.5 for slower, built in rounds)


def beside_a_build() -> tuple[float, float]:
    """How much longer 95 of 100 answers take at most while a build asks all it may, and the share
    that it had of the turns that are no reserve."""
    with Endpoint(delay=DELAY) as server:
        endpoint = reach(server.url, limit=AT_ONCE)
        asking = OpenAIChat(endpoint, "m", purpose=Purpose(urgent=True))
        idle = np.percentile(seconds(asking, 8), 95)
        with saturated(OpenAIChat(endpoint, "m"), AT_ONCE):
            answered, began = server.calls, time.monotonic()
            loaded = np.percentile(seconds(asking, 16), 95)
            built = (server.calls - answered) / (time.monotonic() - began)
        assert server.in_flight_most <= AT_ONCE
        return float(loaded / idle), built / ((AT_ONCE - AT_ONCE // 8) / DELAY)


def test_a_build_alone_has_all_turns() -> None:
    with Endpoint(delay=DELAY) as server:
        with saturated(OpenAIChat(reach(server.url, limit=AT_ONCE), "m"), AT_ONCE):
            pass
        assert server.in_flight_most == AT_ONCE


@pytest.mark.parametrize("limit", [1, 2])
def test_a_build_goes_on_where_the_endpoint_takes_few_calls(limit: int) -> None:
    with Endpoint(delay=0.01) as server:
        endpoint = reach(server.url, limit=limit)
        seconds(OpenAIChat(endpoint, "m", purpose=Purpose(urgent=True)), 1)
        assert OpenAIChat(endpoint, "m").complete(SUMMARY).text


def test_an_answer_is_the_first_once_an_endpoint_that_refused_opens_again() -> None:
    with Endpoint(plan=lambda call: "rate_limit" if call <= 4 else None, retry_after="1") as server:
        endpoint = reach(server.url, limit=4)
        done: list[str] = []

        def ask(name: str, purpose: Purpose) -> None:
            OpenAIChat(endpoint, name, purpose=purpose).complete(SUMMARY)
            done.append(name)

        builds = [threading.Thread(target=ask, args=("build", Purpose())) for _ in range(8)]
        for one in builds:
            one.start()
        while server.refused < 4:
            time.sleep(0.01)
        asked = threading.Thread(target=ask, args=("answer", Purpose(urgent=True)))
        asked.start()
        for one in [*builds, asked]:
            one.join()
        # One that was sent before may still come in.
        assert "answer" in done[:2]
