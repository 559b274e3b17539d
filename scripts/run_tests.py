"""Run the tests of each change, and again what failed: `run_tests.py`, which `make test` calls.

Those are the tests that need no server, those that are marked as a journey, a statement, a screen
or a kill, and those of what has changed within a day. `run_tests.py nightly` runs all.

At most three tests that failed run three times alone. If all of them pass, they failed by chance:
the run is green, says so, and writes them into a ledger, which is committed. A test that stands
there twice is not forgiven any more. The exit code is pytest's, or 1.
"""

from __future__ import annotations

import datetime
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from touched_tests import find_changed_files, find_touched_tests

# A worker that died is not replaced: another would meet the same test first, and die of it as well.
TOGETHER = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "--max-worker-restart", "0"]
TESTS = Path(__file__).parents[1] / "tests"
ALONE = [str(file) for file in TESTS.rglob("test_*.py") if "mark.alone" in file.read_text("utf-8")]
"""Only these are imported for what is alone: importing all takes half a minute."""
STAGES = (
    ["-m", "each_change and not alone", *TOGETHER],
    # What compares times has the machine to itself afterwards.
    ["-m", "each_change and alone", *ALONE],
)
"""The arguments of pytest's runs. Each is made, whatever came of the one before."""
OTHER_EXAMPLES = "--hypothesis-profile=nightly"
NIGHTLY_STAGES = (
    ["-m", "not alone", *TOGETHER, OTHER_EXAMPLES],
    ["-m", "alone", OTHER_EXAMPLES, *ALONE],
)

LEDGER = Path(".ci/by_chance.jsonl")
"""A line for each test that was forgiven: day, commit and id. Who mends the test removes them."""
LEDGER_DAYS = 30
MAX_FORGIVEN = 2
"""How often a test is forgiven in LEDGER_DAYS days."""
MAX_FAILED = 3
"""More failures than this are no chance."""
RERUNS = 3

FAILED, NO_TESTS = 1, 5
"""pytest's exit codes of a run in which tests failed, and of one that selects no test."""


def main(stages: Iterable[list[str]] = STAGES) -> int:
    """Run the stages, judge what failed in them, and return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "failures.txt"
        codes = {run_pytest(stage, failures=file) for stage in stages} - {0, NO_TESTS}
        failed = sorted(set(file.read_text("utf-8").splitlines())) if file.exists() else []
    print(f"{count_processor_seconds():,.0f} processor seconds")
    if not codes:
        return 0
    if codes != {FAILED}:
        # Interrupted, misused, or broken by an error of pytest's own: no test tells why.
        return max(codes)
    if problem := find_reason_for_red(failed):
        print(problem)
        return FAILED
    write_ledger(failed)
    for test in failed:
        print(f"BY CHANCE {test}: it passed {RERUNS} times alone. Mend it, and commit {LEDGER}.")
    return 0


def find_reason_for_red(failed: list[str]) -> str | None:
    """Return why the failures are real, having run the tests again, or None."""
    if not failed:
        return "pytest failed, and named no test that did: nothing is run again."
    if len(failed) > MAX_FAILED:
        return f"{len(failed)} tests failed: more than {MAX_FAILED} are not run again."
    forgiven = count_forgiven()
    for test in failed:
        if "::" not in test:
            return f"FAILED {test}: its tests could not be collected."
        if forgiven[test] >= MAX_FORGIVEN:
            return f"FAILED {test}: forgiven {forgiven[test]} times in {LEDGER_DAYS} days: mend it."
        for _ in range(RERUNS):
            if run_pytest(["-m", "", "-p", "no:cacheprovider", test]):
                return f"FAILED AGAIN {test}"
    return None


def count_forgiven() -> Counter[str]:
    """Return how often the ledger forgave each test lately."""
    since = str(today() - datetime.timedelta(LEDGER_DAYS))
    lines = LEDGER.read_text("utf-8").splitlines() if LEDGER.exists() else []
    entries = [json.loads(line) for line in lines]
    return Counter(entry["test"] for entry in entries if entry["day"] >= since)


def write_ledger(tests: list[str]) -> None:
    """Add a line for each of the tests."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    with LEDGER.open("a", encoding="utf-8") as ledger:
        for test in tests:
            ledger.write(json.dumps({"day": str(today()), "commit": commit, "test": test}) + "\n")


def run_pytest(arguments: list[str], failures: Path | None = None) -> int:
    """Run pytest, which writes the ids of failed tests into the file, and return its exit code."""
    sys.stdout.flush()
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(
        command, env=os.environ | {"FAILURES_FILE": str(failures or os.devnull)}, check=False
    ).returncode


def count_processor_seconds() -> float:
    """Return how long the processes of all runs, their servers included, kept a processor busy."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def today() -> datetime.date:
    """Return the day, by the clock of Greenwich."""
    return datetime.datetime.now(datetime.UTC).date()


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[1])
    os.environ["NIGHTLY_SEED"] = str(today().toordinal())
    os.environ["TOUCHED_TESTS"] = " ".join(find_touched_tests(find_changed_files()))
    sys.exit(main(NIGHTLY_STAGES if sys.argv[1:] == ["nightly"] else STAGES))
