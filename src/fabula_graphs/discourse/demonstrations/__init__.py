"""Sets of demonstrations of the questions about events and links, one TOML file each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pydantic import BaseModel

from fabula.graph.demonstrations import read_demonstrations as read_set
from fabula_graphs.discourse.questions import EventsReply, LinksReply

QUESTIONS: Mapping[str, type[BaseModel]] = {
    "events": EventsReply,
    "links": LinksReply,
}
"""The shapes of the replies, by the names that the questions have in a file."""
read_demonstrations = partial(read_set, package=__name__, questions=QUESTIONS)
"""Reads a shipped set or a TOML file by its name (`fabula.graph.demonstrations`)."""
