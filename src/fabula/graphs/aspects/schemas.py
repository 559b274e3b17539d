"""The JSON schemas of models' replies about aspects, summaries and details.

The names, fields and docstrings of these classes are sent with each call, and are part of the
response cache's keys: a change has every call made and paid again.
"""

from __future__ import annotations

import functools
from typing import Annotated

from pydantic import WithJsonSchema, create_model

from fabula.models.schemas import Filled, ReplyShape


class AspectsReply(ReplyShape):
    """The aspects that are clearest in some passages."""

    aspects: list[str]


class DetailsReply(ReplyShape):
    """Key facts of a passage."""

    details: Filled[str]


class PassageDetails(ReplyShape):
    """Key facts of the passage with that number."""

    passage: int
    details: Filled[str]


class PassagesReply(ReplyShape):
    """Key facts of several passages."""

    passages: Filled[PassageDetails]


class CondensedReply(ReplyShape):
    """Condensations of a passage, each of all of it."""

    details: Filled[str]


class PassageCondensed(ReplyShape):
    """Condensations of the passage with that number, each of all of it."""

    passage: int
    details: Filled[str]


class CondensedPassagesReply(ReplyShape):
    """Condensations of several passages."""

    passages: Filled[PassageCondensed]


class AspectSummary(ReplyShape):
    """What some passages tell about one aspect."""

    aspect: str
    summary: str


class SummariesReply(ReplyShape):
    """The aspects that are clearest in some passages, each with its summary."""

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
