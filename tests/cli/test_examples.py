"""The examples that end each command's help: all that need no model are run as they are typed."""

from __future__ import annotations

import re
import shlex
import shutil
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_help import commands

from epubs import epub
from fabula.cli import main
from fabula.cli.commands.demo import STORY
from fabula.cli.shared.help import Command

NOT_RUN = {
    "bench run": "asks models for hours",
    "bench report": "is of such a run",
    "db": "works on the private Neo4j, in tests/server/test_server_start.py and test_dumps.py",
    "init": "asks a model endpoint, in tests/cli/test_init.py",
    "facts --relation": "finds nothing without a model: tests/graphs/facts/test_facts_in_neo4j.py",
    'facts "A Christmas Carol" --name': "finds nothing without a model, as before",
    "ingest --retry": "has nothing to do without gaps, in tests/graph/test_gaps.py",
    "keys revoke": "is of a key that only the example has, in tests/service/test_service_access.py",
    "mcp": "serves until it is ended, in tests/service/test_service_mcp.py",
    "read 3": "is of a passage that the last answer cites, in tests/cli/test_cli.py",
    "reembed": "asks an embedding model, in tests/build/test_reembed.py",
    "serve": "serves until it is ended, in tests/service/test_service_up.py",
}
"""What an example begins with, and why it is not run here."""
LAST = ("drop", "remove", "cache clear")
"""What others need goes last."""


def examples() -> list[str]:
    """All examples of all commands, in an order in which each has what it needs."""
    found: list[str] = []
    for _, command in commands():
        assert isinstance(command, Command)
        found += command.examples
    kept = [one for one in found if not any(one.startswith(name) for name in NOT_RUN)]
    return sorted(kept, key=lambda one: (one.startswith(LAST), one != "demo"))


def test_what_is_not_run_is_there() -> None:
    told = [one for _, command in commands() for one in getattr(command, "examples", ())]
    assert [name for name in NOT_RUN if not any(one.startswith(name) for one in told)] == []


def test_every_example_runs(
    graph_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda *_: True)
    with resources.as_file(resources.files("fabula.texts") / STORY) as story:
        shutil.copy(story, "carol.txt")
    Path("book.epub").write_bytes(epub({"one.xhtml": "<p>Anna read a book.</p>"}))
    for name in ("tale.md", "novels/winter.txt"):
        file = Path(name)
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            f"Title: {file.stem}\n\n{file.stem.title()} was cold, and Anna read a book."
        )
    Path("question.txt").write_text("Who is Fred?")
    Path("questions.txt").write_text("Who is Fred?\n/quit\n")
    graphs = ("aspects", "entities", "communities", "discourse", "facts", "speech")
    run(f"ingest carol.txt {' '.join(f'--graph {name}' for name in graphs)}")
    # Another collection that an example asks.
    run("ingest novels/ --collection novels")
    run("ingest novels/ --collection trial")
    failed = {one: said for one in examples() if (said := run(one, code=None))}
    assert not failed, "\n".join(f"{one}: {said}" for one, said in failed.items())


def run(example: str, code: int | None = 0) -> str:
    """What an example said, if it failed; '' if it did not. It may be answered with yes."""
    typed, *ways = re.split(r" ([<>]) (\S+)$", example)
    given = Path(ways[1]).read_text() if ways[:1] == ["<"] else "y\n"
    done = CliRunner().invoke(main, shlex.split(typed), input=given)
    if code is not None:
        assert done.exit_code == code, f"{example}: {done.output}"
    return done.output[-600:] if done.exit_code else ""
