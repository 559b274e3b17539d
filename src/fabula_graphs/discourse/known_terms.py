"""The terms of events as a reader has them who has not read all of the text."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from fabula.graph import Node, Part
from fabula_graphs.discourse.labels import IS, TERM

ENTITIES = "entities"


def restrict_part(part: Part, below: Mapping[str, Part], chunks: Set[str]) -> Part:
    """Return events and links with those terms that the read chunks have, counted there."""
    entities = {node.id for node in below[ENTITIES].nodes} if ENTITIES in below else set()
    nodes = []
    for node in part.nodes:
        sources = tuple(id for id in node.sources if id in chunks)
        if node.label != TERM or len(sources) == len(node.sources):
            nodes.append(node)
            continue
        # The commonest form may be one of later chunks.
        key = node.properties["key"]
        properties = {**node.properties, "text": key, "name": key, "count": len(sources)}
        nodes.append(Node(node.id, node.label, properties, sources))
    edges = tuple(edge for edge in part.edges if edge.type != IS or edge.end in entities)
    return replace(part, nodes=tuple(nodes), edges=edges)
