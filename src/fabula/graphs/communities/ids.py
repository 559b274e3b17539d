"""The ids of this graph's nodes: digests of what the nodes are made from."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.text.ids import digest


def community_id(owner: str, level: int, members: Sequence[str]) -> str:
    """Return a community's id, 20 hex digits.

    Args:
        owner: The id of the document, or the name of the collection, that it belongs to.
        level: Its level, from 0.
        members: The ids of its members, in any order.
    """
    return digest(10, "community", owner, str(level), *sorted(members))


def report_id(community: str) -> str:
    """Return the id of a community's report, 20 hex digits."""
    return digest(10, "report", community)


def claim_id(chunk: str, text: str) -> str:
    """Return the id of a claim in a chunk, 20 hex digits."""
    return digest(10, "claim", chunk, text)
