"""A reader who leaves ends what is asked of the model for them, from whatever thread they leave."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from endpoint import Endpoint, every
from fabula import Fabula, Stop, Stopped
from fabula.ask.answer import AnswerStream
from fabula.models import Reply
from fabula.models.counted import Meter
from fabula.models.endpoint.openai import OpenAIChat
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.purpose import Purpose
from reach import SUMMARY, reach

pytestmark = pytest.mark.slow

SOON = 10.0
"""Seconds from leaving to the end of everything: a hundredth of one, and half a minute or more
where nobody is told."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def event(text: str) -> bytes:
    delta = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return b"data: " + json.dumps(delta).encode() + b"\n\n"


@dataclass
class Endless:
    """Streams that never end; when whoever reads one has hung up is noted."""

    says: bytes = event("a ")
    """Again and again; a comment of the stream's is nothing to read."""
    hung_up: list[float] = field(default_factory=list)

    def __call__(self, number: int, body: dict[str, Any]) -> Iterator[bytes | float] | None:
        return self._stream() if body.get("stream") else None

    def _stream(self) -> Iterator[bytes | float]:
        try:
            yield HEAD + event("It was ")
            while True:
                yield self.says
                yield 0.02
        finally:
            self.hung_up.append(time.monotonic())


@dataclass
class Reader:
    """Reads an answer in a thread of its own."""

    stream: AnswerStream
    pieces: list[str] = field(default_factory=list)
    failure: BaseException | None = None

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        try:
            self.pieces.extend(self.stream)
        except BaseException as error:  # noqa: BLE001  the test is told
            self.failure = error

    def leave(self) -> float:
        """Closes the answer from here; when, once the thread has ended. Fails where it does not."""
        left = time.monotonic()
        self.stream.close()
        self._thread.join(SOON)
        assert not self._thread.is_alive()
        return left


def until(true: Callable[[], object]) -> None:
    late = time.monotonic() + 60
    while not true():
        assert time.monotonic() < late
        time.sleep(0.005)


def answer(chat: Callable[[Purpose], OpenAIChat]) -> AnswerStream:
    stop = Stop()
    pieces = chat(Purpose(urgent=True, stop=stop)).stream(SUMMARY)
    return AnswerStream("Who?", (), (), pieces, Meter(), stop=stop)


@pytest.mark.parametrize("says", [event("a "), b": still here\n\n"], ids=["text", "nothing"])
def test_a_call_is_closed_soon_after_its_reader_has_left(says: bytes) -> None:
    endless = Endless(says)
    with Endpoint(raw=endless) as server:
        endpoint = reach(server.url, limit=1)
        reader = Reader(answer(lambda purpose: OpenAIChat(endpoint, "m", purpose=purpose)))
        until(lambda: reader.stream.text)
        left = reader.leave()
        until(lambda: endless.hung_up)
        assert endless.hung_up[0] - left < SOON
        assert reader.failure is None
        assert reader.stream.text.startswith("It was")
        # Its turn, the only one, is free.
        assert OpenAIChat(endpoint, "m").complete(SUMMARY).text
        assert time.monotonic() - left < 2 * SOON


def test_a_reader_who_leaves_in_their_own_thread_closes_the_call_as_well() -> None:
    endless = Endless(b": still here\n\n")
    with Endpoint(raw=endless) as server:
        endpoint = reach(server.url)
        stream = answer(lambda purpose: OpenAIChat(endpoint, "m", purpose=purpose))
        assert next(iter(stream)) == "It was "
        left = time.monotonic()
        stream.close()
        until(lambda: endless.hung_up)
        assert endless.hung_up[0] - left < SOON
        assert stream.answer.text == "It was"


def wait_for_the_first_byte(server: Endpoint) -> None:
    server.delay = 30.0


def wait_to_try_again(server: Endpoint) -> None:
    server.plan, server.retry_after = every(1, "rate_limit"), "300"


@pytest.mark.parametrize("wait", [wait_for_the_first_byte, wait_to_try_again])
def test_a_reader_need_not_wait_for_a_call_that_has_not_begun_to_answer(
    wait: Callable[[Endpoint], None],
) -> None:
    with Endpoint() as server:
        wait(server)
        endpoint = reach(server.url, timeout=60.0)
        reader = Reader(answer(lambda purpose: OpenAIChat(endpoint, "m", purpose=purpose)))
        until(lambda: server.calls)
        time.sleep(0.1)
        reader.leave()
        assert (reader.failure, reader.pieces, server.calls) == (None, [], 1)


def test_a_reader_need_not_wait_for_a_turn() -> None:
    has_left = threading.Event()

    def hold(*_: object) -> None:
        has_left.wait(60)

    with Endpoint(raw=hold) as server:
        endpoint = reach(server.url, limit=1)
        other = threading.Thread(target=OpenAIChat(endpoint, "m").complete, args=(SUMMARY,))
        other.start()
        until(lambda: server.calls)
        reader = Reader(answer(lambda purpose: OpenAIChat(endpoint, "m", purpose=purpose)))
        time.sleep(0.1)
        reader.leave()
        has_left.set()
        other.join()
        assert (reader.failure, server.calls) == (None, 1)


def test_an_answer_of_many_calls_side_by_side_ends_with_all_of_them() -> None:
    workers = Workers(4)
    with Endpoint(delay=30.0) as server:
        endpoint, stop = reach(server.url, timeout=60.0), Stop()
        chat = OpenAIChat(endpoint, "m", purpose=Purpose(urgent=True, stop=stop))

        def pieces() -> Iterator[Reply]:
            with TaskGroup(workers) as job:
                yield from job.each(
                    0, chat.complete, [replace(SUMMARY, sample=n) for n in range(9)]
                )

        reader = Reader(AnswerStream("Who?", (), (), pieces(), Meter(), stop=stop))
        until(lambda: server.calls == 4)
        reader.leave()
        assert (reader.failure, server.calls) == (None, 4)
        workers.join()
    workers.close()


def test_a_stop_from_outside_is_told_as_a_part_is_no_answer() -> None:
    with Endpoint(raw=Endless()) as server:
        endpoint, stop = reach(server.url), Stop()
        chat = OpenAIChat(endpoint, "m", purpose=Purpose(urgent=True, stop=stop))
        stream = AnswerStream("Who?", (), (), chat.stream(SUMMARY), Meter(), stop=stop)
        pieces = iter(stream)
        assert next(pieces) == "It was "
        stop.set()
        with pytest.raises(Stopped):
            list(pieces)
        with pytest.raises(Stopped):
            _ = stream.answer


def test_a_question_is_left_at_every_moment_of_its_answer(
    online: None, endpoint: Endpoint, story: Path
) -> None:
    with Fabula() as fabula:
        fabula.ingest(story)
        endless = Endless()
        endpoint.raw = endless
        reader = Reader(fabula.stream("Where did Anna walk?"))
        until(lambda: reader.stream.text)
        left = reader.leave()
        until(lambda: endless.hung_up)
        assert endless.hung_up[0] - left < SOON
        assert reader.failure is None
        assert reader.stream.answer.usage["answer"].calls == 1
        endpoint.delay = 30.0
        stop = Stop()
        threading.Timer(0.2, stop.set).start()
        began = time.monotonic()
        with pytest.raises(Stopped):
            fabula.retrieve("Which of them was never asked before?", stop=stop)
        assert time.monotonic() - began < 0.2 + SOON
