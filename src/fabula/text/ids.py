"""Ids from content: equal input has equal ids, and what an edit leaves alone keeps its own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def document_id(collection: str, source: str) -> str:
    """16 hex digits; from where a document comes, not from what it says, which may change."""
    return _digest(8, "document", collection, source)


def chunk_id(document: str, text: str, count: int) -> str:
    """20 hex digits; `count` tells a document's equal texts apart, from 0 in text order."""
    return _digest(10, "chunk", document, text, str(count))


def summary_id(document: str, aspect: str, level: int, members: Sequence[str]) -> str:
    """20 hex digits; the order of `members`, which are ids, doesn't matter."""
    return _digest(10, "summary", document, aspect, str(level), *sorted(members))


def detail_id(chunk: str, ordinal: int) -> str:
    """20 hex digits; `ordinal` counts from 0 within the chunk."""
    return _digest(10, "detail", chunk, str(ordinal))


def entity_id(document: str, key: str) -> str:
    """20 hex digits; `key` is its name as names are compared, one of its kind in the document."""
    return _digest(10, "entity", document, key)


def relation_id(document: str, first: str, second: str) -> str:
    """20 hex digits; the order of the two, which are ids of entities, doesn't matter."""
    return _digest(10, "relation", document, *sorted((first, second)))


def identity_id(collection: str, members: Sequence[str]) -> str:
    """20 hex digits; the order of `members`, which are ids of entities, doesn't matter."""
    return _digest(10, "identity", collection, *sorted(members))


def triple_id(document: str, subject: str, predicate: str, object: str) -> str:
    """20 hex digits; the three as phrases are compared."""
    return _digest(10, "triple", document, subject, predicate, object)


def community_id(owner: str, level: int, members: Sequence[str]) -> str:
    """20 hex digits; `owner` is a document or a collection, `members` are ids, in any order."""
    return _digest(10, "community", owner, str(level), *sorted(members))


def report_id(community: str) -> str:
    """20 hex digits; a community has one report."""
    return _digest(10, "report", community)


def claim_id(chunk: str, text: str) -> str:
    """20 hex digits; of what one chunk claims."""
    return _digest(10, "claim", chunk, text)


def event_id(chunk: str, ordinal: int) -> str:
    """20 hex digits; `ordinal` counts from 0 within the chunk."""
    return _digest(10, "event", chunk, str(ordinal))


def term_id(document: str, slot: str, key: str) -> str:
    """20 hex digits; `key` is the value as values are compared."""
    return _digest(10, "term", document, slot, key)


def link_id(arg1: str, arg2: str) -> str:
    """20 hex digits; of the two chunks in their order."""
    return _digest(10, "link", arg1, arg2)


def fact_id(document: str, subject: str, predicate: str, object: str) -> str:
    """20 hex digits; the ends by the ids of entities, or as phrases are compared."""
    return _digest(10, "fact", document, subject, predicate, object)


def gap_id(document: str, graph: str, step: str, what: str, rests_on: Sequence[str]) -> str:
    """20 hex digits; `what` tells those apart that rest on the same, in whatever order."""
    return _digest(10, "gap", document, graph, step, what, *sorted(rests_on))


def _digest(size: int, *parts: str) -> str:
    # A path may hold bytes that are no UTF-8; Python keeps them as lone surrogates.
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=size).hexdigest()
