"""A prompt that offers tools, and the calls that a model replies with."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from fabula.models import OfferedTool, Prompt, ToolOffer


class Arguments(BaseModel):
    """What to search for."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(description="the words")


class CallsReply(BaseModel):
    """The calls."""

    model_config = ConfigDict(extra="forbid")

    calls: list[dict[str, Any]]


OFFER = ToolOffer((OfferedTool("search", "Find passages", Arguments),), "Call by JSON: search.")
PROMPT = Prompt("You read.", "Who?", 100, 0, CallsReply, offer=OFFER)
CALLS = json.dumps({"calls": [{"tool": "search", "arguments": {"query": "Marley"}}]})


def call(arguments: Any, name: Any = "search") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": "call_1", "type": "function", "function": function}
