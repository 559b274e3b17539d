"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.text.ids import digest


def identity_id(collection: str, members: Sequence[str]) -> str:
    """20 hex digits; the order of `members`, which are ids of entities, doesn't matter."""
    return digest(10, "identity", collection, *sorted(members))
