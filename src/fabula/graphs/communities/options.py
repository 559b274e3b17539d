"""The options of communities: the table `[communities]`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

CHAT_ONLY = frozenset({"report_tokens_in", "report_tokens"})
"""Options that change nothing where no chat model is asked."""
UNASKED = frozenset({"max_cluster_size", "report_tokens_in"})
"""Options that change no question to a model: with another value a build asks other questions, and
still reuses the replies to those that stay the same."""


class Options(BaseModel):
    """How communities are found, and how much is read and written of each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_cluster_size: int = Field(
        10,
        ge=2,
        le=10_000,
        description="a community of more entities is divided further, where that is possible",
    )
    report_tokens_in: int = Field(
        8000,
        ge=200,
        description="maximum tokens about a community that the call for its report reads",
    )
    report_tokens: int = Field(
        400,
        ge=50,
        le=4000,
        description="maximum tokens of a report: its summary and findings",
    )
