"""The labels and edge types of the aspect graph."""

from __future__ import annotations

SUMMARY, DETAIL = "Summary", "Detail"
SUMMARIZES, DETAILS = "SUMMARIZES", "DETAILS"

MODEL, RULES = "model", "rules"
"""Values of the property `by` of summaries and details: who wrote them. Rules only quote."""
