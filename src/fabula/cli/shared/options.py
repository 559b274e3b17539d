"""Flags made from settings, and from the parameters of operations, with what they are about."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import click

from fabula.ask.modes import modes
from fabula.ask.query import query_options
from fabula.config.settings import (
    SECRET,
    SHORT,
    Settings,
    environment_variable,
    resolve_name,
    setting_fields,
    short_name,
    table_models,
)
from fabula.errors import SettingsError
from fabula.graph.reading_place import HIDES_UNREAD

if TYPE_CHECKING:
    from fabula.operations.kit import Operation, Parameter

GRAPH = (
    "home",
    "neo4j_uri",
    "neo4j_username",
    "neo4j_database",
    "preset",
    "collection",
)
SERVER = ("neo4j_heap", "neo4j_page_cache", "dumps")
"""The settings of the private Neo4j itself, which `fabula db start` alone has flags for."""
MODELS = (
    "base_url",
    "model",
    "embedding_model",
    "concurrency",
    "timeout",
    "attempts",
    "cache",
    "cache_folder",
)
SPENDING = (
    "aspect_model",
    "temperature",
    "embedding_batch",
    "batch_min_tokens",
    "batch_min_calls",
    "max_calls",
    "max_tokens",
    "prices",
)
WRITING = (*MODELS, *SPENDING, *SHORT)
"""What graphs are built with, of texts that are there."""
EMBEDDING = (
    *("base_url", "embedding_model", "embedding_query_prefix", "embedding_passage_prefix"),
    *("embedding_batch", "concurrency", "timeout", "attempts", "cache", "cache_folder"),
)
"""What texts that are there are embedded with."""
BUILDING = (*WRITING, "max_file_mb", "fetch", "graphs", "chunk_tokens")
QUESTION = tuple(option.setting for option in query_options().values() if option.setting)
"""The settings that give the options of a question their defaults."""
RANKING = (*QUESTION, "rerank_model")
ASKING = (*MODELS, "model_window", "answer_temperature", "answer_tokens", *RANKING)
GROUPS = {
    "Collection": ("collection", "preset"),
    "Models": (
        *MODELS,
        "embedding_query_prefix",
        "embedding_passage_prefix",
        "model_window",
        "keyring",
        *SPENDING,
        "cache_max_gb",
        "answer_temperature",
        "answer_tokens",
    ),
    "Method": ("graphs", "chunk_tokens", "max_file_mb", "fetch", *SHORT),
    "Ways to ask": (*RANKING, "history_tokens", "question_history"),
    "Neo4j": (*(name for name in GRAPH if name not in ("collection", "preset")), *SERVER),
}
"""What flags are about, in the order that help shows them."""
COMMON = ("collection", "model", "max_calls", "graphs", "mode", "top_k")
"""The flags that help shows without being asked for all."""
ASSIGNED = "assigned"
"""The parameter that holds what --set gives."""
IN_FORCE = "fabula.in_force"

Command = Callable[..., Any]


def settings_flags(*names: str) -> Callable[[Command], Command]:
    """Add a flag for each named setting; the command gets `settings` in their place."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_settings(*args: Any, given: dict[str, Any], **values: Any) -> Any:
            return command(*args, settings=Settings.read(**given), **values)

        return given_flags(*names)(with_settings)

    return decorate


HOME = tuple(name for name in GRAPH if name not in ("preset", "collection"))
"""The settings of commands that are about no single collection."""
HOME_FLAGS = settings_flags(*HOME)

where_flag = click.option(
    "--where",
    default="",
    metavar="CONDITION",
    help="only documents whose metadata fulfil it, as 'year < 1850 and genre = gothic'",
)
"""The flag of commands that ask questions."""
until_flag = click.option("--until", default="", metavar="PLACE", help=HIDES_UNREAD)
"""The flag of commands that show a reader only what was read."""


def given_flags(*names: str, assignment: Assignment | None = None) -> Callable[[Command], Command]:
    """Add a flag for each named setting; the command gets `given`, those that were used, by name.

    With --set any other setting can be given, by its whole name. A command where --set takes more
    than that names an `assignment` of its own.
    """
    assigns = assignment or Assignment()

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_given(*args: Any, assigned: Sequence[tuple[str, str]], **values: Any) -> Any:
            flags = {name: values.pop(name) for name in names}
            # None: not given, which leaves it to the environment and the file.
            given = {name: value for name, value in flags.items() if value not in (None, ())}
            return command(*args, given=given | dict(assigned), **values)

        wrapped: Command = click.option(
            "--set",
            ASSIGNED,
            multiple=True,
            type=assigns,
            help=assigns.help,
        )(with_given)
        for name in reversed(names):
            wrapped = _flag(name)(wrapped)
        return wrapped

    return decorate


