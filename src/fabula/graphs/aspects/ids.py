"""The ids of this graph's nodes: digests of what the nodes are made from."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.text.ids import digest


def summary_id(document: str, aspect: str, level: int, members: Sequence[str]) -> str:
    """Return a summary's id, 20 hex digits; `members` are ids, in any order."""
    return digest(10, "summary", document, aspect, str(level), *sorted(members))


def detail_id(chunk: str, ordinal: int) -> str:
    """Return the id of a chunk's detail, 20 hex digits; `ordinal` counts from 0 in the chunk."""
    return digest(10, "detail", chunk, str(ordinal))
