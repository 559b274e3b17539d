"""Lay out the help of a command: options in groups, and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from fabula.cli.shared.options import ASSIGNED, GROUPS, SettingOption
from fabula.config.settings import how_to_set
from fabula.errors import did_you_mean

ALL_OPTIONS = "fabula.every_option"
MAX_HELP_CHARACTERS = 200
"""How much of the help of an action is shown in one line."""
COMMAND_OPTIONS = "Options"
"""The group of options that are not settings."""


class Command(click.Command):
    """A command whose help has the common options in groups, and ends with examples.

    An example is a command line without the name of the program.
    """

    def __init__(self, *args: Any, examples: Sequence[str] = (), **more: Any) -> None:
        """Create a command as click.Command does; `examples` are shown below the options."""
        super().__init__(*args, **more)
        self.examples = examples
        if any(isinstance(param, SettingOption) and not param.is_common for param in self.params):
            self.params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_all,
                    help="Show this message with every option and exit.",
                )
            )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; say of an unknown flag with the name of a setting how to set it."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            hint = how_to_set(error.option_name)
            if not hint or all(param.name != ASSIGNED for param in self.params):
                raise
            raise click.UsageError(f"{error.message} {hint}", ctx) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each group; rarely used ones only with --help-all."""
        groups: dict[str, list[tuple[str, str]]] = {
            title: [] for title in (COMMAND_OPTIONS, *GROUPS)
        }
        for param in self.get_params(ctx):
            if isinstance(param, click.Argument):
                continue
            group, is_common = COMMAND_OPTIONS, True
            if isinstance(param, SettingOption):
                group, is_common = param.group, param.is_common
            record = param.get_help_record(ctx)
            if record and (is_common or ctx.meta.get(ALL_OPTIONS)):
                groups[group].append(record)
        shown = {title: records for title, records in groups.items() if records}
        for title, records in shown.items():
            with formatter.section(title if len(shown) > 1 else COMMAND_OPTIONS):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}fabula {example}\n")


class CommandWithActions(Command):
    """A command whose first argument may be the name of an action, which is a command of its own.

    Everything else is the command's own arguments.
    """

    def __init__(self, *args: Any, actions: Sequence[click.Command] = (), **more: Any) -> None:
        """Create a command as Command does; each action has a name of its own."""
        super().__init__(*args, **more)
        self.actions = {action.name or "": action for action in actions}

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return the context of the action that the first argument names, or of the command."""
        if args and args[0] in self.actions:
            action = self.actions[args[0]]
            return action.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        takes_arguments = any(isinstance(param, click.Argument) for param in self.params)
        is_typed = not extra.get("resilient_parsing")
        if args and is_typed and not takes_arguments and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.actions, f"There are: {', '.join(self.actions)}.")
            raise click.UsageError(
                f"There is no action '{args[0]}'. {hint} Without an action: "
                f"{self.get_short_help_str(MAX_HELP_CHARACTERS)}",
                click.Context(self, info_name=info_name, parent=parent),
            )
        return super().make_context(info_name, args, parent, **extra)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what a shell offers: the actions, and what the command itself takes."""
        actions = [
            CompletionItem(name, help=action.get_short_help_str())
            for name, action in self.actions.items()
            if name.startswith(incomplete)
        ]
        return [*actions, *super().shell_complete(ctx, incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the actions and the examples."""
        with formatter.section("Actions"):
            formatter.write_dl(
                [
                    (name, action.get_short_help_str(MAX_HELP_CHARACTERS))
                    for name, action in self.actions.items()
                ]
            )
        super().format_epilog(ctx, formatter)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[ALL_OPTIONS] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
