"""The JSON schemas of replies that models are asked for."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class QueriesReply(BaseModel):
    """Other wordings of a question."""

    model_config = ConfigDict(extra="forbid")

    queries: list[str]


class RankingReply(BaseModel):
    """The numbers of passages, best first."""

    model_config = ConfigDict(extra="forbid")

    ranking: list[int]


class ChoiceReply(BaseModel):
    """The number of the chosen option."""

    model_config = ConfigDict(extra="forbid")

    choice: int
