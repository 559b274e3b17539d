"""What visitors see of a public collection, which is what is in its books.

Left out are corrections, annotations and notes, which name the people who made them, the costs, and
folders of the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from fabula.export.files import Written, write_graph
from fabula.export.until import ReadSoFar
from fabula.graph.entries import Entry
from fabula.graphs.annotations import ANNOTATION
from fabula.library.collection import Collection
from fabula.models.usage import Usage
from fabula.operations.documents import PRIVATE_FACT
from fabula.store.export_reader import ExportedNode, ExportedRelationship, ExportReader
from fabula.text.names import source_name

DECISION = "Decision"
"""The label of corrections."""
PRIVATE_LABELS = frozenset({DECISION, ANNOTATION})
PRIVATE_PROPERTIES = frozenset({"made_from", "usage", "run", PRIVATE_FACT, *Usage().counts})
"""What a part cost, and what it was made from, which names models and settings."""


def export_public(collection: Collection, entry: Entry | None, file: Path, format: str) -> Written:
    """Write what visitors see of the graph of a document, or of a collection that has documents.

    Raises:
        StoreError: A document changes meanwhile.
    """
    if collection.place:
        read = collection.read_so_far(entry.id if entry else "", PublicReadSoFar)
        return write_graph(read, file, format)
    entries = [entry] if entry else list(collection.open_store().documents(collection.name))
    whole = () if entry else (collection.name,)
    return write_graph(PublicReader(collection.open_store(), entries, whole), file, format)


class PublicReader(ExportReader):
    """Reads the graph of some documents without what tells of people, costs and the server."""

    def nodes(self, *, embeddings: bool = False) -> Iterator[ExportedNode]:
        """Yield the nodes, as `ExportReader.nodes` does."""
        return _public_nodes(ExportReader.nodes(self, embeddings=embeddings))

    def relationships(self) -> Iterator[ExportedRelationship]:
        """Yield every relationship between those nodes."""
        return _public_relationships(ExportReader.relationships(self))

    def types(self) -> dict[str, set[str]]:
        """Return the Cypher types of the properties, as `ExportReader.types` does."""
        return _public_types(ExportReader.types(self))


class PublicReadSoFar(ReadSoFar):
    """What was read of a document, without what tells of people, costs and the server."""

    def nodes(self, *, embeddings: bool = False) -> Iterator[ExportedNode]:
        """Yield the nodes, as `ReadSoFar.nodes` does."""
        return _public_nodes(ReadSoFar.nodes(self, embeddings=embeddings))

    def relationships(self) -> Iterator[ExportedRelationship]:
        """Yield every relationship between those nodes."""
        return _public_relationships(ReadSoFar.relationships(self))


def _public_nodes(nodes: Iterable[ExportedNode]) -> Iterator[ExportedNode]:
    for node in nodes:
        if not PRIVATE_LABELS.intersection(node.labels):
            properties = {
                name: source_name(value) if name == "source" else value
                for name, value in node.properties.items()
                if name not in PRIVATE_PROPERTIES
            }
            yield replace(node, properties=properties)


def _public_relationships(
    relationships: Iterable[ExportedRelationship],
) -> Iterator[ExportedRelationship]:
    for relationship in relationships:
        labels = {*relationship.start_labels, *relationship.end_labels}
        if not PRIVATE_LABELS & labels:
            yield relationship


def _public_types(types: Mapping[str, set[str]]) -> dict[str, set[str]]:
    return {name: found for name, found in types.items() if name not in PRIVATE_PROPERTIES}
