"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from fabula.text.ids import digest


def event_id(chunk: str, ordinal: int) -> str:
    """Return 20 hex digits; `ordinal` counts from 0 within the chunk."""
    return digest(10, "event", chunk, str(ordinal))


def term_id(document: str, slot: str, key: str) -> str:
    """Return 20 hex digits; `key` is the normal form of the value."""
    return digest(10, "term", document, slot, key)


def link_id(arg1: str, arg2: str) -> str:
    """Return 20 hex digits; the chunks are in text order."""
    return digest(10, "link", arg1, arg2)
