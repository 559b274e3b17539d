"""`fabula settings`: show settings, and how each can be given."""

from __future__ import annotations

from typing import Any

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.options import format_value, settings_flags, ways_to_set
from fabula.cli.shared.screen import print_json
from fabula.cli.shared.tables import begin_table, print_table
from fabula.config.settings import Settings, environment_variable, setting_fields


@click.command(
    "settings",
    cls=Command,
    examples=(
        "settings",
        "settings cluster",
        "settings --set aspects.cluster_size=12",
    ),
)
@click.argument("word", default="")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags("preset")
def command(word: str, as_json: bool, settings: Settings) -> None:
    """Show every setting: its value, how it can be given, and what it is for.

    A WORD finds those that have it in their name or in what they are for.

    A flag overrides the environment, the environment overrides fabula.toml in this folder (or the
    file that FABULA_CONFIG names), and that overrides fabula.toml in your own configuration folder,
    for example ~/.config/fabula. In a file each setting is a line `name = value`; settings of a
    table are in that table, as `levels = 3` under `[aspects]`. Keys, addresses and paths are not
    read from the file in this folder, which may come from somebody else.
    """
    found = {
        name: field.description or ""
        for name, field in setting_fields().items()
        if _has(word, name, environment_variable(name), field.description or "")
    }
    if word and not found:
        raise click.UsageError(f"No setting has {word!r} in its name or its description.")
    current = settings.values()
    if as_json:
        print_json(_nest({name: current[name] for name in found}))
        return
    table = begin_table("setting", "value", "flag and variable", "what it is")
    for name, about in found.items():
        table.add_row(name, format_value(current[name]), ways_to_set(name), about)
    print_table(table)


def _has(word: str, *texts: str) -> bool:
    """Return whether one of some texts has a word, or a name written as a flag."""
    wanted = word.lower().lstrip("-").replace("-", "_")
    return any(wanted in text.lower().replace("-", "_") for text in texts)


def _nest(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings by their whole names, each table's in an object of its own."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        table, _, own = name.rpartition(".")
        (nested.setdefault(table, {}) if table else nested)[own] = value
    return nested
