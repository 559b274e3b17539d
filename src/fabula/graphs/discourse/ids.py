"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from fabula.text.ids import digest


def event_id(chunk: str, ordinal: int) -> str:
    """20 hex digits; `ordinal` counts from 0 within the chunk."""
    return digest(10, "event", chunk, str(ordinal))


def term_id(document: str, slot: str, key: str) -> str:
    """20 hex digits; `key` is the value as values are compared."""
    return digest(10, "term", document, slot, key)


def link_id(arg1: str, arg2: str) -> str:
    """20 hex digits; of the two chunks in their order."""
    return digest(10, "link", arg1, arg2)
