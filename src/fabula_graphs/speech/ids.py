"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from fabula.text.ids import digest


def quotation_id(chunk: str, offset: int, length: int) -> str:
    """Return 20 hex digits; `offset` is that of the quotation in the chunk where it begins."""
    return digest(10, "quotation", chunk, str(offset), str(length))
