"""The page of all settings, with what each means, its default, and its flag and variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic.fields import FieldInfo

from docs_site.text import cell, code, join_page, table
from fabula.ask.modes import modes
from fabula.cli.shared.options import GROUPS, format_value, ways_to_set
from fabula.config import serving
from fabula.config.settings import SECRET, setting_fields, table_models
from fabula.graph.installed import graphs

INTRODUCTION = """\
# All settings

Every setting is a line of `fabula.toml`, and `--set aspects.cluster_size=12` gives any of them to a
command. What is set often has a flag of the commands that use it, as `--chunk-tokens 200`, and an
environment variable, which stand below its name here. A flag or `--set` is stronger than a
variable, and a variable is stronger than a file. `fabula settings WORD` finds settings by their
names and by what they are for. [Settings and presets](../settings.md) explains the most important
ones.
"""
TABLES = {serving.TABLE: "The service"}


def make_pages() -> dict[str, str]:
    """Return the page with all settings."""
    fields = setting_fields()
    parts = [INTRODUCTION]
    placed: set[str] = set()
    for title, names in GROUPS.items():
        of_core = [name for name in names if name in fields]
        parts.append(_section(title, of_core, fields))
        placed.update(of_core)
    rest = [name for name in fields if "." not in name and name not in placed]
    parts.append(_section("Other", [name for name in rest if name not in SECRET], fields))
    parts.append(_section("Secrets", [name for name in rest if name in SECRET], fields))
    for name, model in table_models().items():
        below = [f"{name}.{field}" for field in model.model_fields]
        parts.append(_section(_title(name), below, fields, _about(name)))
    return {"reference/settings.md": join_page(*parts)}


def _title(name: str) -> str:
    return f"{TABLES.get(name, 'Graph' if name in graphs() else 'Mode')}: `[{name}]`"


def _about(name: str) -> str:
    about = graphs()[name].about if name in graphs() else ""
    if not about and name in modes():
        about = modes()[name].about
    return f"{about[:1].upper()}{about[1:]}." if about else ""


def _section(
    title: str, names: Sequence[str], fields: Mapping[str, FieldInfo], about: str = ""
) -> str:
    if not names:
        return ""
    rows = [
        (
            f"{code(name)}<br>{_ways(name)}",
            code(format_value(_default(fields[name]))),
            cell(fields[name].description or ""),
        )
        for name in names
    ]
    heading = ("setting", "default", "what it is")
    return join_page(f"## {title}", about, table(heading, rows))


def _ways(name: str) -> str:
    return "<br>".join(map(code, ways_to_set(name).split(", ")))


def _default(field: FieldInfo) -> object:
    """Return a default that does not tell where the site was built."""
    value = None if field.default_factory else field.default
    if value is None or value == {}:
        return ""
    return str(value).replace(str(Path.home()), "~") if isinstance(value, Path) else value
