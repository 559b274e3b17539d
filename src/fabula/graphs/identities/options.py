"""The settings of identities: the table `[identities]`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fabula.graphs.entities.decisions import Pairs


class Options(BaseModel):
    """What a person decides; a name may be an entity's id, which stands for that one alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_apart: Pairs = Field(
        (), description="names of two documents that are never one, each pair as 'John = John'"
    )
    join: Pairs = Field(
        (), description="names of two documents that are one, each pair as 'Boz = Charles Dickens'"
    )
