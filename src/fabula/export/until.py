"""Export a document as a reader sees it who has not read all of its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabula.graph import Node, Part
from fabula.graph.entries import Entry
from fabula.graph.structure import TextStructure
from fabula.store.export_reader import ExportedNode, ExportedRelationship

DESCRIBED = ("collection", "title", "author", "language", "source", "published", "edition")
"""What a document's node says that does not depend on how much of it was read."""
TYPES = {bool: "BOOLEAN", int: "INTEGER", float: "FLOAT", str: "STRING"}


class ReadSoFar:
    """What was read of a document, to be written as `ExportReader` is.

    Embeddings and the nodes of parts, with what these cost and count, are left out.

    Args:
        entry: The document.
        structure: Its structure up to the reader's place.
        parts: Its parts, restricted to what was read.
    """

    def __init__(self, entry: Entry, structure: TextStructure, parts: Mapping[str, Part]) -> None:
        self._entry = entry
        self._structure = structure
        self._parts = parts

    def nodes(self, *, embeddings: bool = False) -> Iterator[ExportedNode]:
        """Yield the document and every node that a reader may see."""
        described: dict[str, Any] = {name: getattr(self._entry, name) for name in DESCRIBED}
        structure = {name: value for name, value in self._structure.properties().items() if value}
        properties = {"id": self._entry.id, **described, **structure}
        yield ExportedNode(self._entry.id, ("Document",), properties)
        for part in self._parts.values():
            for node in part.nodes:
                yield ExportedNode(node.id, self._labels(part, node), self._properties(part, node))

    def relationships(self) -> Iterator[ExportedRelationship]:
        """Yield every relationship between those nodes."""
        labels: dict[str, tuple[str, ...]] = {self._entry.id: ("Document",)}
        for part in self._parts.values():
            labels |= {node.id: self._labels(part, node) for node in part.nodes}
        for part in self._parts.values():
            for edge in part.edges:
                if edge.start in labels and edge.end in labels:
                    yield ExportedRelationship(
                        label=edge.type,
                        start=edge.start,
                        start_labels=labels[edge.start],
                        end=edge.end,
                        end_labels=labels[edge.end],
                        properties=dict(edge.properties),
                    )

    def types(self) -> dict[str, set[str]]:
        """Return the Cypher types of each property of the nodes, ids left out."""
        types: dict[str, set[str]] = {}
        for node in self.nodes():
            for name, value in node.properties.items():
                if name != "id":
                    types.setdefault(name, set()).add(TYPES.get(type(value), "LIST"))
        return types

    def _labels(self, part: Part, node: Node) -> tuple[str, ...]:
        return ("Element" if node.label in part.elements else "Passage", node.label)

    def _properties(self, part: Part, node: Node) -> dict[str, Any]:
        own = {**part.owner._asdict(), "kind": node.label.lower(), "sources": list(node.sources)}
        return dict(sorted({"id": node.id, **node.properties, **own}.items()))
