"""The examples that end each command's help: all that need no model are run as they are typed.

So are the commands of pages that explain commands on one book.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from book_files import epub
from cases import for_each
from fabula.cli import COMMANDS, find_commands, main
from fabula.cli.commands.demo import STORY
from fabula.cli.shared.help import Command
from fabula.config.settings import Settings
from modelled import build_with_a_model

pytestmark = pytest.mark.journey

DOCS = Path(__file__).parents[2] / "docs"
SCHEME = """{"type": "Annotation", "body": {"type": "TextualBody", "value": "irony"},
"target": {"selector": {"type": "TextQuoteSelector", "exact": "as dead as a door-nail"}}}"""
NOT_RUN = {
    "append": "needs a book that goes on, in tests/library/test_append.py",
    "bench run": "asks models for hours",
    "bench report": "is of such a run",
    "batches --cancel": "is of a batch under way, in tests/build/test_batches_in_doubt.py",
    "db": "works on the private Neo4j, in tests/server/test_server_start.py and test_dumps.py",
    "import": "of a collection that is there, in tests/export/test_whole_collection.py",
    "init": "asks a model endpoint, in tests/cli/test_init.py",
    "correct split John John": "needs two books with a John, in tests/graphs/entities",
    "facts --relation": "finds nothing without a model: tests/fabula_graphs/facts",
    'facts "A Christmas Carol" --name': "finds nothing without a model, as before",
    "ingest novels/ --workers": "starts processes, in tests/build/test_workers.py",
    "jobs show": "is of a job that only the example has, in tests/operations/test_jobs.py",
    "neighbours": "needs the id of a passage, in tests/operations",
    "passage": "needs the id of a passage, in tests/operations",
    "keys revoke": "is of a key that only the example has, in tests/service/test_service_access.py",
    "notes edit": "needs the id of a note, in tests/graphs/annotations",
    "notes remove": "needs the id of a note, in tests/graphs/annotations",
    "mcp": "serves until it is ended, in tests/service/test_service_mcp.py",
    "read 3": "is of the answer before it, in tests/cli/test_opening_passages.py",
    "renew": "needs the model that a graph was built with, in tests/library/test_renew.py",
    "reembed": "asks an embedding model, in tests/build/test_reembed.py",
    "serve": "serves until it is ended, in tests/service/test_service_up.py",
}
"""What an example begins with, and why it is not run here."""
PAGES = ("annotations", "browser", "concordance")
"""Pages of docs/ whose commands are run in their order, on the same books."""
LATER = ("annotations import", "annotations remove")
"""What needs the file that `annotations export` writes, in this order."""
LAST = ("drop", "remove", "cache clear")
"""What others need goes last."""


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by the words that name it."""
    context = click.Context(main)
    for name in (*COMMANDS, *find_commands()):
        command = main.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {one}", below) for one, below in command.commands.items())
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield name, command


def examples() -> list[str]:
    """All examples of all commands, in an order in which each has what it needs."""
    found: list[str] = []
    for _, command in commands():
        assert isinstance(command, Command)
        found += command.examples
    kept = [one for one in found if not any(one.startswith(name) for name in NOT_RUN)]
    later = {name: number for number, name in enumerate(LATER, 1)}
    return sorted(
        kept,
        key=lambda one: (
            one.startswith(LAST),
            one != "demo",
            next((number for name, number in later.items() if one.startswith(name)), 0),
        ),
    )


@pytest.mark.whole
@for_each(("name", "command"), [*commands()], ids=[name for name, _ in commands()])
def test_a_commands_examples_are_shown_and_can_be_typed(name: str, command: click.Command) -> None:
    assert isinstance(command, Command)
    shown = CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=80).output
    assert command.examples
    for example in command.examples:
        assert f"  fabula {example}\n" in shown
        assert example.startswith(name)
        typed = shlex.split(re.split(" [<>] ", example)[0])[len(name.split()) :]
        assert command.make_context(name, typed), "it parses"
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.whole
def test_what_is_not_run_is_there() -> None:
    told = [one for _, command in commands() for one in getattr(command, "examples", ())]
    assert [name for name in NOT_RUN if not any(one.startswith(name) for one in told)] == []


@pytest.mark.whole
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
    run("ingest carol.txt --graphs aspects,entities,episodes,speech")
    build_with_a_model(Settings.read(), "default")
    Path("alice.epub").write_bytes(epub({"one.xhtml": "<p>Alice followed a rabbit.</p>"}))
    run("ingest alice.epub")
    # Another collection that an example asks.
    run("ingest novels/ --collection novels")
    run("ingest novels/ --collection trial")
    Path("mine.cypher").write_text("MATCH (d:Document) RETURN d.title LIMIT $limit")
    Path("scheme.jsonld").write_text(SCHEME)
    Path("corpus.csv").write_text("file,genre\nwinter.txt,gothic\n")
    typed = [*commands_of_pages(), *examples()]
    failed = {one: output for one in typed if (output := run(one, code=None))}
    assert not failed, "\n".join(f"{one}: {said}" for one, said in failed.items())


def commands_of_pages() -> list[str]:
    """The commands of the blocks of PAGES, each without its comment."""
    blocks = [
        block
        for page in PAGES
        for block in re.findall(r"(?ms)^```(?:bash)?\n(.*?)^```", (DOCS / f"{page}.md").read_text())
    ]
    lines = [line for block in blocks for line in block.splitlines() if line[:7] == "fabula "]
    assert len(lines) > 30
    typed = [re.sub(r" {2,}#.*", "", line).removeprefix("fabula ").strip() for line in lines]
    return [each for each in typed if not each.startswith(tuple(NOT_RUN))]


def run(example: str, code: int | None = 0) -> str:
    """What an example said, if it failed; '' if it did not. It may be answered with yes."""
    typed, *ways = re.split(r" ([<>]) (\S+)$", example)
    given = Path(ways[1]).read_text() if ways[:1] == ["<"] else "y\n"
    done = CliRunner().invoke(main, shlex.split(typed), input=given)
    if code is not None:
        assert done.exit_code == code, f"{example}: {done.output}"
    return done.output[-600:] if done.exit_code else ""
