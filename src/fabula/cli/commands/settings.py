"""`fabula settings`: show every setting and where to set it."""

from __future__ import annotations

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.options import ALL, format_value, settings_flags
from fabula.cli.shared.screen import print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings, environment_variable, setting_fields


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
    """Show every setting: its value, its environment variable, and what it is for.

    A flag overrides the environment, the environment overrides fabula.toml in this folder (or the
    file that FABULA_CONFIG names), and that overrides fabula.toml in your own configuration folder,
    for example ~/.config/fabula. In a file each setting is a line `name = value`; settings of a
    table are in that table, as `levels = 3` under `[aspects]`. Keys, addresses and paths are not
    read from the file in this folder, which may come from somebody else.
    """
    if as_json:
        result = settings.redacted()
        print_json(result | result.pop("tables"))
        return
    current = settings.values()
    table = Table(show_edge=False)
    for heading in ("setting", "value", "environment", "what it is"):
        table.add_column(heading)
    for name, field in setting_fields().items():
        table.add_row(
            name, format_value(current[name]), environment_variable(name), field.description
        )
    print_table(table)
