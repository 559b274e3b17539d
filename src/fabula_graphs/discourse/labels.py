"""The labels and edge types of the discourse graph, and the steps of its build."""

from __future__ import annotations

EVENT, TERM, LINK = "Event", "Term", "Link"
FROM_CHUNK, IS, ARG1, ARG2 = "FROM_CHUNK", "IS", "ARG1", "ARG2"
SLOTS = ("who", "predicate", "what", "when", "where", "why", "how")
"""What an event has; in this order matches count if they are otherwise equal."""
SLOT_EDGES = {slot: slot.upper() for slot in SLOTS}
EVENTS, LINKS = "events", "links"
"""The steps in which a chat model is asked, and in which there may be gaps."""
