"""`fabula settings`: every knob, its value, and how to turn it."""

from __future__ import annotations

import click
from rich.table import Table

from fabula.cli.options import ALL, settings_flags
from fabula.cli.screen import console, print_json
from fabula.settings import CONVENTIONAL, PREFIX, Settings


@click.command("settings")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*ALL)
def command(as_json: bool, settings: Settings) -> None:
    """Show every setting: its value now, its environment variable, and what it is.

    A flag is stronger than the environment, and that than fabula.toml in this folder (or the
    file that FABULA_CONFIG names), which has a line `name = value` for each.
    """
    values = settings.model_dump(mode="json")
    if as_json:
        print_json(values)
        return
    table = Table(show_edge=False)
    for heading in ("setting", "value", "environment", "what it is"):
        table.add_column(heading)
    for name, field in Settings.model_fields.items():
        value = "" if values[name] is None else str(values[name])
        variable = CONVENTIONAL.get(name, f"{PREFIX}{name.upper()}")
        table.add_row(name, value, variable, field.description)
    console().print(table)
