"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.text.ids import digest


def identity_id(collection: str, members: Sequence[str]) -> str:
    """Return 20 hex digits; the order of `members`, ids of entities, does not matter."""
    return digest(10, "identity", collection, *sorted(members))
