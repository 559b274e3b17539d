"""Flags made from settings: one a setting, with its description and its default."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Sequence
from typing import Any

import click
from pydantic_core import PydanticUndefined

from fabula.retrieve.modes import modes
from fabula.settings import SECRET, SET, Settings, names, paths, variable

GRAPH = (
    "home",
    "neo4j_uri",
    "neo4j_username",
    "neo4j_database",
    "neo4j_heap",
    "neo4j_page_cache",
    "preset",
    "collection",
)
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
ASPECTS = tuple(
    "aspects" if name == SET else name.removeprefix("aspects.")
    for name in names()
    if name.startswith("aspects.")
)
"""The flags of the aspect graph's settings, which have no table's name before them."""
WRITING = (
    *MODELS,
    "aspect_model",
    "temperature",
    "embedding_batch",
    "max_calls",
    "max_tokens",
    "prices",
    *ASPECTS,
)
"""What graphs are built with, of texts that are there."""
BUILDING = (*WRITING, "max_file_mb", "graphs", "chunk_tokens")
RANKING = (
    "mode",
    "top_k",
    "width",
    "depth",
    "fusion",
    "rewrite",
    "rerank",
    "rerank_model",
    "diversity",
    "expand",
)
ASKING = (
    *MODELS,
    "answer_temperature",
    "answer_tokens",
    *RANKING,
    "context",
    "context_tokens",
    "fill",
)
CORE = tuple(name for name in Settings.model_fields if name not in (*SECRET, "tables"))
ALL = (*CORE, *ASPECTS, "width", "depth", "fusion")

Command = Callable[..., Any]


def settings_flags(*names: str) -> Callable[[Command], Command]:
    """A flag for each named setting; the command is given `settings` in their place."""

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def with_settings(*args: Any, given: dict[str, Any], **values: Any) -> Any:
            return command(*args, settings=Settings.read(**given), **values)

        return given_flags(*names)(with_settings)

    return decorated


def given_flags(*names: str) -> Callable[[Command], Command]:
    """A flag for each named setting; the command gets `given`, those that were used, by name.

    With --set any other setting can be given, by its whole name.
    """

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def with_given(*args: Any, assigned: Sequence[tuple[str, str]], **values: Any) -> Any:
            flags = {name: values.pop(name) for name in names}
            # None: not given, which leaves it to the environment and the file.
            given = {name: value for name, value in flags.items() if value not in (None, ())}
            return command(*args, given=given | dict(assigned), **values)

        wrapped: Command = click.option(
            "--set",
            "assigned",
            multiple=True,
            type=Assignment(),
            help="any setting by its whole name, as aspects.levels=3; see `fabula settings`",
        )(with_given)
        for name in reversed(names):
            wrapped = _flag(name)(wrapped)
        return wrapped

    return decorated


class Assignment(click.ParamType[tuple[str, str]]):
    """A setting's whole name and its value."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """The name and the value as typed."""
        name, equals, typed = str(value).partition("=")
        if not (name and equals):
            self.fail(f"give a setting as name=value, not {value!r}", param, ctx)
        if name in SECRET:
            self.fail(
                f"others on this machine could read {name} in a flag: set {variable(name)}",
                param,
                ctx,
            )
        return name, typed


def _flag(name: str) -> Callable[[Command], Command]:
    # A flag of several tables has the same meaning in each.
    field = names()[paths(name)[0]]
    flag = f"--{name.replace('_', '-')}"
    told = field.description or ""
    if name == "graphs":
        usual = ", ".join(field.default)
        told = f"graph to build, instead of the usual; may be given again [{usual}]"
        return click.option("--graph", name, multiple=True, metavar="NAME", help=told)
    if name == "mode":
        told = f"{told}; or one of {', '.join(modes())}"
    if field.annotation is bool:
        no = flag.replace("--", "--no-", 1)
        shown = "on" if field.default else "off"
        return click.option(f"{flag}/{no}", name, default=None, help=f"{told} [{shown}]")
    choices = typing.get_args(field.annotation)
    literal = bool(choices) and all(isinstance(choice, str) for choice in choices)
    default = field.default
    shown = "" if default in (None, "", PydanticUndefined) else f" [{default}]"
    return click.option(
        flag,
        name,
        type=click.Choice(choices) if literal else str,
        metavar=None if literal else _metavar({type(default), *choices}),
        help=f"{told}{shown}",
    )


def _metavar(types: set[object]) -> str:
    return "N" if int in types else "X" if float in types else "TEXT"
