"""The labels and edge types of the discourse graph, and the steps of its build."""

from __future__ import annotations

from fabula.graphs.discourse.values import SLOTS

EVENT, TERM, LINK = "Event", "Term", "Link"
FROM_CHUNK, IS, ARG1, ARG2 = "FROM_CHUNK", "IS", "ARG1", "ARG2"
SLOT_EDGES = {slot: slot.upper() for slot in SLOTS}
EVENTS, LINKS = "events", "links"
"""The steps in which a chat model is asked, and in which there may be gaps."""
