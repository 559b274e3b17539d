"""`fabula settings`: every knob, its value, and how to turn it."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table

from fabula.cli.options import ALL, settings_flags
from fabula.cli.screen import console, print_json
from fabula.settings import Settings, names, variable


@click.command("settings")
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
    values = settings.model_dump(mode="json")
    tables = values.pop("tables")
    if as_json:
        print_json(values | tables)
        return
    values |= {f"{table}.{name}": own[name] for table, own in tables.items() for name in own}
    table = Table(show_edge=False)
    for heading in ("setting", "value", "environment", "what it is"):
        table.add_column(heading)
    for name, field in names().items():
        table.add_row(name, _shown(values[name]), variable(name), field.description)
    console().print(table)


def _shown(value: Any) -> str:
    """A value as a flag or a variable takes it."""
    if value is None:
        return ""
    return ",".join(value) if isinstance(value, list) else str(value)
