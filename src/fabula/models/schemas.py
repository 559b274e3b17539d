"""The JSON schemas of replies that models are asked for."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Item = TypeVar("Item")
Filled = Annotated[list[Item], Field(json_schema_extra={"minItems": 1})]
"""A list that a reply has to fill. Only the schema says so, for servers that hold a model to it:
where an empty list is allowed, a small model may end its reply there. Many servers ignore it, so
replies are checked where they are read."""


class QueriesReply(BaseModel):
    """Other wordings of a question."""

    model_config = ConfigDict(extra="forbid")

    queries: Filled[str]


class RankingReply(BaseModel):
    """The numbers of passages, best first."""

    model_config = ConfigDict(extra="forbid")

    ranking: list[int]


class ChoiceReply(BaseModel):
    """The number of the chosen option."""

    model_config = ConfigDict(extra="forbid")

    choice: int
