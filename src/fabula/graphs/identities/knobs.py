"""The settings of identities: the table `[identities]`."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Knobs(BaseModel):
    """What a person decides; a name may be an entity's id, which stands for that one alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_apart: tuple[str, ...] = Field(
        (), description="names of two documents that are never one, each pair as 'John = John'"
    )
    join: tuple[str, ...] = Field(
        (), description="names of two documents that are one, each pair as 'Boz = Charles Dickens'"
    )

    @field_validator("keep_apart", "join", mode="before")
    @classmethod
    def _divided(cls, value: Any) -> Any:
        """A variable and a flag hold one text: its pairs stand on lines, or between semicolons."""
        if not isinstance(value, str):
            return value
        return tuple(filter(None, (one.strip() for one in re.split(r"[;\n]", value))))
