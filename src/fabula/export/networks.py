"""Write the network of entities as a file for other programs: GraphML or GEXF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fabula.export.files import replace_file
from fabula.export.graph_xml import (
    LABEL,
    WEIGHT,
    Written,
    XmlAttribute,
    XmlEdge,
    XmlNode,
    write_gexf,
    write_graphml,
)

NODE_ATTRIBUTES = (
    XmlAttribute(LABEL, LABEL),
    XmlAttribute("document", "document"),
    XmlAttribute("names", "names"),
    XmlAttribute("type", "type"),
    XmlAttribute("mentions", "mentions", "long"),
    XmlAttribute("chunks", "chunks", "long"),
)
EDGE_ATTRIBUTES = (
    XmlAttribute(WEIGHT, WEIGHT, "double"),
    XmlAttribute("strength", "strength", "double"),
)


def write_network(
    entities: Sequence[Mapping[str, Any]], relations: Sequence[Mapping[str, Any]], file: Path
) -> Written:
    """Write entities as nodes and their relations as undirected edges.

    Args:
        entities: Rows of `cypher/entities/find_cast.cypher`.
        relations: Rows of `cypher/entities/find_ties.cypher`; those whose ends are not among the
            entities are left out.
        file: What to write: GEXF if its name ends in .gexf, else GraphML. An existing file is
            replaced only once the new one is complete.

    Raises:
        FabulaError: The file can't be written.
    """
    nodes = {row["id"]: _node(row) for row in entities}
    edges = [_edge(row) for row in relations if row["source"] in nodes and row["target"] in nodes]
    with replace_file(file) as stream:
        content = NODE_ATTRIBUTES, EDGE_ATTRIBUTES, nodes.values(), edges
        if file.suffix.lower() == ".gexf":
            return write_gexf(stream, *content)
        return write_graphml(stream, *content, is_directed=False)


def _node(row: Mapping[str, Any]) -> XmlNode:
    values = {
        LABEL: row["name"],
        "document": row["title"],
        "names": "; ".join(row["names"]),
        "type": row["type"],
        "mentions": row["mentions"],
        "chunks": row["chunks"],
    }
    return XmlNode(row["id"], values)


def _edge(row: Mapping[str, Any]) -> XmlEdge:
    values = {WEIGHT: float(row["chunks"]), "strength": row["strength"]}
    return XmlEdge(row["source"], row["target"], values)
