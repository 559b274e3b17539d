"""Flags made from settings: one a setting, with its description and its default."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable
from typing import Any

import click
from pydantic_core import PydanticUndefined

from fabula.settings import METHOD_SETTINGS, SECRET, Settings

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
BUILDING = (
    *MODELS,
    "aspect_model",
    "temperature",
    "embedding_batch",
    "details_per_call",
    "aspects_with_summaries",
    "max_calls",
    "max_tokens",
    "prices",
    "max_file_mb",
    *METHOD_SETTINGS,
)
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
ASKING = (*MODELS, "answer_temperature", "answer_tokens", *RANKING, "context_tokens")
ALL = tuple(name for name in Settings.model_fields if name not in SECRET)

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
    """A flag for each named setting; the command gets `given`, those that were used, by name."""

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def with_given(*args: Any, **values: Any) -> Any:
            flags = {name: values.pop(name) for name in names}
            given = {name: value for name, value in flags.items() if value is not None}
            return command(*args, given=given, **values)

        wrapped: Command = with_given
        for name in reversed(names):
            wrapped = _flag(name)(wrapped)
        return wrapped

    return decorated


def _flag(name: str) -> Callable[[Command], Command]:
    field = Settings.model_fields[name]
    flag = f"--{name.replace('_', '-')}"
    if field.annotation is bool:
        shown = "on" if field.default else "off"
        no = flag.replace("--", "--no-", 1)
        # None: not given, which leaves it to the environment and the file.
        return click.option(
            f"{flag}/{no}", name, default=None, help=f"{field.description} [{shown}]"
        )
    choices = typing.get_args(field.annotation)
    literal = bool(choices) and all(isinstance(choice, str) for choice in choices)
    default = field.default
    shown = "" if default in (None, "", PydanticUndefined) else f" [{default}]"
    return click.option(
        flag,
        name,
        type=click.Choice(choices) if literal else str,
        metavar=None if literal else _metavar({type(default), *choices}),
        help=f"{field.description}{shown}",
    )


def _metavar(types: set[object]) -> str:
    return "N" if int in types else "X" if float in types else "TEXT"
