"""A run that is stopped ends within a call, and the next one goes on from there."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from endpoint import Endpoint
from fabula import App, Budget, BudgetSpent, Fabula, Outcome, Stop, Stopped
from stories import winter_story

DELAY = 0.2
AT_ONCE = 4
PATIENCE = 120.0
"""Seconds for what takes a few: a machine may have other work to do."""


@pytest.fixture
def endpoint(graph_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint(delay=DELAY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("FABULA_CHUNK_TOKENS", "48")
        monkeypatch.setenv("FABULA_CONCURRENCY", str(AT_ONCE))
        yield server


def books(folder: Path, *kinds: str) -> list[Path]:
    paths = [folder / f"{kind}.txt" for kind in kinds]
    for path, kind in zip(paths, kinds, strict=True):
        path.write_text(winter_story(kind))
    return paths


def until(server: Endpoint, calls: int) -> None:
    late = time.monotonic() + PATIENCE
    while server.calls < calls:
        assert time.monotonic() < late, "the endpoint was not called"
        time.sleep(0.005)


def paid_twice(server: Endpoint) -> list[str]:
    bodies = [json.dumps(body, sort_keys=True) for body in server.bodies]
    return [one[:200] for one in sorted({*bodies}) if bodies.count(one) > 1]


def asked(server: Endpoint) -> int:
    """How many calls to a chat model there were."""
    return sum("messages" in body for body in server.bodies)


def told(outcomes: list[Outcome]) -> int:
    """How many of them a run counted."""
    steps = [step for outcome in outcomes for step in outcome.steps.items()]
    return sum(usage.calls for name, usage in steps if name != "embeddings")


def statuses(outcomes: list[Outcome]) -> list[str]:
    return [outcome.status for outcome in outcomes]


def test_a_stopped_ingest_ends_within_a_call_and_goes_on_without_paying_twice(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    shelf = books(tmp_path, "cold", "warm")
    with Fabula() as fabula, ThreadPoolExecutor(1) as pool:
        stop = Stop()
        run = pool.submit(fabula.ingest, *shelf, stop=stop)
        until(endpoint, 30)
        stop.set()
        at_the_stop = endpoint.calls
        outcomes = run.result(timeout=PATIENCE)
        assert endpoint.calls <= at_the_stop + AT_ONCE, "those that were on their way"
        assert statuses(outcomes) == ["stopped"] * len(shelf)
        assert [Path(outcome.source) for outcome in outcomes] == shelf
        assert endpoint.in_flight == 0
        calls = endpoint.calls
        time.sleep(2 * DELAY)
        assert endpoint.calls == calls, "nothing is begun any more"
        assert fabula.space() is None or not list(fabula.documents())
        endpoint.delay = 0.0
        assert statuses(fabula.ingest(*shelf)) == ["added"] * len(shelf)
        assert not fabula.check().violations
    assert not paid_twice(endpoint)


def test_calls_that_are_under_way_at_a_stop_are_paid_for_and_counted(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """At most of these moments several steps have some, and none waits for the others'."""
    shelf = books(tmp_path, "cold", "warm")
    with Fabula(cache=False) as fabula, ThreadPoolExecutor(1) as pool:
        for calls in (41, 44, 47, 56):
            before, begun, stop = asked(endpoint), endpoint.calls, Stop()
            run = pool.submit(fabula.ingest, *shelf, stop=stop)
            until(endpoint, begun + calls)
            stop.set()
            assert told(run.result(timeout=PATIENCE)) == asked(endpoint) - before


def test_calls_that_are_under_way_when_a_document_fails_are_counted_too(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.withheld = {("cold",): "refusal"}
    with Fabula(cache=False) as fabula:
        outcomes = fabula.ingest(*books(tmp_path, "cold"), strict=True)
    assert statuses(outcomes) == ["failed"]
    assert told(outcomes) == asked(endpoint)


def stop_at_thirty(stop: Stop, call: int) -> None:
    if call >= 30:
        stop.set()


def test_a_stop_touches_no_other_run_and_no_question(endpoint: Endpoint, tmp_path: Path) -> None:
    [cold, warm] = books(tmp_path, "cold", "warm")
    endpoint.delay = 0.02
    with App() as app, ThreadPoolExecutor(3) as pool:
        here, there = app.collection("here"), app.collection("there")
        stop = Stop()
        other = pool.submit(there.ingest, warm)
        until(endpoint, 10)
        # Its thirtieth call stops it, before it is answered.
        endpoint.plan = lambda call: stop_at_thirty(stop, call)
        run = pool.submit(here.ingest, cold, stop=stop)
        assert statuses(run.result(timeout=PATIENCE)) == ["stopped"]
        assert statuses(other.result(timeout=PATIENCE)) == ["added"]
        assert there.query("Who walked?").text
        assert statuses(there.build("entities", stop=stop)) == ["stopped"]
        with pytest.raises(Stopped):
            there.reembed(stop=stop)


def test_a_run_that_was_stopped_before_it_began_asks_nothing(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    shelf, stop = books(tmp_path, "cold", "warm"), Stop()
    stop.set()
    with Fabula() as fabula:
        assert statuses(fabula.ingest(*shelf, stop=stop)) == ["stopped", "stopped"]
    assert endpoint.calls == 0


def test_a_budget_of_ones_own_ends_that_run_alone(endpoint: Endpoint, tmp_path: Path) -> None:
    [cold, warm] = books(tmp_path, "cold", "warm")
    endpoint.delay = 0.02
    is_over, number = threading.Event(), itertools.count()

    def hold_one(_: int, body: dict[str, Any]) -> None:
        # The other run lasts longer: one of its calls is answered after the end of this run.
        if "warm" in str(body.get("messages", "")) and next(number) == 5:
            is_over.wait(PATIENCE)

    endpoint.raw = hold_one
    with App() as app, ThreadPoolExecutor(1) as pool:
        key = Budget(tokens=20_000, refusal=lambda spent: f"{spent:,} of 20,000 tokens")
        other = pool.submit(app.collection("there").ingest, warm)
        until(endpoint, 10)
        here = app.collection("here", budget=key)
        with pytest.raises(BudgetSpent, match=r"[\d,]+ of 20,000 tokens") as refused:
            here.ingest(cold)
        # Both may be over the budget by the calls that were under way, and what it tells of by
        # those that the end of the run then left unanswered.
        refused_at = int(str(refused.value).split(" of ")[0].split()[-1].replace(",", ""))
        assert 15_000 < refused_at < 22_000
        assert 15_000 < key.tokens < 22_000
        assert not other.done(), "its run was not waited for"
        is_over.set()
        assert statuses(other.result(timeout=PATIENCE)) == ["added"]
        spent = app.collection("there", budget=Budget(calls=1, refusal=lambda _: "one call a day"))
        with pytest.raises(BudgetSpent, match="one call a day"):
            _ = spent.query("Who walked to the mill, and why?").text
        assert app.collection("there").query("Who walked to the mill, and why?").text
