"""Ids that are hashes of content: parts that an edit does not change keep their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def document_id(collection: str, source: str) -> str:
    """Return the id of a document, 16 hex digits, made from its source and not from its text."""
    return digest(8, "document", collection, source)


def chunk_id(document: str, text: str, count: int) -> str:
    """Return the id of a chunk, 20 hex digits; `count` numbers equal texts of a document from 0.

    White space around it does not count: the last chunk of a text stays itself where that goes on.
    """
    return digest(10, "chunk", document, text.strip(), str(count))


def gap_id(document: str, graph: str, step: str, what: str, rests_on: Sequence[str]) -> str:
    """Return the id of a gap, 20 hex digits; `what` tells gaps with the same sources apart."""
    return digest(10, "gap", document, graph, step, what, *sorted(rests_on))


def digest(size: int, *parts: str) -> str:
    """Return a hash of texts, in this order, as `2 * size` hex digits."""
    # A path may have bytes that are not UTF-8, which Python represents as lone surrogates.
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=size).hexdigest()
