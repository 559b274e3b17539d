"""Help: what a command can do, in groups, with values in force and examples that work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from cases import for_each
from fabula.cli import main
from fabula.cli.commands import query as query_command
from fabula.config.settings import Settings
from fabula.graphs.aspects.sets import read_aspects
from stories import harbour_story


def flags(shown: str) -> set[str]:
    return set(re.findall(r"^  (--[\w-]+)", shown, re.MULTILINE))


def help_of(*words: str) -> str:
    result = CliRunner().invoke(main, [*words, "--help"], terminal_width=80)
    assert result.exit_code == 0, result.output
    return result.output


def test_an_action_that_there_is_not_is_refused_with_the_nearest() -> None:
    result = CliRunner().invoke(main, ["jobs", "paus", "x"])
    assert result.exit_code == 2
    assert "Did you mean 'pause'?" in result.output
    # Whoever knows `fabula keys list` and `history list` types it here, too.
    assert "List the jobs of the service" in help_of("jobs", "list")


@for_each(
    ("typed", "offered"),
    [
        (["ser"], {"serve"}),
        (["jobs", "re"], {"resume"}),
        (["jobs", ""], {"list", "show", "resume", "pause", "cancel"}),
        (["history", "l"], {"list"}),
        (["query", "--until"], {"--until"}),
        (["query", "--top"], {"--top-k"}),
        (["db", "st"], {"start", "status", "stop"}),
    ],
)
def test_a_shell_completes_commands_actions_and_options(
    typed: list[str], offered: set[str]
) -> None:
    """docs/installing.md says how to turn it on."""
    completion = BashComplete(main, {}, "fabula", "_FABULA_COMPLETE")
    *before, last = typed
    assert {item.value for item in completion.get_completions(before, last)} == offered


def test_options_come_in_groups_the_common_ones_first() -> None:
    few, every = help_of("query"), CliRunner().invoke(main, ["query", "--help-all"]).output
    titles = [line[:-1] for line in few.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == ["Options", "Collection", "Models", "Ways to ask", "Examples"]
    assert "--mode" in few
    assert "--neo4j-database" not in few
    assert "--neo4j-database" in every
    own, all_flags = (
        set(re.findall(r"^  (--[\w-]+)", shown, re.MULTILINE)) for shown in (few, every)
    )
    assert own < all_flags
    assert {"--json", "--top-k", "--model"} <= own


def test_no_help_is_longer_than_three_screens() -> None:
    with click.Context(main) as context:
        names = list(main.list_commands(context))
    lengths = {name: len(help_of(name).splitlines()) for name in names}
    assert {name: length for name, length in lengths.items() if length > 60} == {}


def test_a_values_shown_is_the_one_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "'offline' [offline]" in " ".join(help_of("query").split())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("FABULA_TOP_K", "7")
    Path("fabula.toml").write_text('collection = "novels"\n')
    shown = " ".join(help_of("query").split())
    assert f"'offline' [{Settings.model_fields['model'].default}]" in shown
    for text in (
        "passages that are shown [7]",
        "collection to work in [novels]",
    ):
        assert text in shown
    assert "sk-test" not in shown


def test_help_is_shown_where_settings_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_TOP_K", "many")
    assert "passages that are shown [5]" in " ".join(help_of("query").split())


def test_ways_and_aspects_are_named() -> None:
    shown = " ".join(help_of("query").split())
    assert "bottom-up, collapsed, details" in shown
    names = ", ".join(aspect.name for aspect in read_aspects("narrative"))
    assert names == query_command.ASPECTS
    assert names in shown


def test_a_slip_in_a_commands_name_is_told_with_the_nearest() -> None:
    result = CliRunner().invoke(main, ["histroy"])
    assert result.exit_code == 2
    assert "No such command 'histroy'. Did you mean 'history'?" in result.output


@pytest.fixture
def harbour(graph_url: str, tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text(harbour_story("slept"))
    assert CliRunner().invoke(main, ["ingest", str(book)]).exit_code == 0


@for_each(
    ("words", "typed"),
    [(("who", "is", "Anna"), None), (("-",), "who is Anna\n"), (("who is Anna",), None)],
    ids=["words", "standard input", "quoted"],
)
def test_a_question_is_asked_as_it_is_typed(
    words: tuple[str, ...], typed: str | None, harbour: None
) -> None:
    result = CliRunner().invoke(main, ["query", *words, "--json"], input=typed)
    assert result.exit_code == 0, result.output
    assert '"question": "who is Anna"' in result.stdout


def test_a_shell_is_told_the_commands_by_a_process_of_its_own() -> None:
    request = {"_FABULA_COMPLETE": "bash_complete", "COMP_WORDS": "fabula quer", "COMP_CWORD": "1"}
    fabula = Path(sys.executable).with_name("fabula")
    run = subprocess.run(
        [fabula], env=os.environ | request, capture_output=True, text=True, check=True
    )
    assert sorted(run.stdout.split()) == ["plain,queries", "plain,query"]
