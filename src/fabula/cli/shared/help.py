"""Lay out the help of a command: options in groups, and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from fabula.cli.shared.options import ASSIGNED, GROUPS, SettingOption
from fabula.config.settings import how_to_set

ALL_OPTIONS = "fabula.every_option"
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


class Group(Command, click.Group):
    """A group of such commands, which may do something where none of them is named."""

    command_class = Command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[ALL_OPTIONS] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
