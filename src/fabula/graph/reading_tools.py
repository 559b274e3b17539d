"""What a model may call to read a text: the contract of the tools that graphs bring for `agent`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools

MAX_ARGUMENT_CHARACTERS = 2_000
"""The most characters of one argument: a search text, or a name."""


class ToolArguments(BaseModel):
    """The arguments of every tool.

    Their descriptions are sent to models. `document` is resolved before a tool runs: the filters
    that it is given are of this document already.
    """

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    document: str = Field(
        "",
        max_length=MAX_ARGUMENT_CHARACTERS,
        description="the title of one document, where there are several; empty for all",
    )


class SearchArguments(ToolArguments):
    """What to search for."""

    query: str = Field(
        min_length=1, max_length=MAX_ARGUMENT_CHARACTERS, description="what to search for"
    )


class NameArguments(ToolArguments):
    """Of whom or what to read."""

    name: str = Field(
        min_length=1,
        max_length=MAX_ARGUMENT_CHARACTERS,
        description="the name of a person, place or thing",
    )


@dataclass(frozen=True, slots=True)
class ReadingResult:
    """What a tool found.

    Attributes:
        hits: What the model is given to read, in the order in which it should read it. Each gets a
            number and may be cited, so it has to have a place in its document.
        note: What the model is to know beside, in one or two sentences; '' for nothing. It may hold
            nothing of a text that the filters do not let through.
    """

    hits: tuple[Hit, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReadingTool:
    """A tool that a model may call to read a text.

    A tool reads only, only within the filters, and asks no chat model.

    Attributes:
        name: Its name, as the model calls it; no two tools have the same.
        about: What it finds and when to call it, for the model.
        arguments: The class of its arguments, with a description of each.
        run: Finds what the arguments ask for, within the filters. It raises NotFound, with a
            message for the model, for something that is not there.
    """

    name: str
    about: str
    arguments: type[ToolArguments]
    run: Callable[[Any, Filters, Tools], ReadingResult]
