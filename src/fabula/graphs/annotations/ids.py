"""The ids of this graph's nodes: digests of what they are made from."""

from __future__ import annotations

from fabula.text.ids import digest


def annotation_id(document: str, layer: str, id: str) -> str:
    """Return 20 hex digits of an annotation, by its layer and its id in that."""
    return digest(10, "annotation", document, layer, id)
