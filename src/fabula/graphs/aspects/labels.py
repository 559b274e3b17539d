"""The labels and edge types of the aspect graph."""

from __future__ import annotations

SUMMARY, DETAIL = "Summary", "Detail"
SUMMARIZES, DETAILS = "SUMMARIZES", "DETAILS"
