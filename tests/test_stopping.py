"""Ctrl-C and a dead endpoint: `fabula ingest` ends soon, and says what is done and how to go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from endpoint import Endpoint, every
from endpoint.faults import Fault

STOPS_WITHIN = 2.0
"""Seconds from Ctrl-C to the prompt."""
GIVES_UP_WITHIN = 5.0
"""Seconds from the first call to the error."""
STORY = "\n\n".join(
    f"CHAPTER {number}\n\nElias lit lamp {number} at six. The sea was grey, and ship {number} "
    "came home before the storm. Marta wrote its name into the ledger."
    for number in range(1, 40)
)


def typed(url: str, *paths: Path) -> subprocess.Popen[str]:
    """`fabula ingest` in a process of its own."""
    # Whoever runs the tests in the background has them ignore Ctrl-C, and what they start, too.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from fabula.cli import run; run()"
    )
    command = [sys.executable, "-c", program, "ingest", *map(str, paths)]
    environment = os.environ | {
        "OPENAI_API_KEY": "any",
        "OPENAI_BASE_URL": url,
        "FABULA_EMBEDDING_MODEL": "wordllama-256",
    }
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def until(server: Endpoint, calls: int) -> None:
    """Waits for so many calls."""
    late = time.monotonic() + 30
    while server.calls < calls:
        assert time.monotonic() < late, "the endpoint was not called"
        time.sleep(0.01)


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text(STORY)
    return path


@pytest.mark.parametrize(
    "endpoint",
    [Endpoint(delay=60.0), Endpoint(plan=every(1, "rate_limit"), retry_after="300")],
    ids=["calls that hang", "a long wait that was asked for"],
)
def test_ctrl_c_stops_soon_and_says_what_is_done_and_how_to_go_on(
    graph_url: str, story: Path, endpoint: Endpoint
) -> None:
    with endpoint as server, typed(server.url, story) as process:
        until(server, 2)
        time.sleep(0.3)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert time.monotonic() - began < STOPS_WITHIN
    assert process.returncode == 130
    assert "Stopped. 0 documents are done, 1 was under way; 0 model replies were paid for" in said
    assert "run the same command again to go on." in said
    assert "Traceback" not in said


@pytest.mark.parametrize("fault", ["error", "cut"])
def test_an_endpoint_that_always_fails_stops_soon_with_one_line(
    graph_url: str, story: Path, fault: Fault
) -> None:
    with Endpoint(plan=every(1, fault)) as server, typed(server.url, story) as process:
        until(server, 1)
        began = time.monotonic()
        _, said = process.communicate(timeout=30)
        assert time.monotonic() - began < GIVES_UP_WITHIN
    assert process.returncode == 1
    # On a slow machine a line of progress may come before.
    *_, line = said.strip().splitlines()
    assert "Given up after 3 tries" in line
