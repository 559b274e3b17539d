"""The quotations of a text as a reader has them who has not read all of it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from fabula.graph import TEXT, Node, Part
from fabula_graphs.speech.labels import SPOKEN_BY, SPOKEN_TO

ENTITIES = "entities"
ENDS = {SPOKEN_BY: ("speaker", "printed"), SPOKEN_TO: ("addressee", "printed_addressee")}
"""The properties of a quotation that name the entity at the end of an edge, and as printed."""


def restrict_part(part: Part, below: Mapping[str, Part], chunks: Set[str]) -> Part:
    """Return the quotations of the read chunks, with the names that these chunks print.

    What says who speaks may stand in a chunk that was not read: then nobody is named.
    """
    read = [node for node in below[TEXT].nodes if node.id in chunks]
    until = max((int(node.properties["end"]) for node in read), default=0)
    entities = below[ENTITIES].nodes if ENTITIES in below else ()
    names = {node.id: str(node.properties["name"]) for node in entities}
    edges = tuple(edge for edge in part.edges if edge.type not in ENDS or edge.end in names)
    ends = {(edge.start, edge.type): edge.end for edge in edges if edge.type in ENDS}
    known = {(edge.start, edge.type) for edge in part.edges if edge.type in ENDS}
    nodes = []
    nobody = set()
    for node in part.nodes:
        properties: dict[str, Any] = dict(node.properties)
        for type, (named, printed) in ENDS.items():
            if (node.id, type) in ends:
                properties[named] = names[ends[node.id, type]]
            elif (node.id, type) in known:
                properties[named] = properties[printed]
        if max(properties["evidence_end"], properties["mention_end"]) > until:
            properties |= {"speaker": "", "printed": "", "evidence": "", "rule": ""}
            properties |= {"confidence": 0.0, "doubtful": False}
            nobody.add(node.id)
        if properties["quoted_until"] > until:
            properties |= {"quoted_by": "", "quoted_until": 0}
        properties["name"] = f"{properties['speaker'] or '?'}: {properties['text']}"[:60]
        nodes.append(Node(node.id, node.label, properties, node.sources))
    edges = tuple(edge for edge in edges if edge.type != SPOKEN_BY or edge.start not in nobody)
    return replace(part, nodes=tuple(nodes), edges=edges)
