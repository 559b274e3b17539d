"""The JSON schemas of replies that models are asked for."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Item = TypeVar("Item")
Filled = Annotated[list[Item], Field(json_schema_extra={"minItems": 1})]
"""A list that a reply has to fill. Only the schema says so, for servers that hold a model to it:
where an empty list is allowed, a small model may end its reply there. Many servers ignore it, so
replies are checked where they are read."""


class ReplyShape(BaseModel):
    """A reply, or a part of one, that may have no other fields than those listed."""

    model_config = ConfigDict(extra="forbid")


class QueriesReply(ReplyShape):
    """Other wordings of a question."""

    queries: Filled[str]


class RankingReply(ReplyShape):
    """The numbers of passages, best first."""

    ranking: list[int]


class ChoiceReply(ReplyShape):
    """The number of the chosen option."""

    choice: int
