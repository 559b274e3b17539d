"""All commands of the command line, with those of packages."""

from __future__ import annotations

from collections.abc import Iterator

import click

from fabula.cli import COMMANDS, find_commands, main
from fabula.cli.shared.help import CommandWithActions


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by the words that name it."""
    context = click.Context(main)
    for name in (*COMMANDS, *find_commands()):
        command = main.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {one}", below) for one, below in command.commands.items())
        else:
            yield name, command
            if isinstance(command, CommandWithActions):
                yield from ((f"{name} {one}", below) for one, below in command.actions.items())
