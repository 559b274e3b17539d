"""The settings of the graph of annotations and of the mode that asks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from fabula.graph.options import FrozenOptions

ASKING = frozenset({"found"})
"""What only questions read: the graph is the same."""


class Options(FrozenOptions):
    """How annotations are kept and asked: the table `[annotations]`."""

    embed_notes: bool = Field(
        True,
        description="embed annotations that say something in words of their own, such as notes, so "
        "that they are found by meaning; all are found by their words",
    )
    found: int = Field(
        40, ge=1, le=1000, description="annotations that a question looks at, best first"
    )


def part_settings(options: Options, offline: bool) -> Mapping[str, Any]:
    """Return the settings that the graph depends on."""
    return options.model_dump(mode="json", exclude=set(ASKING))
