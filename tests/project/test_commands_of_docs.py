"""Every command of Fabula that a page of the documentation has can be typed as it stands there.

Commands in blocks are parsed as the command line does: the command, its options and their values
exist, and what it needs is given. In the text, where a command is often named without what it
needs, the command and the options have to exist. Tutorials are also run: test_tutorials.py.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from fabula.ask.modes import modes
from fabula.cli import main
from fabula.graph.explore import query_names
from fabula.graph.installed import graphs

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
INLINE = re.compile(r"(?<!`)`(?:\$ )?(fabula [^`]+)`(?!`)")
SHELLS = frozenset(("", "bash", "console", "ini", "sh", "text", "yaml"))
"""Languages of blocks that have commands; a block without one may also be what a command prints."""
PROMPT = re.compile(r"^(?:\$ |ExecStart=\S*/(?=fabula )|command: )")
ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=")
OF_A_PACKAGE = {"sections": "the example of extending.md, which is no part of Fabula"}
"""Names that documentation uses and Fabula does not have, and why."""


def lines_of(block: str) -> Iterator[str]:
    for line in block.replace("\\\n", " ").split("\n"):
        yield PROMPT.sub("", line.strip())


def invocations(line: str) -> Iterator[list[str]]:
    """The arguments of each call of `fabula` in a line of a shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        tokens = list(lexer)
    except ValueError:
        return  # a quotation over several lines, as of a program's text
    command: list[str] = []
    for token in [*tokens, ";"]:
        if not set(token) <= set("|&;<>"):
            command.append(token)
            continue
        while command and ASSIGNMENT.match(command[0]):
            command.pop(0)
        if command and command[0] == "docker" and "fabula" in command[2:]:
            command = command[command.index("fabula", 2) :]
        if command[:1] == ["fabula"] and len(command) > 1:
            yield [argument for argument in command[1:] if argument != "..."]
        # What follows < or > is the name of a file.
        command = ["file"] if token in ("<", ">", ">>") else []


def in_blocks() -> list[tuple[str, list[str]]]:
    return [
        (page.name, arguments)
        for page in PAGES
        for language, block in FENCE.findall(page.read_text("utf-8"))
        if language in SHELLS
        for line in lines_of(block)
        if line.startswith(("fabula ", "docker ")) or ASSIGNMENT.match(line)
        for arguments in invocations(line)
    ]


def in_text() -> list[tuple[str, list[str]]]:
    return [
        (page.name, arguments)
        for page in PAGES
        for line in INLINE.findall(FENCE.sub("", page.read_text("utf-8")))
        for arguments in invocations(" ".join(line.split()))
    ]


def problem_of(arguments: Sequence[str], *, only_names: bool = False) -> str:
    """What the command line says to arguments before it runs anything; '' if nothing."""
    command: click.Command = main
    context: click.Context | None = None
    name, rest = "fabula", list(arguments)
    try:
        while True:
            context = command.make_context(name, rest, parent=context)
            if not isinstance(command, click.Group):
                return "" if only_names else problem_of_names(context)
            rest = [*context._protected_args, *context.args]
            if not rest:
                return ""
            found, next_command, rest = command.resolve_command(context, rest)
            if next_command is None:
                return f"No such command {rest[0]!r}."
            name, command = found or "", next_command
    except (click.exceptions.Exit, click.exceptions.NoArgsIsHelpError):
        return ""  # --help or --version; a group alone prints its help
    except click.UsageError as error:
        # Where a command is only named, its arguments may be left out or stand for others.
        if only_names and not isinstance(error, click.NoSuchOption):
            return ""
        message = error.format_message()
        # A reader has files that the test has not.
        return "" if "does not exist" in message else message


def problem_of_names(context: click.Context) -> str:
    """What is wrong with the graphs and modes that a command names."""
    known = {"graph": set(graphs()), "graphs": set(graphs()), "mode": set(modes())}
    for parameter, names in known.items():
        value = context.params.get(parameter) or ()
        for each in value.split(",") if isinstance(value, str) else value:
            if each not in names and each not in OF_A_PACKAGE and each not in ("contents", "short"):
                return f"There is no {parameter} {each!r}."
    return ""


def test_every_command_of_a_block_can_be_typed() -> None:
    found = in_blocks()
    assert len(found) > 200
    wrong = {
        f"{page}: fabula {shlex.join(arguments)}": problem
        for page, arguments in found
        if (problem := problem_of(arguments))
    }
    assert wrong == {}


def test_every_command_that_the_text_names_exists_with_its_options() -> None:
    found = in_text()
    assert len(found) > 200
    wrong = {
        f"{page}: fabula {shlex.join(arguments)}": problem
        for page, arguments in found
        if (problem := problem_of(arguments, only_names=True))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("fabula ingst book.epub", "No such command"),
        ("fabula query 'Who?' --moed light", "No such option"),
        ("NEO4J_URI=x fabula query", "Missing argument"),
        ("cat x | fabula query 'Who?' --mode lihgt > out.txt", "no mode 'lihgt'"),
        ("fabula notes ad x && fabula list", "No such command"),
        ("fabula concordance ghost --sort middle # a comment", "Invalid value"),
    ],
)
def test_what_cannot_be_typed_is_found(line: str, problem: str) -> None:
    assert any(problem in problem_of(each) for each in invocations(line))


def test_the_readme_names_all_modes_and_graphs_and_how_many_queries_there_are() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    asking = text[text.index("## Ask") : text.index("## Look at")]
    assert [name for name in modes() if f"`{name}`" not in asking] == []
    assert [name for name in graphs() if f"`{name}`" not in text] == []
    assert f"runs {len(query_names())} prepared queries" in text
    table = (ROOT / "docs" / "modes.md").read_text("utf-8").partition("## Which mode")[0]
    assert [name for name in modes() if f"`{name}`" not in table] == []
