"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.text.ids import digest


def episode_id(document: str, members: Sequence[str]) -> str:
    """Return an episode's id, 20 hex digits; `members` are the ids of its members in text order."""
    return digest(10, "episode", document, *members)
