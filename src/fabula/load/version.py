"""The version of how files are read."""

from __future__ import annotations

READING_VERSION = 4
"""Is raised when a reader gets another text, or other headings, from files that it read before.

Documents record it. `fabula list` names those that an earlier version read; nothing is built anew
before their files are ingested again.
"""
