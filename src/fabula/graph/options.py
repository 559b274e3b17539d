"""What the settings of every graph and mode have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FrozenOptions(BaseModel):
    """A table of settings: it can't be changed, and takes no name that it does not have."""

    model_config = ConfigDict(frozen=True, extra="forbid")
