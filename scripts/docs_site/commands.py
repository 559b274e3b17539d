"""The page of all commands, from the declarations by which the program itself shows its help."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from docs_site.text import cell, code, escape, join_page, table
from fabula.cli import main
from fabula.cli.shared.help import Command
from fabula.cli.shared.options import GROUPS, SettingOption

INTRODUCTION = """\
# Commands

`fabula COMMAND --help` prints the same, with the values that are in force. Options that are
[settings](settings.md) are listed by their names at the end of each command; what they mean is on
that page. Every command takes `--debug`, which shows the traceback of an error.
"""
OF_ALL = {"help", "help_all", "debug"}
"""Options that every command has."""
MAX_LINE = 200
"""Characters of what a command does, in the table."""


def make_pages() -> dict[str, str]:
    """Return the page with all commands."""
    context = click.Context(main, info_name="fabula")
    commands = {}
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        commands[name] = command
    rows = [
        (f"[`fabula {name}`](#fabula-{name})", cell(command.get_short_help_str(MAX_LINE)))
        for name, command in commands.items()
    ]
    parts = [INTRODUCTION, table(("command", "what it does"), rows)]
    for name, command in commands.items():
        for depth, (title, each) in enumerate(_with_actions(f"fabula {name}", command)):
            parts.append(_section(title, each, "###" if depth else "##"))
    return {"reference/commands.md": join_page(*parts)}


def _with_actions(title: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield title, command
    for name, action in getattr(command, "commands", {}).items():
        yield from _with_actions(f"{title} {name}", action)


def _section(title: str, command: click.Command, mark: str) -> str:
    context = click.Context(command, info_name=title)
    usage = " ".join([title, *command.collect_usage_pieces(context)])
    own, settings = [], []
    for param in command.get_params(context):
        if isinstance(param, SettingOption):
            settings.append(param)
        elif isinstance(param, click.Option) and param.name not in OF_ALL and not param.hidden:
            record = click.Option.get_help_record(param, context)
            if record:
                own.append((code(record[0]), cell(record[1])))
    examples = command.examples if isinstance(command, Command) else ()
    return join_page(
        f"{mark} {title}",
        f"```text\n{usage}\n```",
        _help(command),
        table(("option", "what it does"), own),
        _settings(settings),
        "```sh\n" + "\n".join(f"fabula {line}" for line in examples) + "\n```" if examples else "",
    )


def _settings(options: list[SettingOption]) -> str:
    """Return the options that are settings, by what they are about, without what they mean."""
    groups = []
    for title in GROUPS:
        flags = [code(option.opts[0]) for option in options if option.group == title]
        if flags:
            groups.append(f"{title}: {', '.join(flags)}")
    return f"Settings as options. {'; '.join(groups)}." if groups else ""


def _help(command: click.Command) -> str:
    """Return a command's help: paragraphs, and blocks that click is told to keep as they are."""
    parts = []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            parts.append(f"```text\n{paragraph.lstrip(chr(8)).strip(chr(10))}\n```")
        else:
            parts.append(escape(" ".join(paragraph.split())))
    return "\n\n".join(parts)
