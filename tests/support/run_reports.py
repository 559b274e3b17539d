"""What a run tells of its tests: failures when they happen, their ids in a file, and CI's skips."""

from __future__ import annotations

import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

SKIPPED_IN_CI = (
    "root may ",  # CI is root, and such a test is about people who are not.
    "a small disk can't be mounted here",  # CI's machine may not allow it.
    "the library ragas",  # It needs an older langchain than the tests of other readers.
    "the model MiniLM",  # The package that brings it is no requirement of CI's.
)
"""How the reasons begin for which CI may skip a test. Any other is of a test that CI should run."""


def pytest_configure(config: pytest.Config) -> None:
    """Tell of failures in the process that has the terminal."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(config), "failures-at-once")


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell how many tests of each layer ran, and for how long."""
    tests, seconds = Counter[str](), defaultdict[str, float](float)
    for report in itertools.chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            layer = dict(report.user_properties).get("layer", "")
            tests[str(layer)] += report.when == "call"
            seconds[str(layer)] += report.duration
    for layer, count in tests.most_common():
        terminalreporter.write_line(f"{layer}: {count:,} tests, {seconds[layer]:,.0f} s")


class FailuresAtOnce:
    """Prints a failure when it happens: a run that is ended from outside prints none at its end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.worker_died = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._write(report.nodeid)
            terminal: Any = self.config.pluginmanager.get_plugin("terminalreporter")
            terminal.write_line("")
            terminal.write_line(f"FAILED {report.nodeid} ({report.when}, {report.duration:.0f} s)")
            terminal.write_line(report.longreprtext[-3_000:])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        self.worker_died = self.worker_died or error is not None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.worker_died:
            # The tests that it had left did not run: one failure is not all there is to tell.
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _write(self, test: str) -> None:
        # For scripts/run_tests.py.
        if file := os.environ.get("FAILURES_FILE"):
            with Path(file).open("a", encoding="utf-8") as failures:
                failures.write(f"{test}\n")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that CI skips for a reason that is not on the list."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if not reason.startswith(SKIPPED_IN_CI):
            report.outcome = "failed"
            report.longrepr = f"CI has to run this test, and skipped it: {reason}"
    return report
