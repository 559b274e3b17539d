"""A stream is read ahead of its reader; who asks what is being asked waits, and pays nothing."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from endless import answer_for_ever
from endpoint import Endpoint
from fabula.errors import ModelError, Stopped
from fabula.models import Prompt, Reply, read_ahead
from fabula.models.cache import ResponseCache
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from keeping import ASKED, KEY, cached_chat
from reach import SUMMARY, chat

PATIENCE = 60.0
"""Seconds for what takes none: against what never ends."""


class Slow:
    """A chat that streams its pieces as it is told to, and may fail the first time."""

    def __init__(self, *pieces: str, failures: int = 0) -> None:
        self.pieces, self.failures, self.calls = pieces, failures, 0
        self.begun, self.go_on = threading.Event(), threading.Event()

    def complete(self, prompt: Prompt) -> Reply:
        raise NotImplementedError

    def stream(self, prompt: Prompt) -> Generator[Reply]:
        self.calls += 1
        fails = self.calls <= self.failures
        if not fails:
            yield Reply(self.pieces[0])
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        if fails:
            raise ModelError("The endpoint hung up.")
        for piece in self.pieces[1:]:
            yield Reply(piece)
        yield Reply("", 5, 2)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        raise NotImplementedError


def text(pieces: Iterator[Reply]) -> str:
    return "".join(piece.text for piece in pieces)


def test_four_who_ask_the_same_at_once_pay_one_streamed_call(cache: ResponseCache) -> None:
    meters = [Meter() for _ in range(4)]
    with Endpoint(delay=0.5, between=0.02) as server, ThreadPoolExecutor(4) as threads:
        model = chat(server)

        def read(meter: Meter) -> str:
            return text(cached_chat(model, cache, server.url, "m", meter).stream(SUMMARY))

        texts = list(threads.map(read, meters))
        assert server.calls == 1
    assert len({*texts}) == 1
    assert texts[0]
    totals = [meter.total() for meter in meters]
    assert sorted(total.calls for total in totals) == [0, 0, 0, 1]
    assert sorted(total.saved for total in totals) == [0, 1, 1, 1]
    # What the call took is known to all of them, whoever paid.
    assert (
        len({(total.uncached.prompt_tokens, total.uncached.completion_tokens) for total in totals})
        < 3
    )


def test_an_answer_costs_one_thread(cache: ResponseCache) -> None:
    with Endpoint(between=0.2) as server:
        before = {*threading.enumerate()}
        pieces = cached_chat(chat(server), cache, server.url).stream(SUMMARY)
        next(pieces)
        ours = [one.name for one in {*threading.enumerate()} - before if "fabula" in one.name]
        assert ours == ["fabula-read-ahead"]
        text(pieces)


def test_where_the_first_reader_leaves_another_asks(cache: ResponseCache) -> None:
    slow = Slow("Marley ", "is dead.")
    payer, other = Meter(), Meter()
    first = cached_chat(slow, cache, meter=payer).stream(ASKED)
    next(first)
    with ThreadPoolExecutor(1) as threads:
        second = threads.submit(text, cached_chat(slow, cache, meter=other).stream(ASKED))
        slow.go_on.set()
        assert isinstance(first, Generator)
        first.close()
        assert second.result(PATIENCE) == "Marley is dead."
    assert payer.total().calls == 1
    assert (other.total().calls, other.total().saved) in {(1, 0), (0, 1)}
    assert cache.reply(KEY) == Reply("Marley is dead.", 5, 2, cached=True)


def test_where_the_call_fails_one_of_the_others_asks(cache: ResponseCache) -> None:
    slow = Slow("Marley ", "is dead.", failures=1)
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(text, cached_chat(slow, cache).stream(ASKED))
        assert slow.begun.wait(PATIENCE)
        others = [threads.submit(text, cached_chat(slow, cache).stream(ASKED)) for _ in range(3)]
        slow.go_on.set()
        with pytest.raises(ModelError, match="hung up"):
            first.result(PATIENCE)
        assert {other.result(PATIENCE) for other in others} == {"Marley is dead."}
    assert slow.calls == 2


def test_who_leaves_ends_the_call(cache: ResponseCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "LEAVE_SECONDS", PATIENCE)
    with Endpoint(raw=answer_for_ever) as server:
        meter = Meter()
        pieces = cached_chat(chat(server), cache, server.url, "m", meter).stream(SUMMARY)
        next(pieces)
        assert isinstance(pieces, Generator)
        pieces.close()
    assert meter.total().calls == 1, "what came is counted when the reader has left"


@pytest.mark.parametrize("streamed", [True, False])
def test_who_waits_for_anothers_call_hears_stop(cache: ResponseCache, streamed: bool) -> None:
    stop = Stop()
    waiting = cached_chat(Slow("Marley."), cache, stop=stop)

    def ask() -> None:
        if streamed:
            text(waiting.stream(ASKED))
        else:
            waiting.complete(ASKED)

    with cache.lock([KEY]), ThreadPoolExecutor(1) as threads:
        future = threads.submit(ask)
        stop.set()
        with pytest.raises(Stopped):
            future.result(PATIENCE)
