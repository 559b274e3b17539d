"""scripts/run_tests.py: what failed by chance is forgiven twice, what fails is red."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

import run_tests

SUPPORT = Path(__file__).parents[1] / "support"
BY_CHANCE = """
from pathlib import Path
def test_chance():
    runs = Path("runs")
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    assert len(runs.read_text()) > 1
"""
CHANCE = "test_toy.py::test_chance"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose tests report as ours do."""
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["run_reports"]\n')
    (tmp_path / ".ci").mkdir()
    return tmp_path


def run(toy: str, *arguments: str) -> int:
    """Run the tests of a file of the project, and return the exit code."""
    Path("runs").unlink(missing_ok=True)
    Path("test_toy.py").write_text(toy)
    return run_tests.main([["-p", "no:cacheprovider", *arguments]])


def ledger() -> list[str]:
    """The tests that were forgiven, in order."""
    file = run_tests.LEDGER
    return (
        [json.loads(line)["test"] for line in file.read_text().splitlines()]
        if file.exists()
        else []
    )


def test_what_failed_by_chance_is_forgiven_twice_and_then_red(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(BY_CHANCE) == 0
    assert f"BY CHANCE {CHANCE}: it passed 3 times alone" in capfd.readouterr().out
    assert run(BY_CHANCE, "-p", "xdist", "--numprocesses", "2") == 0
    assert ledger() == [CHANCE, CHANCE]
    assert run(BY_CHANCE) == 1
    assert f"FAILED {CHANCE}: forgiven 2 times in 30 days" in capfd.readouterr().out
    assert ledger() == [CHANCE, CHANCE]


def test_what_the_ledger_forgave_long_ago_is_forgotten() -> None:
    day = run_tests.today() - timedelta(run_tests.LEDGER_DAYS + 1)
    line = json.dumps({"day": str(day), "commit": "0", "test": CHANCE})
    run_tests.LEDGER.write_text(f"{line}\n{line}\n")
    assert run(BY_CHANCE) == 0


@pytest.mark.parametrize(
    "toy",
    [
        "def test_real(): assert False",
        # Twice at least: alone it passes, and then fails.
        BY_CHANCE.replace("> 1", "== 2"),
        # More than three are no chance.
        "".join(
            BY_CHANCE.replace("test_chance", f"test_{n}").replace('"runs"', f'"runs{n}"')
            for n in range(4)
        ),
        "import nothing_of_this_name",
        "import os\ndef test_ends(): os._exit(3)",
        "import pytest\ndef test_interrupted(): raise KeyboardInterrupt",
    ],
)
def test_a_failure_that_is_none_by_chance_is_red(toy: str) -> None:
    assert run(toy) > 0
    assert ledger() == []


def test_a_worker_that_died_is_red_though_its_test_would_pass_alone() -> None:
    """The tests that the worker had left did not run."""
    dies_once = BY_CHANCE.replace(
        "    assert len(runs.read_text()) > 1",
        "    if runs.read_text() == 'x': __import__('os')._exit(3)",
    )
    assert run(dies_once, "-p", "xdist", "--numprocesses", "2", "--max-worker-restart", "0") > 1
    assert ledger() == []


def test_what_passes_is_green_and_a_stage_without_tests_too() -> None:
    assert run("def test_right(): pass") == 0
    assert run("def test_right(): pass", "-k", "wrong") == 0


def test_a_skip_for_an_unknown_reason_is_red_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = "import pytest\ndef test_skipped(): pytest.skip('REASON')"
    monkeypatch.delenv("CI", raising=False)
    assert run(skipped) == 0
    monkeypatch.setenv("CI", "true")
    assert run(skipped) == 1
    assert run(skipped.replace("REASON", "root may read everything")) == 0
    assert run("import pytest\n@pytest.mark.xfail\ndef test_known(): assert False") == 0


def test_each_stage_runs_whatever_came_of_the_one_before(capfd: pytest.CaptureFixture[str]) -> None:
    Path("test_first.py").write_text("def test_first(): assert False")
    Path("test_second.py").write_text("def test_second(): assert False")
    assert run_tests.main([["test_first.py"], ["test_second.py"]]) == 1
    assert "FAILED test_second.py::test_second" in capfd.readouterr().out
