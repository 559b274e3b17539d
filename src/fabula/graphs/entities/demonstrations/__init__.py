"""Sets of demonstrations of the questions about entities and triples, one TOML file each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pydantic import BaseModel

from fabula.graph.demonstrations import read_demonstrations as read_set
from fabula.graphs.entities.records import ExtractionReply, TriplesReply

QUESTIONS: Mapping[str, type[BaseModel]] = {
    "entities": ExtractionReply,
    "triples": TriplesReply,
}
"""The shapes of the replies, by the names that the questions have in a file."""
read_demonstrations = partial(read_set, package=__name__, questions=QUESTIONS)
"""Reads a shipped set or a TOML file by its name (`fabula.graph.demonstrations`)."""
