"""What is shown of work while it goes on: bars on a terminal, lines in a pipe."""

from __future__ import annotations

import io
import re
import time
from contextlib import redirect_stdout

import pytest

from fabula.build.outcome import Outcome
from fabula.cli.shared import progress
from fabula.cli.shared.progress import BuildProgress
from fabula.errors import FabulaError
from fabula.models.usage import Usage


class Terminal(io.StringIO):
    """What a terminal is sent."""

    def isatty(self) -> bool:
        return True

    def output(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.getvalue())


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terminals are of 120 columns."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


def failed(source: str) -> Outcome:
    return Outcome(source, "failed", error=FabulaError("no such file"))


def test_a_step_on_a_terminal_is_a_bar_that_goes_when_it_is_done() -> None:
    with redirect_stdout(Terminal()) as terminal, BuildProgress() as progress:
        progress.expect(2)
        steps = progress.begin("books/winter.txt")
        steps.expect("chunks", 1)
        steps.expect("chunks", 2)
        steps.done("chunks", Usage(7))
        progress.bars.refresh()
        assert re.search(r"documents .* 0/2", terminal.output())
        assert re.search(r"winter.txt: chunks .* 1/3 .* 7 calls", terminal.output())
        steps.done("chunks", Usage(8))
        steps.done("chunks", Usage(9))
        # After this nothing is written any more that was drawn before the bar went.
        progress.bars.refresh()
        terminal.truncate(0)
        progress.bars.refresh()
        assert "chunks" not in terminal.output()
        progress.end(failed("books/winter.txt"))
        progress.bars.refresh()
        assert re.search(r"documents .* 1/2", terminal.output())
    assert "failed     no such file" in terminal.output()


def test_the_bars_of_a_document_that_failed_go_too() -> None:
    with redirect_stdout(Terminal()) as terminal, BuildProgress() as progress:
        progress.begin("winter.txt").expect("chunks", 3)
        progress.end(failed("winter.txt"))
        progress.bars.refresh()
        terminal.truncate(0)
        progress.bars.refresh()
        assert "chunks" not in terminal.output()


def test_a_bar_that_is_to_stay_stays() -> None:
    with redirect_stdout(Terminal()) as terminal, BuildProgress(keep_steps=True) as progress:
        steps = progress.begin("tree")
        steps.expect("texts", 1)
        steps.done("texts", Usage())
    assert re.search(r"tree: texts .* 1/1", terminal.output().splitlines()[-1])


def test_where_there_is_no_terminal_a_line_now_and_then_says_all_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with BuildProgress() as one:
        one.expect(2)
        steps = one.begin("books/winter.txt")
        steps.expect("chunks", 4)
        steps.expect("summaries", 2)
        steps.done("chunks", Usage())
        assert capsys.readouterr().out == "2 documents\n"
        monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
        steps.done("chunks", Usage(1, 5, 2))
        assert re.fullmatch(
            r"winter.txt: chunks 2/4, summaries 0/2; 1 call, .* tokens; about \d+ s left of these",
            capsys.readouterr().err.strip(),
        )
        one.end(failed("books/winter.txt"))
    assert capsys.readouterr().out == "failed     no such file\n"


def test_what_will_not_happen_is_not_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    with BuildProgress() as one:
        steps = one.begin("winter.txt")
        steps.expect("details", 0)
        steps.expect("summaries", 2)
        steps.done("summaries", Usage())
    assert capsys.readouterr().err.startswith("winter.txt: summaries 1/2;")


def test_the_time_left_is_told_by_the_pace_of_what_is_under_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    with BuildProgress() as progress:
        steps = progress.begin("winter.txt")
        steps.expect("summaries", 4)
        for _ in range(4):
            clock.now += 30
            steps.done("summaries", Usage())
        assert "about 30 s left" in capsys.readouterr().err
        steps.expect("write", 100)
        for _ in range(50):
            clock.now += 0.5
            steps.done("write", Usage())
        told = re.findall(r"write (\d+)/100; about (\d+) s left", capsys.readouterr().err)
    assert told == [("20", "40"), ("40", "30")]


def test_in_a_pipe_what_is_to_stay_has_a_line_when_it_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with BuildProgress(keep_steps=True) as progress:
        steps = progress.begin("tree")
        steps.expect("texts", 2)
        steps.done("texts", Usage())
        steps.done("texts", Usage())
    assert capsys.readouterr().err == "tree: texts 2/2\n"


def test_whoever_stops_is_told_how_far_it_was() -> None:
    with BuildProgress() as progress:
        for number, source in enumerate(("a", "b", "c")):
            steps = progress.begin(source)
            steps.expect("chunks", 1)
            steps.done("chunks", Usage(number))
        progress.end(failed("a"))
    assert progress.so_far() == (
        "1 document is done, 2 were under way; 3 model replies were paid for"
    )
