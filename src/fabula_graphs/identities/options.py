"""The settings of identities: the table `[identities]`."""

from __future__ import annotations

from pydantic import Field

from fabula.graph.options import FrozenOptions
from fabula.graphs.entities.decided_pairs import Pairs


class Options(FrozenOptions):
    """What a person decides; the id of an entity may stand for its name."""

    keep_apart: Pairs = Field(
        (), description="names in two documents that are never one entity's, as 'John = John'"
    )
    join: Pairs = Field(
        (), description="names in two documents that are one entity's, as 'Boz = Charles Dickens'"
    )
