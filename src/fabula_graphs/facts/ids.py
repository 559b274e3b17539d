"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from fabula.text.ids import digest


def fact_id(document: str, subject: str, predicate: str, object: str) -> str:
    """Return 20 hex digits; ends are the ids of entities, or words as phrases are compared."""
    return digest(10, "fact", document, subject, predicate, object)
