"""The JSON schemas of models' replies about aspects, summaries and details.

The names, fields and docstrings of these classes are sent with each call, and are part of the
response cache's keys: a change has every call made and paid again.
"""

from __future__ import annotations

import functools
from typing import Annotated

from pydantic import BaseModel, ConfigDict, WithJsonSchema, create_model

from fabula.models.schemas import Filled


class AspectsReply(BaseModel):
    """The aspects that are clearest in some passages."""

    model_config = ConfigDict(extra="forbid")

    aspects: list[str]


class DetailsReply(BaseModel):
    """Key facts of a passage."""

    model_config = ConfigDict(extra="forbid")

    details: Filled[str]


class PassageDetails(BaseModel):
    """Key facts of the passage with that number."""

    model_config = ConfigDict(extra="forbid")

    passage: int
    details: Filled[str]


class PassagesReply(BaseModel):
    """Key facts of several passages."""

    model_config = ConfigDict(extra="forbid")

    passages: Filled[PassageDetails]


class CondensedReply(BaseModel):
    """Condensations of a passage, each of all of it."""

    model_config = ConfigDict(extra="forbid")

    details: Filled[str]


class PassageCondensed(BaseModel):
    """Condensations of the passage with that number, each of all of it."""

    model_config = ConfigDict(extra="forbid")

    passage: int
    details: Filled[str]


class CondensedPassagesReply(BaseModel):
    """Condensations of several passages."""

    model_config = ConfigDict(extra="forbid")

    passages: Filled[PassageCondensed]


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
    """Return `AspectsReply` with a schema that allows only these names."""
    listed = {"type": "array", "items": {"type": "string", "enum": list(names)}}
    closed = Annotated[list[str], WithJsonSchema(listed)]
    return create_model("AspectsReply", __base__=AspectsReply, aspects=(closed, ...))


@functools.cache
def summaries_reply(names: tuple[str, ...]) -> type[SummariesReply]:
    """Return `SummariesReply` with a schema that allows only these names."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(names)})]
    summary = create_model("AspectSummary", __base__=AspectSummary, aspect=(closed, ...))
    return create_model("SummariesReply", __base__=SummariesReply, summaries=(list[summary], ...))
