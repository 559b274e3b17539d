"""What a build reports of itself: from its beginning to its end one of its steps is under way."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest

from endpoint import Endpoint
from fabula import Fabula
from fabula.build.outcome import Outcome
from fabula.models.progress import (
    BUILD,
    PHASES,
    PLAN,
    READ_FILE,
    READ_PREVIOUS,
    STORE,
    SWEEP,
    SWITCH,
    WAIT,
    Pace,
)
from fabula.models.usage import Usage
from fabula.store import Store
from fabula.store.locks import process_lock
from stories import harbour_story

pytestmark = pytest.mark.long


class Recorder:
    """A listener that knows of each document which steps it had, and if it was ever without one."""

    def __init__(self) -> None:
        self.documents: dict[str, RecordedSteps] = {}
        self.waits = threading.Event()

    def expect(self, sources: int) -> None:
        pass

    def begin(self, source: str) -> RecordedSteps:
        self.documents[Path(source).name] = steps = RecordedSteps(self.waits)
        return steps

    def end(self, outcome: Outcome) -> None:
        # Its last phase is over by now, and was the only one.
        steps = self.documents[Path(outcome.source).name]
        assert steps.idle_after.pop() in PHASES


class RecordedSteps:
    def __init__(self, waits: threading.Event) -> None:
        self.known, self.completed = Counter[str](), Counter[str]()
        self.idle_after: list[str] = []
        self.waits = waits
        self._lock = threading.Lock()

    def expect(self, step: str, count: int) -> None:
        with self._lock:
            self.known[step] += count
        if step == WAIT:
            self.waits.set()

    def done(self, step: str, usage: Usage) -> None:
        with self._lock:
            self.completed[step] += 1
            if self.completed == self.known:
                self.idle_after.append(step)


def test_a_document_is_never_without_a_step_from_its_file_to_the_sweep(
    online: None, endpoint: Endpoint, tmp_path: Path
) -> None:
    file, recorder = tmp_path / "a.txt", Recorder()
    for verb, kinds in (("slept", {SWITCH}), ("sang", {SWITCH, READ_PREVIOUS})):
        file.write_text(harbour_story(verb))
        with Fabula() as fabula:
            [outcome] = fabula.ingest(file, listener=recorder)
        assert not outcome.error
        steps = recorder.documents["a.txt"]
        assert steps.idle_after == []
        assert {*steps.known} & PHASES == {READ_FILE, PLAN, BUILD, STORE, SWEEP} | kinds
        assert steps.known == steps.completed
    # Each node of the former version is counted.
    assert steps.known[READ_PREVIOUS] > 10
    with Fabula() as fabula:
        fabula.ingest(file, listener=recorder)
        assert {*recorder.documents["a.txt"].known} == {READ_FILE, PLAN}
        fabula.build("entities", listener=recorder)
    assert {*recorder.documents["a.txt"].known} & PHASES == {
        *(PLAN, READ_PREVIOUS, BUILD, STORE, SWITCH, SWEEP)
    }


def test_who_waits_for_another_build_of_the_document_says_so(
    online: None, store: Store, tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(harbour_story("slept"))
    recorder = Recorder()
    with Fabula() as fabula:
        [document] = fabula.ingest(tmp_path / "a.txt", dry=True)
        with process_lock(store, [f"document {document.document}"]):
            paths = [tmp_path / f"{name}.txt" for name in "ab"]
            run = threading.Thread(target=lambda: fabula.ingest(*paths, listener=recorder))
            run.start()
            # For the lock, or for the other file of the same text, which has come first.
            assert recorder.waits.wait(120)
        run.join()
    assert all(not each.idle_after for each in recorder.documents.values())


def test_the_time_left_is_that_of_counted_work() -> None:
    pace = Pace()
    pace.expect(BUILD, 1)
    pace.expect("details", 10)
    assert pace.work() == (0, 10)
    for _ in range(10):
        pace.done("details")
    pace.expect("summaries", 4)
    # The calls of models before it count no more, though the build goes on.
    assert pace.seconds_left() is None
    pace.done("summaries")
    assert pace.seconds_left() is not None
