"""The JSON schemas of what models reply about aspects, summaries and details."""

from __future__ import annotations

import functools
from typing import Annotated

from pydantic import BaseModel, ConfigDict, WithJsonSchema, create_model


class AspectsReply(BaseModel):
    """The aspects that are clearest in some passages."""

    model_config = ConfigDict(extra="forbid")

    aspects: list[str]


class DetailsReply(BaseModel):
    """Key facts of a passage."""

    model_config = ConfigDict(extra="forbid")

    details: list[str]


class PassageDetails(BaseModel):
    """Key facts of the passage with that number."""

    model_config = ConfigDict(extra="forbid")

    passage: int
    details: list[str]


class PassagesReply(BaseModel):
    """Key facts of several passages."""

    model_config = ConfigDict(extra="forbid")

    passages: list[PassageDetails]


class AspectSummary(BaseModel):
    """What some passages tell about one aspect."""

    model_config = ConfigDict(extra="forbid")

    aspect: str
    summary: str


class SummariesReply(BaseModel):
    """The aspects that are clearest in some passages, each with its summary."""

    model_config = ConfigDict(extra="forbid")

    summaries: list[AspectSummary]


@functools.cache
def aspects_reply(names: tuple[str, ...]) -> type[AspectsReply]:
    """AspectsReply whose schema tells an endpoint the closed list."""
    listed = {"type": "array", "items": {"type": "string", "enum": list(names)}}
    closed = Annotated[list[str], WithJsonSchema(listed)]
    return create_model("AspectsReply", __base__=AspectsReply, aspects=(closed, ...))


@functools.cache
def summaries_reply(names: tuple[str, ...]) -> type[SummariesReply]:
    """SummariesReply whose schema tells an endpoint the closed list."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(names)})]
    one = create_model("AspectSummary", __base__=AspectSummary, aspect=(closed, ...))
    return create_model("SummariesReply", __base__=SummariesReply, summaries=(list[one], ...))
