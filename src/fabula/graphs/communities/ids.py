"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.text.ids import digest


def community_id(owner: str, level: int, members: Sequence[str]) -> str:
    """20 hex digits; `owner` is a document or a collection, `members` are ids, in any order."""
    return digest(10, "community", owner, str(level), *sorted(members))


def report_id(community: str) -> str:
    """20 hex digits; a community has one report."""
    return digest(10, "report", community)


def claim_id(chunk: str, text: str) -> str:
    """20 hex digits; of what one chunk claims."""
    return digest(10, "claim", chunk, text)
