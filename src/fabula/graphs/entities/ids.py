"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from fabula.text.ids import digest


def entity_id(document: str, key: str) -> str:
    """20 hex digits; `key` is its name as names are compared, one of its kind in the document."""
    return digest(10, "entity", document, key)


def relation_id(document: str, first: str, second: str) -> str:
    """20 hex digits; the order of the two, which are ids of entities, doesn't matter."""
    return digest(10, "relation", document, *sorted((first, second)))


def triple_id(document: str, subject: str, predicate: str, object: str) -> str:
    """20 hex digits; the three as phrases are compared."""
    return digest(10, "triple", document, subject, predicate, object)
