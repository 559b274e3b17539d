"""The options of communities: the table `[communities]`."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.options import FrozenOptions

CHAT_ONLY = frozenset({"report_tokens_in", "report_tokens", "claims", "window_tokens", "gleanings"})
"""Options that change nothing where no chat model is asked."""
OF_CLAIMS = frozenset({"window_tokens", "gleanings"})
"""Options that change nothing where no claims are asked for."""
UNASKED = frozenset({"max_cluster_size", "report_tokens_in", "claims"})
"""Options that change no question to a model: with another value a build asks other questions, and
still reuses the replies to those that stay the same."""


class DivisionOptions(FrozenOptions):
    """How communities are found, and how much is read and written of each."""

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


class Options(DivisionOptions):
    """The table `[communities]`.

    The same entities, options and replies give the same graph.
    """

    claims: bool = Field(
        False,
        description="also ask for claims (statements, promises, accusations, lies), in calls for "
        "each window",
    )
    window_tokens: int = Field(
        600, ge=1, description="maximum tokens of the whole chunks that one call for claims reads"
    )
    gleanings: int = Field(
        1, ge=0, le=5, description="how often a model is asked which claims it missed"
    )