class Assignment(click.ParamType[tuple[str, str]]):
    """A setting's whole name and its value."""

    name = "name=value"
    help = "any setting by its whole name, as aspects.levels=3; see `fabula settings`"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return the name and the value as typed."""
        name, equals, typed = str(value).partition("=")
        if not (name and equals):
            self.fail(f"give a setting as name=value, not {value!r}", param, ctx)
        if name in SECRET:
            self.fail(
                f"others on this machine could read {name} in a flag: set "
                f"{environment_variable(name)}",
                param,
                ctx,
            )
        return name, typed


class SettingOption(click.Option):
    """A flag of a setting, whose help has its value in force, and the group that it is about."""

    def __init__(self, *args: Any, setting: str, **more: Any) -> None:
        """As click.Option; `setting` is its name."""
        super().__init__(*args, **more)
        self.setting = setting
        self.is_common = setting in COMMON
        self.group = next(title for title, names in GROUPS.items() if setting in names)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the flag, and its description with the value in force."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        value = format_value(_in_force(ctx)[resolve_name(self.setting)])
        return record[0], f"{record[1]} [{value}]" if value else record[1]


def ways_to_set(name: str) -> str:
    """Return the flag and the variable of a setting by its whole name, or how --set gives it."""
    short = short_name(name)
    flag = f"--{short.replace('_', '-')}"
    if short in SERVER:
        flag = f"fabula db start {flag}"
    has_flag = any(short in names for names in GROUPS.values())
    variable = environment_variable(name)
    ways = [way for way in (flag if has_flag else "", variable) if way]
    return ", ".join(ways) or f"--set {name}=VALUE"


def format_value(value: Any) -> str:
    """Return a value as a flag or an environment variable takes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(value) if isinstance(value, list) else str(value)


def _in_force(ctx: click.Context) -> Mapping[str, Any]:
    """Return the values of all settings without flags; the defaults if a file has an error."""
    if IN_FORCE not in ctx.meta:
        try:
            settings = Settings.read()
        except SettingsError:
            settings = Settings(tables={name: of() for name, of in table_models().items()})
        ctx.meta[IN_FORCE] = settings.values()
    found: Mapping[str, Any] = ctx.meta[IN_FORCE]
    return found


def _flag(name: str) -> Callable[[Command], Command]:
    field = setting_fields()[resolve_name(name)]
    flag = f"--{name.replace('_', '-')}"
    of: dict[str, Any] = {"cls": SettingOption, "setting": name, "help": field.description or ""}
    if name == "graphs":
        of["help"] = "graphs to build, instead of the usual ones, with commas between them"
    if name == "collection":
        return click.option("-c", flag, name, metavar="TEXT", **of)
    if name == "mode":
        of["help"] = f"{field.description}; or one of {', '.join(modes())}"
    if field.annotation is bool:
        return click.option(f"{flag}/{flag.replace('--', '--no-', 1)}", name, default=None, **of)
    choices = typing.get_args(field.annotation)
    literal = bool(choices) and all(isinstance(choice, str) for choice in choices)
    return click.option(
        flag,
        name,
        type=click.Choice(choices) if literal else str,
        metavar=None if literal else _metavar({type(field.default), *choices}),
        **of,
    )


def _metavar(types: set[object]) -> str:
    types |= {typing.get_args(each)[0] for each in types if typing.get_origin(each) is Annotated}
    return "N" if int in types else "X" if float in types else "TEXT"


def make_option(operation: Operation, parameter: Parameter) -> Any:
    """Return the option or the argument of a parameter."""
    about = parameter.field.description or ""
    if parameter.name in operation.positional:
        if operation.has_confirmation and parameter.name == operation.positional[-1]:
            return click.argument(parameter.name, required=parameter.is_required, nargs=-1)
        default = None if parameter.is_required else parameter.default
        number = -1 if parameter.is_list else 1
        required = parameter.is_required
        return click.argument(parameter.name, required=required, default=default, nargs=number)
    flag = f"--{parameter.name.replace('_', '-')}"
    if parameter.is_flag:
        return click.option(flag, parameter.name, is_flag=True, help=about)
    if typing.get_origin(parameter.type) is tuple:
        flag = flag.removesuffix("s")
    if parameter.is_list:
        return click.option(flag, parameter.name, multiple=True, help=f"{about}; may be repeated")
    bounds = parameter.bounds
    kind: click.ParamType[Any] | None = None
    if parameter.choices:
        kind = click.Choice(parameter.choices)
    elif parameter.type is int:
        kind = click.IntRange(bounds.get("ge"), bounds.get("le"))
    elif parameter.type is float:
        kind = click.FloatRange(bounds.get("ge"), bounds.get("le"))
    return click.option(
        flag,
        parameter.name,
        type=kind,
        # '' is no choice that anybody would type.
        default=None if parameter.default in (..., "", {}) else parameter.default,
        required=parameter.is_required,
        show_default=parameter.default not in ("", ..., None, {}),
        help=about,
    )
