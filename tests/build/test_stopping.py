"""Ctrl-C and a dead endpoint: `fabula ingest` ends soon, and says what is done and how to go on."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from endpoint import Endpoint, every
from forked import Forked

pytestmark = pytest.mark.long

PATIENCE = 120.0
"""Seconds for what takes a few: a machine may have other work to do."""
STOPS_WITHIN = 25.0
"""Seconds from Ctrl-C to the prompt: one, and a minute or more where a call is waited for."""
GIVES_UP_WITHIN = 60.0
"""Seconds from the first call to the error: two. That there are three tries is in its words."""
STORY = "\n\n".join(
    f"CHAPTER {number}\n\nElias lit lamp {number} at six. The sea was grey, and ship {number} "
    "came home before the storm. Marta wrote its name into the ledger."
    for number in range(1, 40)
)


def typed(url: str, path: Path) -> Forked:
    """`fabula ingest` in a process of its own."""
    environment = os.environ | {
        "OPENAI_API_KEY": "any",
        "OPENAI_BASE_URL": url,
        "FABULA_EMBEDDING_MODEL": "wordllama-256",
    }
    return Forked(path.with_name("said"), "ingest", path, environment=environment)


def until(server: Endpoint, calls: int) -> None:
    """Waits for so many calls."""
    late = time.monotonic() + PATIENCE
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
    with endpoint as server:
        process = typed(server.url, story)
        # One is enough: where it is told to wait, no other call may begin before it has waited.
        until(server, 1)
        time.sleep(0.3)
        began = time.monotonic()
        process.interrupt()
        assert process.wait(PATIENCE) == 130
        assert time.monotonic() - began < STOPS_WITHIN
    output = process.output
    assert "Stopped. 0 documents are done, 1 was under way; 0 model replies were paid for" in output
    assert "run the same command again to continue." in output
    assert "Traceback" not in output


def test_an_endpoint_that_always_fails_stops_soon_with_one_line(
    graph_url: str, story: Path
) -> None:
    with Endpoint(plan=every(1, "error")) as server:
        process = typed(server.url, story)
        until(server, 1)
        began = time.monotonic()
        assert process.wait(PATIENCE) == 1
        assert time.monotonic() - began < GIVES_UP_WITHIN
    # On a slow machine a line of progress may come before.
    *_, line = process.output.strip().splitlines()
    assert "Given up after 3 tries" in line
