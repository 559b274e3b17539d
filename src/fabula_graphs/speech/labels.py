"""The label and edge types of the graph of speech, and the step of its build."""

from __future__ import annotations

QUOTATION = "Quotation"
FROM_CHUNK, SPOKEN_BY, SPOKEN_TO = "FROM_CHUNK", "SPOKEN_BY", "SPOKEN_TO"
SPEAKERS = "speakers"
"""The step in which a chat model is asked, and in which there may be gaps."""
