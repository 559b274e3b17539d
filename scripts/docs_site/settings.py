"""The page of all settings, with what each means, its default and its environment variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic.fields import FieldInfo

from docs_site.text import cell, code, join_page, table
from fabula.ask.modes import modes
from fabula.cli.shared.options import CORE, GROUPS, format_value
from fabula.config import serving
from fabula.config.settings import environment_variable, resolve_name, setting_fields, table_models
from fabula.graph.installed import graphs

INTRODUCTION = """\
# All settings

Every setting is an option of the commands that use it, as `--chunk-tokens 200`, an environment
variable, which stands below its name here, or a line of `fabula.toml`, in this order of precedence.
`--set aspects.levels=3` sets any of them. `fabula settings` prints this list with the values that
are in force. [Settings and presets](../settings.md) explains the most important ones.
"""
TABLES = {serving.TABLE: "The service"}


def make_pages() -> dict[str, str]:
    """Return the page with all settings."""
    fields = setting_fields()
    parts = [INTRODUCTION]
    placed: set[str] = set()
    for title, names in GROUPS.items():
        whole = [name for flag in names for name in resolve_name(flag) if name in CORE]
        parts.append(_section(title, [name for name in whole if name not in placed], fields))
        placed.update(whole)
    parts.append(_section("Other", [name for name in CORE if name not in placed], fields))
    secret = [name for name in fields if "." not in name and name not in CORE]
    parts.append(_section("Secrets", [name for name in secret if name not in placed], fields))
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
            f"{code(name)}<br>{code(environment_variable(name))}",
            code(format_value(_default(fields[name]))),
            cell(fields[name].description or ""),
        )
        for name in names
    ]
    heading = ("setting", "default", "what it is")
    return join_page(f"## {title}", about, table(heading, rows))


def _default(field: FieldInfo) -> object:
    """Return a default that does not tell where the site was built."""
    value = None if field.default_factory else field.default
    if value is None or value == {}:
        return ""
    return str(value).replace(str(Path.home()), "~") if isinstance(value, Path) else value
