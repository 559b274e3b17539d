"""Jobs give way to questions."""

from __future__ import annotations

import time

import pytest

from fabula.errors import Stopped
from fabula.jobs.giving_way import MAX_PAUSE_SECONDS, MIN_SLICE_SECONDS, GivingWay


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_a_job_pauses_in_proportion_to_its_work_while_a_question_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    questions = [1]
    stop = GivingWay(lambda: bool(questions))
    clock.now += 0.4
    stop.check()
    assert clock.slept.pop() == pytest.approx(0.2)
    # The pause itself is no work.
    clock.now += MIN_SLICE_SECONDS / 2
    stop.check()
    assert clock.slept.pop() == 0
    clock.now += 3600
    stop.check()
    assert clock.slept.pop() == MAX_PAUSE_SECONDS
    questions.clear()
    clock.now += 10
    stop.check()
    assert clock.slept.pop() == 0
    # What was done while nobody asked is not paid back.
    questions.append(1)
    stop.check()
    assert clock.slept.pop() == 0


def test_a_job_that_is_stopped_ends_at_once_or_after_its_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    stop = GivingWay(lambda: True)
    clock.now += 1
    monkeypatch.setattr(time, "sleep", lambda seconds: stop.set())
    with pytest.raises(Stopped):
        stop.check()
    monkeypatch.setattr(time, "sleep", clock.sleep)
    with pytest.raises(Stopped):
        stop.check()
    assert clock.slept == []
