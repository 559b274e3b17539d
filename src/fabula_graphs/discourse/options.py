"""The settings of the discourse graph and of the mode that walks it: the table `[discourse]`."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.options import FrozenOptions

ASKING = frozenset({"near", "related", "matched", "reasoning", "widen"})
"""What only questions read: the graph is the same."""


class Options(FrozenOptions):
    """How the graph is made, and how far a question looks in it."""

    senses: str = Field(
        "pdtb3", description="senses of discourse relations: a shipped set's name or a TOML file"
    )
    demonstrations: str = Field(
        "narrative",
        description="examples in the prompts: a shipped set's name, a TOML file, or 'none'",
    )
    window_tokens: int = Field(
        600,
        ge=1,
        le=200_000,
        description="maximum tokens of the whole chunks that one call reads for events",
    )
    pairs: int = Field(
        12, ge=1, le=100, description="pairs of neighbouring chunks that one call judges"
    )
    near: int = Field(3, ge=1, le=100, description="chunks nearest to the question")
    related: int = Field(
        2,
        ge=0,
        le=100,
        description="maximum chunks for each of them that stand in the sense asked for",
    )
    matched: int = Field(
        3, ge=0, le=100, description="chunks with the question's who, when, where and so on"
    )
    reasoning: bool = Field(
        False,
        description="whether a question's senses are found step by step, in a call of their own",
    )
    widen: bool = Field(
        True,
        description="whether the next nearest chunks fill what is left",
    )
