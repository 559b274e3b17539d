"""The options of the graph of episodes: the table `[episodes]`."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.options import FrozenOptions


class Options(FrozenOptions):
    """The table `[episodes]`; the same text, options and replies give the same graph."""

    window_chunks: int = Field(
        0,
        ge=0,
        le=1000,
        description="maximum chunks that an episode of the lowest level summarises; 0: by the "
        "number of the document's chunks, as in ComoRAG",
    )
    window_tokens: int = Field(
        6000,
        ge=64,
        le=200_000,
        description="approximate maximum tokens of the chunks that an episode of the lowest level "
        "summarises",
    )
    members: int = Field(
        6, ge=3, le=100, description="maximum episodes that an episode of a higher level summarises"
    )
    summary_tokens: int = Field(200, ge=16, description="maximum tokens of an episode")
