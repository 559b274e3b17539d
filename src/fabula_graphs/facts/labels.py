"""The labels and edge types of the graph of facts, and the steps of its build."""

from __future__ import annotations

FACT = "Fact"
FROM_CHUNK, SUBJECT, OBJECT = "FROM_CHUNK", "SUBJECT", "OBJECT"
STATEMENTS, NORMALISATION = "statements", "normalisation"
"""The steps in which a chat model is asked, and in which there may be gaps."""
