"""The settings of the graph of speech and of the mode that asks it."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.options import FrozenOptions

CHAT_ONLY = frozenset({"window_tokens"})
"""What changes nothing where no chat model is asked."""
ASKING = frozenset({"said"})
"""What only questions read: the graph is the same."""


class Options(FrozenOptions):
    """How speakers are found: the table `[speech]`."""

    window_tokens: int = Field(
        1200,
        ge=1,
        le=200_000,
        description="maximum tokens of the whole chunks that one call reads for speakers",
    )
    said: int = Field(
        40, ge=1, le=1000, description="quotations of a speaker that a question looks at first"
    )
