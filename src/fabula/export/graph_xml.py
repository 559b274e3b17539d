"""Write a graph as XML: GraphML, for any graph, and GEXF, for networks of entities."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 can't contain, not even escaped."""
LABEL, WEIGHT = "label", "weight"
"""Attributes that GEXF has of its own."""


@dataclass(frozen=True, slots=True)
class XmlAttribute:
    """An attribute of nodes or edges.

    `id` is a word that is unique in the file; `type` is string, long, double or boolean.
    """

    id: str
    name: str
    type: str = "string"


@dataclass(frozen=True, slots=True)
class XmlNode:
    """A node with its values, by the ids of the attributes."""

    id: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class XmlEdge:
    """An edge between two nodes with its values, by the ids of the attributes."""

    source: str
    target: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """How many nodes and relationships a file has."""

    nodes: int
    relationships: int


def write_graphml(
    stream: IO[str],
    node_attributes: Sequence[XmlAttribute],
    edge_attributes: Sequence[XmlAttribute],
    nodes: Iterable[XmlNode],
    edges: Iterable[XmlEdge],
    *,
    is_directed: bool,
) -> Written:
    """Write GraphML 1.0 with typed keys, as Gephi, yEd, Cytoscape and NetworkX read it.

    Nodes and edges are written as they come, so that a graph need not fit into memory.
    """
    stream.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    )
    for kind, attributes in (("node", node_attributes), ("edge", edge_attributes)):
        for attribute in attributes:
            name = f'attr.name={quote(attribute.name)} attr.type="{attribute.type}"'
            stream.write(f'<key id="{attribute.id}" for="{kind}" {name}/>\n')
    edge_default = "directed" if is_directed else "undirected"
    stream.write(f'<graph id="fabula" edgedefault="{edge_default}">\n')
    node_count = edge_count = 0
    for node in nodes:
        stream.write(f"<node id={quote(node.id)}>{_graphml_data(node.values)}</node>\n")
        node_count += 1
    for edge in edges:
        ends = f"source={quote(edge.source)} target={quote(edge.target)}"
        stream.write(f"<edge {ends}>{_graphml_data(edge.values)}</edge>\n")
        edge_count += 1
    stream.write("</graph>\n</graphml>\n")
    return Written(node_count, edge_count)


def write_gexf(
    stream: IO[str],
    node_attributes: Sequence[XmlAttribute],
    edge_attributes: Sequence[XmlAttribute],
    nodes: Iterable[XmlNode],
    edges: Iterable[XmlEdge],
) -> Written:
    """Write an undirected network as GEXF 1.2, as Gephi and NetworkX read it.

    A node's attribute `label` and an edge's attribute `weight` are those of the format itself.
    """
    stream.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">\n'
        "<meta><creator>Fabula</creator></meta>\n"
        '<graph defaultedgetype="undirected" mode="static">\n'
    )
    for kind, attributes in (("node", node_attributes), ("edge", edge_attributes)):
        stream.write(f'<attributes class="{kind}" mode="static">\n')
        for attribute in attributes:
            if attribute.name not in (LABEL, WEIGHT):
                title = f'title={quote(attribute.name)} type="{attribute.type}"'
                stream.write(f'<attribute id="{attribute.id}" {title}/>\n')
        stream.write("</attributes>\n")
    node_count = edge_count = 0
    stream.write("<nodes>\n")
    for node in nodes:
        head, values = _split_gexf_values(node.values, node_attributes)
        stream.write(f"<node id={quote(node.id)}{head}>{values}</node>\n")
        node_count += 1
    stream.write("</nodes>\n<edges>\n")
    for edge in edges:
        head, values = _split_gexf_values(edge.values, edge_attributes)
        ends = f'id="{edge_count}" source={quote(edge.source)} target={quote(edge.target)}'
        stream.write(f"<edge {ends}{head}>{values}</edge>\n")
        edge_count += 1
    stream.write("</edges>\n</graph>\n</gexf>\n")
    return Written(node_count, edge_count)


def quote(value: str) -> str:
    """Return a text as the quoted value of an XML attribute."""
    return quoteattr(FORBIDDEN.sub("", value))


def _graphml_data(values: Mapping[str, Any]) -> str:
    return "".join(
        f'<data key="{key}">{_element_text(value)}</data>' for key, value in values.items()
    )


def _split_gexf_values(
    values: Mapping[str, Any], attributes: Sequence[XmlAttribute]
) -> tuple[str, str]:
    """Return the XML attributes that GEXF has for label and weight, and all other values."""
    names = {attribute.id: attribute.name for attribute in attributes}
    head, inside = "", ""
    for id, value in values.items():
        if names[id] in (LABEL, WEIGHT):
            head += f" {names[id]}={quote(_to_text(value))}"
        else:
            inside += f'<attvalue for="{id}" value={quote(_to_text(value))}/>'
    return head, f"<attvalues>{inside}</attvalues>" if inside else ""


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _element_text(value: Any) -> str:
    # A reader of XML turns a bare carriage return into a line feed.
    return escape(FORBIDDEN.sub("", _to_text(value)), {"\r": "&#13;"})
