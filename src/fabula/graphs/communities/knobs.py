"""The settings of communities: the table `[communities]`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

CHAT_ONLY = frozenset({"report_tokens_in", "report_tokens", "claims", "window_tokens", "gleanings"})
"""What changes nothing where no chat model is asked."""
OF_CLAIMS = frozenset({"window_tokens", "gleanings"})
"""What changes nothing where no claims are asked for."""
UNASKED = frozenset({"max_cluster_size", "report_tokens_in", "claims"})
"""What changes none of the questions: another division, or another context, asks others."""


class Dividing(BaseModel):
    """How communities are found, and how much is read and written of each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_cluster_size: int = Field(
        10,
        ge=2,
        le=10_000,
        description="a community of more entities is divided, if there is a way to divide it",
    )
    report_tokens_in: int = Field(
        8000, ge=200, description="most tokens of a community that the call for its report reads"
    )
    report_tokens: int = Field(
        400, ge=50, le=4000, description="most tokens of a report: its summary and findings"
    )


class Knobs(Dividing):
    """How the graph is made; the same entities, knobs and replies give the same graph."""

    claims: bool = Field(
        False,
        description="statements, promises, accusations and lies, too: calls for each window",
    )
    window_tokens: int = Field(
        600, ge=1, description="most tokens of the whole chunks that one call for claims reads"
    )
    gleanings: int = Field(
        1, ge=0, le=5, description="times that a model is asked which claims it missed"
    )
