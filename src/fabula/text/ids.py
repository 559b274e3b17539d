"""Ids from content: equal input has equal ids, and what an edit leaves alone keeps its own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def document_id(collection: str, source: str) -> str:
    """16 hex digits; from where a document comes, not from what it says, which may change."""
    return digest(8, "document", collection, source)


def chunk_id(document: str, text: str, count: int) -> str:
    """20 hex digits; `count` tells a document's equal texts apart, from 0 in text order."""
    return digest(10, "chunk", document, text, str(count))


def gap_id(document: str, graph: str, step: str, what: str, rests_on: Sequence[str]) -> str:
    """20 hex digits; `what` tells those apart that rest on the same, in whatever order."""
    return digest(10, "gap", document, graph, step, what, *sorted(rests_on))


def digest(size: int, *parts: str) -> str:
    """Return `2 * size` hex digits of texts, in this order."""
    # A path may hold bytes that are no UTF-8; Python keeps them as lone surrogates.
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=size).hexdigest()
