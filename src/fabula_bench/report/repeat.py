"""The tables of a report that one needs to repeat a run: data, versions, seeds, settings."""

from __future__ import annotations

from typing import Any

from fabula_bench.report.about import Data, Run
from fabula_bench.report.markdown import table
from fabula_bench.report.wording import NOTHING, flatten_settings


def hash_table(data: Data) -> str:
    """Return the table of the files that the data was read from, with their hashes."""
    return table("The data's files.", ("file", "SHA-256"), data.sha256.items(), figures=False)


def version_table(run: Run) -> str:
    """Return the table of versions and seeds."""
    rows = {**run.versions, **{f"seed of {name}": str(seed) for name, seed in run.seeds.items()}}
    return table("Versions and seeds.", ("", "value"), rows.items(), figures=False)


def settings_tables(run: Run) -> list[str]:
    """Return two tables: the settings that all systems share, and those in which they differ."""
    systems = {
        system.name: flatten_settings({**system.settings, **_filters(run, system.name)})
        for system in run.systems
        if system.settings
    }
    names = sorted({name for settings in systems.values() for name in settings})
    values = {name: [system.get(name, NOTHING) for system in systems.values()] for name in names}
    same = {name: of_systems[0] for name, of_systems in values.items() if len(set(of_systems)) == 1}
    differing = [name for name in names if name not in same]
    tables = []
    if differing:
        rows = [(name, *values[name]) for name in differing]
        head = ("setting", *systems)
        tables.append(table("Settings in which the systems differ.", head, rows, figures=False))
    if same:
        caption = "Settings of every system." if len(systems) > 1 else "Settings."
        head = ("setting", "value")
        tables.append(table(caption, head, same.items(), figures=False, is_heading=True))
    return tables


def _filters(run: Run, system: str) -> dict[str, Any]:
    return {"filters": run.filters[system]} if system in run.filters else {}
