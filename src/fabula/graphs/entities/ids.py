"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from fabula.text.ids import digest


def entity_id(document: str, key: str) -> str:
    """Return 20 hex digits; `key` is the entity's key, which no other of the document has."""
    return digest(10, "entity", document, key)


def relation_id(document: str, first: str, second: str) -> str:
    """Return 20 hex digits; the order of the two ids of entities does not matter."""
    return digest(10, "relation", document, *sorted((first, second)))


def triple_id(document: str, subject: str, predicate: str, object: str) -> str:
    """Return 20 hex digits; the three are as `triples.phrase` returns them."""
    return digest(10, "triple", document, subject, predicate, object)
