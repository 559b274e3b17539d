"""`fabula settings`: every knob, its value, and how to turn it."""

from __future__ import annotations

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.options import ALL, settings_flags, shown
from fabula.cli.shared.screen import print_json, print_table
from fabula.config.settings import Settings, names, variable


@click.command(
    "settings",
    cls=Command,
    examples=(
        "settings",
        "settings --set aspects.levels=3",
    ),
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*ALL)
def command(as_json: bool, settings: Settings) -> None:
    """Show every setting: its value now, its environment variable, and what it is.

    A flag is stronger than the environment, that than fabula.toml in this folder (or the file
    that FABULA_CONFIG names), and that than fabula.toml in your own configuration folder, as
    ~/.config/fabula. A file has a line `name = value` for each: those with a table's name before
    them in that table, as `levels = 3` under `[aspects]`. Keys, addresses and paths are not taken
    from this folder's file, which may be a stranger's.
    """
    if as_json:
        told = settings.shown()
        print_json(told | told.pop("tables"))
        return
    now = settings.values()
    table = Table(show_edge=False)
    for heading in ("setting", "value", "environment", "what it is"):
        table.add_column(heading)
    for name, field in names().items():
        table.add_row(name, shown(now[name]), variable(name), field.description)
    print_table(table)
