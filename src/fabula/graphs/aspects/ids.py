"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.text.ids import digest


def summary_id(document: str, aspect: str, level: int, members: Sequence[str]) -> str:
    """20 hex digits; the order of `members`, which are ids, doesn't matter."""
    return digest(10, "summary", document, aspect, str(level), *sorted(members))


def detail_id(chunk: str, ordinal: int) -> str:
    """20 hex digits; `ordinal` counts from 0 within the chunk."""
    return digest(10, "detail", chunk, str(ordinal))
