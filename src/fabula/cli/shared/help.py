"""How the help of a command is laid out: options by what they are about, and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from fabula.cli.shared.options import GROUPS, SettingOption

EVERY = "fabula.every_option"
OWN = "What"
"""The group of the options that no setting stands behind."""


class Command(click.Command):
    """A command whose help has its common options in groups, and ends with examples.

    An example is a line as it is typed, without the program's name.
    """

    def __init__(self, *args: Any, examples: Sequence[str] = (), **more: Any) -> None:
        """As click.Command; `examples` are shown below the options."""
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

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of each group; those that few need only with --help-all."""
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in (OWN, *GROUPS)}
        for param in self.get_params(ctx):
            if isinstance(param, click.Argument):
                continue
            group, is_common = OWN, True
            if isinstance(param, SettingOption):
                group, is_common = param.group, param.is_common
            record = param.get_help_record(ctx)
            if record and (is_common or ctx.meta.get(EVERY)):
                groups[group].append(record)
        shown = {title: records for title, records in groups.items() if records}
        for title, records in shown.items():
            with formatter.section(title if len(shown) > 1 else "Options"):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}fabula {example}\n")


class Group(click.Group):
    """Commands of one kind, with such help each."""

    command_class = Command


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[EVERY] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
