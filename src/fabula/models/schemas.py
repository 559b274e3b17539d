"""The shapes of JSON that models are asked to reply in."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class QueriesReply(BaseModel):
    """Other wordings of a question."""

    model_config = ConfigDict(extra="forbid")

    queries: list[str]


class RankingReply(BaseModel):
    """Numbers of passages, best first."""

    model_config = ConfigDict(extra="forbid")

    ranking: list[int]


class ChoiceReply(BaseModel):
    """The number of an option."""

    model_config = ConfigDict(extra="forbid")

    choice: int
