"""The mode `agent`: a model that searches and reads until the passages answer the question.

`loop` asks the model round by round and carries out the tools that it calls. `text_tools` are those
of the text itself; each graph brings its own (`Graph.tools`), which are offered where it is built.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from fabula.graph.options import FrozenOptions

PROMPTS = Path(__file__).parent / "prompts"
Effort = Literal["low", "medium", "high"]
ROUNDS: dict[Effort, int] = {"low": 1, "medium": 5, "high": 15}
"""How often the model may call tools before it has to answer."""


class AgentOptions(FrozenOptions):
    """The settings of the mode: how long the model may read, and what that may cost."""

    effort: Effort = Field(
        "medium", description="how often agent may call tools: 1 round, 5 or 15, then it answers"
    )
    max_tokens: int = Field(
        250_000,
        ge=2_000,
        le=10_000_000,
        description="maximum tokens that agent may use for one question",
    )
    max_usd: float | None = Field(
        None, gt=0, le=1_000, description="maximum US dollars that agent may spend on one question"
    )
    result_tokens: int = Field(
        1_500, ge=100, le=20_000, description="maximum tokens that one call of agent's tools shows"
    )
    answer_tokens: int = Field(
        8_000,
        ge=500,
        le=200_000,
        description="maximum tokens of passages that agent's answer is written from",
    )
    words: int = Field(350, ge=20, le=5_000, description="approximate words of agent's answer")
